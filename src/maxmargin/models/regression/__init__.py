"""Linear classifiers by regression: logistic, least squares, Fisher."""
