"""The last resort for small problems: solvers in decimal numbers of 100 digits."""
