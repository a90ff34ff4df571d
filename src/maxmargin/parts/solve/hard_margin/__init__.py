"""The hard margin over parts."""
