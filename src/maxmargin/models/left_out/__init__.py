"""What the optimum says of every row when it is left out, without a fit for each."""
