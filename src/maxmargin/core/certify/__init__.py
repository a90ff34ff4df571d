"""Proofs, recomputed from the data: duality gap, KKT residuals, (non-)separability."""
