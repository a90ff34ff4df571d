"""Least squares, ridge and Fisher's discriminant: systems of linear equations."""
