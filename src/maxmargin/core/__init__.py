"""The mathematics: rows, problems, solvers, certificates.  Nothing here knows of estimators."""
