"""Estimators as scikit-learn knows them: parameters become a problem, a solution attributes."""
