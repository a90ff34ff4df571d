"""What ``compare`` makes of the methods: each an estimator that tunes itself, on any basis.

A linear method may follow any basis; a kernel is a basis of its own.  Features are scaled to
unit standard deviation first (sparse ones to unit largest value), for C and alpha weigh all
weights alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ..bases import PolarBasis, QuadraticBasis, RadialBasis
from ..registry import RIDGE_ALPHAS, Method, Shape

# Columns, and values in all, up to which a basis is worth trying.
MAX_POLAR_COLUMNS, MAX_QUADRATIC_COLUMNS, MAX_QUADRATIC_VALUES = 6, 40, 3e7
# Rows up to which kernel machines are exact; beyond, a Nyström approximation of this rank.
MAX_EXACT_KERNEL_ROWS, NYSTROEM_RANK = 20_000, 500


class CandidateBasis(NamedTuple):
    make: Callable[[], BaseEstimator | None]
    suits: Callable[[Shape], bool] = lambda shape: True


def make(method: Method, folds, shape: Shape, scoring=None) -> BaseEstimator:
    """The method's estimator, which chooses its own C or ridge inside ``folds``, C by the score."""
    given = method.fixed | method.compared
    if method.kernel:
        given["kernel"] = "rbf"
    if method.C == "alpha":
        given["alphas"] = RIDGE_ALPHAS
    if not method.tuned:
        return method.estimator_class()(**given)
    if method.kernel and shape.rows > MAX_EXACT_KERNEL_ROWS:
        return method.estimator_class()(rank=NYSTROEM_RANK, **given)
    return method.search_class()(cv=folds, scoring=scoring, **given)


CANDIDATE_BASES: dict[str, CandidateBasis] = {
    "as given": CandidateBasis(lambda: None),
    "polar": CandidateBasis(
        PolarBasis, lambda s: not s.sparse and 2 <= s.columns <= MAX_POLAR_COLUMNS
    ),
    "quadratic": CandidateBasis(
        QuadraticBasis,
        lambda s: (
            not s.sparse
            and s.columns <= MAX_QUADRATIC_COLUMNS
            and 0.5 * s.rows * s.columns**2 <= MAX_QUADRATIC_VALUES
        ),
    ),
    "radial": CandidateBasis(
        lambda: RadialBasis(random_state=0),
        lambda s: not s.sparse and 30 <= s.rows <= MAX_EXACT_KERNEL_ROWS,
    ),
}


def pipeline(estimator, basis, X):
    """Scaling, basis and scaling of what it makes, then the estimator."""
    if sparse.issparse(X):
        return make_pipeline(MaxAbsScaler(), estimator)
    if basis is None:
        return make_pipeline(StandardScaler(), estimator)
    return make_pipeline(StandardScaler(), clone(basis), StandardScaler(), estimator)


def chosen(what, known: dict, kind: str, shape: Shape) -> dict:
    """Name → entry: all that suit the data, the names listed, or the user's own estimators."""
    if isinstance(what, str) and what == "all":
        return {name: entry for name, entry in known.items() if entry.suits(shape)}
    if isinstance(what, str):
        what = [what]
    named = dict(what) if isinstance(what, dict) else {}
    for entry in [] if isinstance(what, dict) else what:
        name, own = entry if isinstance(entry, tuple) else (entry, None)
        named[str(name)] = own
    result = {}
    for name, own in named.items():
        if own is None and name not in known:
            names = ", ".join(repr(each) for each in known)
            raise ValueError(
                f"{kind} must be 'all' or name some of {names}, or be (name, estimator) pairs of "
                f"your own; got {name!r}."
            )
        result[name] = known[name] if own is None else own
    if not result:
        raise ValueError(f"{kind} names nothing to compare.")
    return result
