"""Least squares and Fisher's discriminant over parts: sums of products, then a look at the data.

A Gram matrix, d × d in float64, is added up over the parts about their common centres and
factored as it would be in memory.  What the factor leaves is corrected by refinement, each step
of which is a pass, and the last pass is the certificate.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from ..certify.fisher import FisherCriterion
from ..certify.normal_equations import Gradient, NormalEquations, certify_least_squares, gradient
from ..problem.targets import OneOfK
from ..represent.design import Design
from ..solve.discriminant import Directions, directions, recertify
from ..solve.least_squares import LARGEST_SPARSE, column_factors, system_of
from ..solve.refine import best_of, refined
from ..solve.within import Spread
from .parts import Block, Parts, total


def class_sums(block: Block, memory, k: int):
    """Σ s and Σ s x of every class, and the number of rows."""
    weight = np.ones(len(block.y)) if block.weight is None else block.weight
    design = Design(block.X, weight, codes=block.y, groups=k)
    return memory, (design.mass, design.mass[:, None] * design.centres, len(block.y))


def _part(block: Block, centres, factor) -> Design:
    """A part's rows about the centres of all; ``factor`` multiplies the weights of each class."""
    weight = block.weight
    if factor is not None:
        own = factor[block.y]
        weight = own if weight is None else weight * own
    codes = block.y if len(centres) > 1 else None
    return Design(block.X, weight, codes=codes, groups=len(centres), centres=centres)


def _gram(block: Block, memory, centres, factor):
    """AᵀA; of sparse rows about one centre only, which keeps them sparse."""
    G = np.tril(_part(block, centres, factor).column_gram(np.float64))
    return memory, G


def _normal(block: Block, memory, W, centres, factor):
    return memory, _part(block, centres, factor).normal(W)


def _gradient(block: Block, memory, W, offset, centres, k: int):
    return memory, gradient(_part(block, centres, None), OneOfK(block.y, k), W, offset, 0.0)


