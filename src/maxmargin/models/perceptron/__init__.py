"""Perceptrons, their runs, and the bound on their updates."""
