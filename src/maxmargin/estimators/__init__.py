"""Thin scikit-learn shells: parameters become a Problem, a Solution fitted attributes."""
