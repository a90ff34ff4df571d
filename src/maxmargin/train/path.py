"""Models along increasing C, by ``c_path`` where this version has it."""

from __future__ import annotations

import time

import numpy as np

import maxmargin

from .methods import METHODS
from .tuning import CS, fit_quietly


def follow(method: str, X, y) -> tuple[list[dict], str]:
    """One dictionary for every C, and why the path ends."""
    estimator = getattr(maxmargin, METHODS[method].estimator)()
    if "c_path" in maxmargin.__all__:
        path = maxmargin.c_path(estimator, X, y)
        return list(path.rows), path.ending
    model = estimator.set_params(warm_start=True)
    lines = []
    for C in CS:
        began = time.perf_counter()
        fit_quietly(model.set_params(C=float(C)), X, y)
        lines.append(_line(model, X, y, time.perf_counter() - began))
    return lines, f"The grid ends at C = {CS[-1]:g}."


def _line(model, X, y, seconds: float) -> dict:
    norm = float(np.linalg.norm(model.coef_))
    kinds = getattr(model, "support_kind_", None)
    return {
        "C": float(model.C),
        "training_error": float((model.predict(X) != y).mean()),
        "n_support": None if kinds is None else len(kinds),
        "norm": norm,
        "margin": float(getattr(model, "margin_", 1.0 / norm if norm > 0 else np.inf)),
        "objective": float(model.certificate_.primal),
        "gap": float(model.certificate_.relative_gap),
        "seconds": seconds,
        "iterations": int(model.n_iter_),
        "solver": model.solver_,
    }
