"""Least squares over parts: sums of products, then a look at the data.

A Gram matrix, d × d in float64, is added up over the parts about their common centres and
factored as it would be in memory.  What the factor leaves is corrected by refinement, each step
of which is a pass, and the last pass is the certificate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, qr

from ....core.certify.normal_equations import (
    Gradient,
    NormalEquations,
    certify_least_squares,
    gradient,
    offset_of,
)
from ....core.problem.targets import OneOfK
from ....core.rows.design import CENTRED_ROUNDINGS, GRAM_ROWS, LENGTHS, PASS_VALUES, Design
from ....core.rows.double_double import gamma
from ....core.solve.closed_form.least_squares import MAX_SPARSE_GRAM_SIZE, column_factors, system_of
from ....core.solve.closed_form.refine import best_of, refined
from ...parts import Block, Parts, need_weight

# Columns up to which a d × d matrix more may travel, for what a Gram matrix is too rough for.
MAX_TRIANGLE_COLUMNS = 2000


def class_sums(block: Block, state, k: int):
    """Σ s and Σ s x of every class, and the number of rows."""
    weight = np.ones(len(block.y)) if block.weight is None else block.weight
    design = Design(block.X, weight, codes=block.y, groups=k)
    return state, (design.mass, design.mass[:, None] * design.centres, len(block.y))


def _part(block: Block, centres, factor) -> Design:
    """A part's rows about the centres of all; ``factor`` multiplies the weights of each class."""
    weight = block.weight
    if factor is not None:
        own = factor[block.y]
        weight = own if weight is None else weight * own
    codes = block.y if len(centres) > 1 else None
    return Design(block.X, weight, codes=codes, groups=len(centres), centres=centres)


def _gram(block: Block, state, centres, factor):
    """AᵀA; of sparse rows about one centre only, which keeps them sparse."""
    G = np.tril(_part(block, centres, factor).column_gram(np.float64))
    return state, G


def _triangle(block: Block, state, centres, factor):
    """R of QR of A: as many rows as columns, with the same Gram matrix and none of its rounding."""
    design = _part(block, centres, factor)
    d = design.shape[1]
    slices = design.parts(PASS_VALUES, max(GRAM_ROWS, d))
    return state, below_each_other(design.rows(some) for some in slices)


def below_each_other(blocks: Iterable[np.ndarray]) -> np.ndarray:
    """R of all blocks together."""
    R = None
    for block in blocks:
        both = block if R is None else np.vstack([R, block])
        R = qr(both, mode="r", check_finite=False)[0][: block.shape[1]]
    assert R is not None
    return R


def _normal(block: Block, state, W, centres, factor):
    return state, _part(block, centres, factor).normal(W)


def _gradient(block: Block, state, W, offset, centres, k: int):
    return state, gradient(_part(block, centres, None), OneOfK(block.y, k), W, offset, 0.0)


class PartsDesign:
    """What ``Design`` offers to solvers of normal equations, added up over parts.

    ``groups``: rows are centred at the mean of their class, else all at one mean (at the origin
    without ``centred``).
    """

    def __init__(self, parts: Parts, sums, centred: bool = True, groups: bool = False):
        mass, means, n = sums
        d = means.shape[1]
        if d > MAX_SPARSE_GRAM_SIZE:
            raise ValueError(
                f"There are {d} features; a matrix of {d} × {d} numbers is too large to be added "
                f"up over parts (the most are {MAX_SPARSE_GRAM_SIZE}). Use LogisticRegression or "
                "LinearSVM, or reduce the features first."
            )
        self.all, self.root = parts, None
        self.counted = mass
        self.mass = mass if groups else np.array([mass.sum()])
        per = np.maximum(mass, np.finfo(float).tiny)[:, None]
        mean = means.sum(axis=0, keepdims=True) / mass.sum()
        self.centres = means / per if groups else (mean if centred else np.zeros((1, d)))
        self.middle = mean[0]
        self.factor: np.ndarray | None = None
        self.scale: np.ndarray | None = None
        # Passes are dear: the Gram matrix is made once, in float64, as of sparse data in memory.
        self.X = sparse.csr_array((0, d))
        self.shape = (max(n, d + 1), d)
        self.rows_in_all = n
        self.G: np.ndarray | None = None

    @property
    def mean(self) -> np.ndarray:
        return self.centres[0]

    def weigh(self, factor: np.ndarray) -> None:
        """Multiply the weights of each class by a number of its own."""
        self.factor, self.mass = factor, self.counted * factor
        self.G = None

    def rescale(self, scale: np.ndarray) -> None:
        """Count every column so many times, after it is centred."""
        self.scale, self.G = scale, None

    def _known(self) -> np.ndarray:
        if self.G is None:
            whole = len(self.centres) == 1 or not self.all.sparse
            about = self.centres if whole else self.middle[None, :]
            self.G = self.all.total(_gram, about, self.factor)
            if not whole:  # what lies between the centres is not within the classes
                apart = np.sqrt(self.mass)[:, None] * (self.centres - self.middle)
                self.G = self.G - np.tril(apart.T @ apart)
            if self.scale is not None:
                self.G = self.G * self.scale * self.scale[:, None]
        return self.G

    def column_gram(self, dtype=np.float64) -> np.ndarray:
        return np.array(self._known(), dtype=dtype, order="F")

    def column_norms(self) -> np.ndarray:
        return np.sqrt(np.maximum(self._known().diagonal(), 0.0))

    # --- what rounding does, as in ``Design`` -------------------------------------------

    far, rest = False, None

    @property
    def terms(self) -> int:
        """The most roundings that a sum over all rows may go through."""
        return self.rows_in_all

    def reach(self) -> np.ndarray:
        """Per column, the length of the values that enter products with A, centred or not."""
        moved = np.sqrt(self.mass.sum()) * np.abs(self.centres).max(axis=0)
        return self.column_norms() + 2.0 * moved * (1.0 if self.scale is None else self.scale)

    def centre_error(self) -> np.ndarray:
        """How far the centres may be from the true means."""
        # A class that shrinkage has left without weight is taken to be as wide as the others.
        least = float(self.mass[self.mass > 0].min(initial=np.inf))
        length = self.reach() / np.sqrt(least)
        return gamma(self.terms + CENTRED_ROUNDINGS) * length

    def still(self) -> np.ndarray:
        """No column is known to be exactly constant."""
        return np.empty(0, dtype=int)

    def sure(self) -> bool:
        """Whether the squares of all columns are numbers other than zero, or all values are."""
        norms = self.column_norms()
        small = norms < LENGTHS[0]
        known = np.abs(self.centres).max(axis=0)[small] > LENGTHS[0]
        return bool(np.isfinite(norms).all() and norms.max(initial=0.0) <= LENGTHS[1]) and (
            not small.any() or bool(known.all())
        )

    def normal(self, W: np.ndarray) -> np.ndarray:
        """AᵀAW from the data."""
        if self.scale is None:
            return self.all.total(_normal, W, self.centres, self.factor)
        D = self.scale[:, None]
        return D * self.all.total(_normal, D * W, self.centres, self.factor)

    def parts(self, values: int, fewest: int = 16, stored: bool = False) -> Iterator[slice]:
        yield slice(0, self.shape[1])

    def rows(self, part: slice) -> np.ndarray:
        """d rows with the same Gram matrix as all rows, by QR of the parts where d is moderate."""
        if self.shape[1] <= MAX_TRIANGLE_COLUMNS:
            R = below_each_other(self.all.ask(_triangle, self.centres, self.factor))
            return R if self.scale is None else R * self.scale
        values, V = eigh(self._known(), lower=True, check_finite=False)
        return np.sqrt(np.maximum(values, 0.0))[:, None] * V.T


