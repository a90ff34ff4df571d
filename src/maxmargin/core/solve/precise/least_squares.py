"""Least squares in fractions, for data so small that it costs nothing: no rounding at any scale.

    f(W, b) = ½ Σ s_i ‖t_i − W x_i − b‖² + ½ α‖W‖²

With m the mean, A = Σ s (x − m)(x − m)ᵀ + αI and R = Σ s (x − m)(t − t̄)ᵀ, W* is the solution of
AW = R, of least norm where there are several, and

    f(W, b) − f(W*, b*) = ½ tr (W − W*)ᵀ A (W − W*) + ½ Σs ‖W m + b − t̄‖²

exactly, whatever W and b are.  W* is rounded to float64 together with its bias, in the metric of f
(``rows/lattice.py``).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...certify.normal_equations import NormalEquations
from ...certify.rational import above, decimal
from ...problem.demands import whole
from ...problem.targets import OneOfK, Values
from ...rows.decimals import many_digits
from ...rows.lattice import nearest_floats

Fractions = Any  # arrays of Fractions

# Values, and columns, up to which it is done.
MAX_VALUES, MAX_COLUMNS = 2000, 20
# The relative residual that a fit is to have.
TOL = 1e-6
METHOD = "recomputed from the data in rational arithmetic"
# Of the residual asked for, what rounding aims at.
ROUNDED_SHARE = Decimal("0.01")
# Digits of the metric: columns may differ by a hundred of them.
METRIC_DIGITS = 400


class Squares(NamedTuple):
    """Data, targets, and what is to be made of them."""

    X: Any
    targets: OneOfK | Values
    weight: np.ndarray | None
    alpha: float
    free: bool  # whether there is a bias


class ExactMoments(NamedTuple):
    """What f is made of, and its minimum."""

    mass: Fraction  # Σs, or zero where there is no bias
    mean: Fractions  # (d,), and of the targets (k,)
    target: Fractions
    A: Fractions  # (d, d)
    lengths: Fractions  # (d,): ‖a_j‖² of every column
    W: Fractions  # (d, k)
    least: Fraction


def precise_least_squares(asked: Squares, near: NormalEquations):
    """W (d, k), b (k,) and their proof, where ``near`` proves too little; None: it proves more."""
    if near.holds(TOL) or not _small(asked):
        return None
    moments = _moments(asked)
    W, b = _rounded(moments, asked.free, Decimal(near.null_objective))
    proof = _proof(moments, W, b, near)
    return (W, b, proof) if proof.relative_residual < near.relative_residual else None


def precise_equations(asked: Squares, W, b, near: NormalEquations) -> NormalEquations:
    """The proof of float64 weights in fractions, where ``near`` proves too little."""
    if near.holds(TOL) or not _small(asked):
        return near
    proof = _proof(_moments(asked), W, b, near)
    return proof if proof.relative_residual < near.relative_residual else near


def _small(asked: Squares) -> bool:
    n, d = asked.X.shape
    return n * d <= MAX_VALUES and d <= MAX_COLUMNS


def fractions(values) -> Fractions:
    """Exactly these floats."""
    found = whole(values)
    return found.numbers * Fraction(2) ** found.exponent


def _moments(asked: Squares) -> ExactMoments:
    X = asked.X.toarray() if sparse.issparse(asked.X) else asked.X
    x, t = whole(X), whole(asked.targets.block(slice(0, len(X))))
    s = whole(np.ones(len(X)) if asked.weight is None else asked.weight)
    unit, scale = Fraction(2) ** x.exponent, Fraction(2) ** s.exponent
    sx, st = x.numbers * s.numbers[:, None], t.numbers * s.numbers[:, None]
    aim = Fraction(2) ** t.exponent
    A = sx.T @ x.numbers * (unit * unit * scale)
    R = sx.T @ t.numbers * (unit * scale * aim)
    square = Fraction(int((st * t.numbers).sum())) * aim * aim * scale
    mass = s.numbers.sum() * scale if asked.free else Fraction(0)
    mean, target = 0 * A[:, 0], 0 * R[0]
    if asked.free:
        mean, target = sx.sum(axis=0) * (unit * scale) / mass, st.sum(axis=0) * (aim * scale) / mass
        A = A - mass * np.multiply.outer(mean, mean)
        R = R - mass * np.multiply.outer(mean, target)
    lengths = A.diagonal().copy()
    every = np.arange(len(A))
    A[every, every] += Fraction(asked.alpha)
    W = _solution(A, R)
    least = (square - mass * (target @ target) - (W * R).sum()) / 2
    return ExactMoments(mass, mean, target, A, lengths, W, least)


def _solution(A: Fractions, R: Fractions) -> Fractions:
    """AW = R, A positive semidefinite; the W of least norm where there are several."""
    M, d = np.concatenate([A, R], axis=1), len(A)
    pivots: list[int] = []
    for j in range(d):
        if M[j, j] == 0:  # so is all of its row, once those before are eliminated
            continue
        M[j] = M[j] / M[j, j]
        for i in range(d):
            if i != j and M[i, j] != 0:
                M[i] = M[i] - M[i, j] * M[j]
        pivots.append(j)
    free = [j for j in range(d) if j not in pivots]
    W = M[:, d:] * np.array([int(j in pivots) for j in range(d)], dtype=object)[:, None]
    if not free:
        return W
    null = -M[:, free]
    null[free] = np.eye(len(free), dtype=int).astype(object) * Fraction(1)
    return W - null @ _solution(null.T @ null, null.T @ W)


def _rounded(moments: ExactMoments, free: bool, unit: Decimal) -> tuple[np.ndarray, np.ndarray]:
    """Float64 near W* and its bias, which belong together where data are far from the origin."""
    d = len(moments.W)
    bias = moments.target - moments.mean @ moments.W
    answer = np.concatenate([moments.W, bias[None]]) if free else moments.W
    with many_digits(METRIC_DIGITS):
        H = _decimals(_metric(moments, free)) / (unit * (ROUNDED_SHARE * Decimal(TOL)) ** 2)
        columns = _decimals(answer).T
        found = np.array([nearest_floats(each, H, abs(each) + (each == 0)) for each in columns]).T
    return found[:d], found[d] if free else np.zeros(len(bias))


def _metric(moments: ExactMoments, free: bool) -> Fractions:
    """The Hessian of f in W and b."""
    if not free:
        return moments.A
    beside = moments.mass * moments.mean
    H = moments.A + np.multiply.outer(beside, moments.mean)
    return np.block([[H, beside[:, None]], [beside[None], np.array([[moments.mass]])]])


def _decimals(values: Fractions) -> Any:
    return np.frompyfunc(lambda value: decimal(Fraction(value)), 1, 1)(values)


def _proof(moments: ExactMoments, W, b, near: NormalEquations) -> NormalEquations:
    """Gradient and excess at float64 weights; entries are relative to ‖feature‖‖targets‖."""
    off = fractions(W) - moments.W
    missed = fractions(b) + moments.mean @ fractions(W) - moments.target
    if moments.mass == 0:  # there is no bias
        missed = 0 * missed
    slope = moments.A @ off
    excess = ((off * slope).sum() + moments.mass * (missed @ missed)) / 2
    squares = [moments.mass * max(missed * missed)]  # of the entries, in units of their features
    squares += [
        max(g * g) / length for g, length in zip(slope, moments.lengths, strict=True) if length
    ]
    with many_digits():
        residual = decimal(max(squares)).sqrt() / Decimal(2.0 * near.null_objective).sqrt()
    return replace(
        near, objective=above(moments.least + excess), excess=above(excess), rounding=0.0,
        relative_residual=float(np.nextafter(float(residual), np.inf)), method=METHOD,
    )  # fmt: skip
