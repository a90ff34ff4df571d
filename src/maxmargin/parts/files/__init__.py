"""Data files: tables and matrices, and how their columns become features."""