class ClosedForm(NamedTuple):
    """W and b of least squares with their certificate."""

    coef: np.ndarray
    intercept: np.ndarray
    certificate: NormalEquations


class Targets:
    """One-of-k targets, or −1 and +1 for two classes, as ``LeastSquaresClassifier`` has them."""

    def __init__(self, parts: Parts, k: int, free: bool):
        mass, means, n = parts.total(class_sums, k)
        need_weight(mass, 1)
        self.parts, self.k = parts, k
        self.design = PartsDesign(parts, (mass, means, n), centred=free)
        shares = mass / mass.sum()
        each = np.array([[-1.0], [1.0]]) if k == 2 else np.eye(k)
        self.offset = (shares[1:] - shares[:1] if k == 2 else shares) if free else None
        about = 0.0 if self.offset is None else self.offset
        self.length = float(np.sqrt(mass @ ((each - about) ** 2).sum(axis=1))) or 1.0
        self.first: Gradient = self.gradient(None)

    def gradient(self, W, alpha: float = 0.0) -> Gradient:
        """Minus the gradient at W, one pass."""
        seen = self.parts.total(_gradient, W, self.offset, self.design.centres, self.k)
        return seen if W is None else seen._replace(W=seen.W - alpha * W)

    def certify(self, W, alpha: float, factor, steps: int, seen: Gradient) -> NormalEquations:
        design: Any = self.design
        system = system_of(design, factor, steps, 0)
        design.shape = (design.rows_in_all, design.shape[1])
        off: np.ndarray | float = 0.0
        if self.offset is not None:  # b is rounded after the last look at the data
            off = offset_of(design, W, self.offset - design.mean @ W)[1]
        given = design, None, W, self.offset, alpha, system, self.length, seen
        return certify_least_squares(*given, off)

    def model(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """coef and intercept."""
        bias = np.zeros(W.shape[1])
        if self.offset is not None:
            bias = self.offset - self.design.mean @ W
        return np.ascontiguousarray(W.T), bias


def solve_least_squares(parts: Parts, k: int, alpha: float, free: bool) -> ClosedForm:
    """The minimiser of ½ Σ s ‖W x + b − t‖² + ½ α‖W‖²."""
    return solve_targets(Targets(parts, k, free), alpha)


def solve_targets(asked: Targets, alpha: float, factors=None) -> ClosedForm:
    """The same; ``factors`` of the system may be given by a caller who has one."""
    design: Any = asked.design

    def look(W):
        seen = asked.gradient(W, alpha)
        return seen.W, seen.relative(design, asked.length), seen

    factor, best = best_of(
        factors or column_factors(design, alpha),
        lambda factor: refined(factor, asked.first.W, look),
    )
    W = best.X
    return ClosedForm(*asked.model(W), asked.certify(W, alpha, factor, best.steps, best.seen))


def check_least_squares(parts: Parts, k: int, alpha: float, free: bool, W, b) -> NormalEquations:
    """The certificate of weights W, (outputs, d), and biases b, whoever found them."""
    asked = Targets(parts, k, free)
    if free:
        asked.offset = b + asked.design.mean @ W.T
    factor = next(iter(column_factors(asked.design, alpha)))  # type: ignore[arg-type]
    return asked.certify(W.T, alpha, factor, 0, asked.gradient(W.T, alpha))
