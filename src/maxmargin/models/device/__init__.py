"""Estimators on torch tensors, on any device; torch is imported when one is given."""
