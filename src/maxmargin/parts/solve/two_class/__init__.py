"""Two classes over parts."""
