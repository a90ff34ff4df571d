"""The lectures' formulas, each written once."""
