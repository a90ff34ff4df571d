"""Choosing C: warm-started paths, cross-validation, and the lecture's experiment."""
