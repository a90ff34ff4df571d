"""Rankers, and the preferences they learn from."""
