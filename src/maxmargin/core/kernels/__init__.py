"""Kernels: inner products in a basis that is never formed, their values and their features."""
