"""The optimum without one row, or a few, from the optimum with all of them."""
