"""Solvers that ask every part of the rows and add up the answers."""
