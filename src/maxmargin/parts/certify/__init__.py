"""Certificates over parts: tallies that every part makes, added up."""
