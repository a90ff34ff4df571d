"""Preferences: pairs of objects by grades, pairs of labels."""
