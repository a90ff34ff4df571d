"""Sums over parts, then small systems."""
