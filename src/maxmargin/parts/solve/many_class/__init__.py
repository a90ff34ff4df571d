"""All classes at once over parts."""