class PartsDesign:
    """What ``Design`` offers to solvers of normal equations, added up over parts.

    ``groups``: rows are centred at the mean of their class, else all at one mean (at the origin
    without ``centred``).
    """

    def __init__(self, parts: Parts, sums, centred: bool = True, groups: bool = False):
        mass, means, n = sums
        d = means.shape[1]
        if d > LARGEST_SPARSE:
            raise ValueError(
                f"There are {d} features; a matrix of {d} × {d} numbers is too large to be added "
                f"up over parts (the most are {LARGEST_SPARSE}). Use LogisticRegression or "
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

    def _known(self) -> np.ndarray:
        if self.G is None:
            whole = len(self.centres) == 1 or not getattr(self.all, "sparse", False)
            about = self.centres if whole else self.middle[None, :]
            self.G = total(self.all, _gram, about, self.factor)
            if not whole:  # what lies between the centres is not within the classes
                apart = np.sqrt(self.mass)[:, None] * (self.centres - self.middle)
                self.G = self.G - np.tril(apart.T @ apart)
        return self.G

    def column_gram(self, dtype=np.float64) -> np.ndarray:
        return np.array(self._known(), dtype=dtype, order="F")

    def column_norms(self) -> np.ndarray:
        return np.sqrt(np.maximum(self._known().diagonal(), 0.0))

    def normal(self, W: np.ndarray) -> np.ndarray:
        """AᵀAW from the data."""
        return total(self.all, _normal, W, self.centres, self.factor)

    def parts(self, values: int, fewest: int = 16, stored: bool = False) -> Iterator[slice]:
        yield slice(0, self.shape[1])

    def rows(self, part: slice) -> np.ndarray:
        """d rows with the same Gram matrix as all rows."""
        values, V = eigh(self._known(), lower=True, check_finite=False)
        return np.sqrt(np.maximum(values, 0.0))[:, None] * V.T


class Found:
    """W and b of least squares with their certificate."""

    def __init__(self, coef: np.ndarray, intercept: np.ndarray, certificate: NormalEquations):
        self.coef, self.intercept, self.certificate = coef, intercept, certificate


class LeastSquares:
    """The problem over parts: one-of-k targets, or −1 and +1 for two classes, as
    ``LeastSquaresClassifier`` has them.  ``offset``: the scores at the mean of the rows."""

    def __init__(self, parts: Parts, k: int, alpha: float, free: bool):
        sums = total(parts, class_sums, k)
        self.parts, self.k, self.alpha = parts, k, alpha
        self.design = PartsDesign(parts, sums, centred=free)
        shares = sums[0] / sums[0].sum()
        each = np.array([[-1.0], [1.0]]) if k == 2 else np.eye(k)
        self.offset = (shares[1:] - shares[:1] if k == 2 else shares) if free else None
        about = 0.0 if self.offset is None else self.offset
        self.length = float(np.sqrt(sums[0] @ ((each - about) ** 2).sum(axis=1))) or 1.0

    def look(self, W):
        """The gradient at W, one pass."""
        seen: Gradient = total(
            self.parts, _gradient, W, self.offset, self.design.centres, self.k
        )  # fmt: skip
        seen = seen if W is None else seen._replace(W=seen.W - self.alpha * W)
        return seen.W, seen.relative(self.design, self.length), seen  # type: ignore[arg-type]

    def certify(self, W, factor, steps: int, seen: Gradient) -> NormalEquations:
        design = self.design
        system = system_of(design, factor, steps, 0)  # type: ignore[arg-type]
        design.shape = (design.rows_in_all, design.shape[1])
        return certify_least_squares(
            design, None, W, self.offset, self.alpha, system, self.length, seen  # type: ignore[arg-type]
        )  # fmt: skip


def solve_least_squares(parts: Parts, k: int, alpha: float, free: bool) -> Found:
    """W and b by a factor of the Gram matrix, refined by passes."""
    problem = LeastSquares(parts, k, alpha, free)
    first, _, _ = problem.look(None)
    factor, best = best_of(
        column_factors(problem.design, alpha),  # type: ignore[arg-type]
        lambda factor: refined(factor, first, problem.look),
    )
    W, offset = best.X, problem.offset
    proof = problem.certify(W, factor, best.steps, best.seen)
    bias = np.zeros(W.shape[1]) if offset is None else offset - problem.design.mean @ W
    return Found(np.ascontiguousarray(W.T), bias, proof)


def check_least_squares(parts: Parts, k: int, alpha: float, free: bool, W, b) -> NormalEquations:
    """The certificate of weights W, (outputs, d), and biases b, whoever found them."""
    problem = LeastSquares(parts, k, alpha, free)
    if free:
        problem.offset = b + problem.design.mean @ W.T
    factor = next(iter(column_factors(problem.design, alpha)))  # type: ignore[arg-type]
    return problem.certify(W.T, factor, 0, problem.look(W.T)[2])


def solve_fisher(
    parts: Parts, k: int, priors: np.ndarray | None, plain: bool, shrinkage: float, most: int
) -> tuple[Directions, np.ndarray, np.ndarray]:
    """Directions with their proof, the class means, and the priors."""
    spread, means, share = fisher_spread(parts, k, priors, plain, shrinkage)
    return directions(spread, (means - share @ means).T, share, most), means, share


def check_fisher(parts: Parts, k: int, priors, plain: bool, shrinkage: float, V) -> FisherCriterion:
    """The certificate of directions V, whoever found them."""
    spread, means, share = fisher_spread(parts, k, priors, plain, shrinkage)
    return recertify(spread, (means - share @ means).T, share, V)


def fisher_spread(parts: Parts, k: int, priors, plain: bool, shrinkage: float):
    """The spread within the classes, their means and priors.

    ``plain``: means only, without the spread within the classes.
    """
    sums = total(parts, class_sums, k)
    design = PartsDesign(parts, sums, groups=True)
    share = sums[0] / sums[0].sum() if priors is None else priors
    design.weigh(share / sums[0])
    d = design.shape[1]
    variance = float((design.column_norms() ** 2).mean())
    kept: PartsDesign | None = design
    ridge = 0.0
    if plain or shrinkage == 1.0:
        kept, ridge = None, variance or 1.0
    elif shrinkage:
        design.weigh((1.0 - shrinkage) * share / sums[0])
        ridge = shrinkage * variance
    spread = Spread(kept, ridge, np.ones(d))  # type: ignore[arg-type]
    return spread, design.centres, share
