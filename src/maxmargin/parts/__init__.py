"""Rows that are never all here at once: files, streams larger than memory, clusters."""
