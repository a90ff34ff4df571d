"""LinearSVM with k classes, two at a time: each against the rest, or every pair.

The two-class problems share nothing, so their sum is one problem; its primal and dual are
the sums of theirs, and so is the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.conclude import sum_of
from ...core.problem.problem import Problem
from ...core.rows.rows import take
from ...core.solve.contract import Ending, Monitor, Point
from ...core.solve.precise.resort import NO_WEIGHTS, WEIGHT_LIMIT, none_within_gap
from ...core.solve.two_class.form import SOLVERS, solve
from ..fitting import note
from ..validation import one_of
from . import two_class as svm_two

P = TypeVar("P", bound=Problem)
REDUCTION_NAMES = {"rest": "one against the rest", "pairs": "one against one"}
_EVERY_ROW = slice(None)
# Multipliers of all machines that are kept in one array.
MAX_JOINED_MULTIPLIERS = 5e8


def questions(model, codes, whole: P, part: Callable) -> Iterator[tuple[P, slice | np.ndarray]]:
    """The two-class problems, each with the rows it is about.  The first class is positive.

    ``whole`` has all rows, and ``part(whole.rows, some)`` are some of them.
    """
    k = len(model.classes_)
    if model.multiclass == "rest":
        for c in range(k):
            yield replace(whole, y=np.where(codes == c, 1.0, -1.0)), _EVERY_ROW
        return
    for a, c in combinations(range(k), 2):
        some = np.flatnonzero((codes == a) | (codes == c))
        y = np.where(codes[some] == a, 1.0, -1.0)
        yield replace(whole, rows=part(whole.rows, some), y=y, c=whole.c[some]), some


def count_machines(model, n: int) -> int:
    """How many two-class machines there are; refuses more multipliers than fit memory."""
    k = len(model.classes_)
    count = k if model.multiclass == "rest" else k * (k - 1) // 2
    if n * count > MAX_JOINED_MULTIPLIERS:
        raise ValueError(
            f"multiclass={model.multiclass!r} keeps {n} × {count} multipliers here, "
            f"{8e-9 * n * count:.0f} GB. Use OneVsOne or OneVsRest around "
            f"{type(model).__name__}, which keep them by machine, or multiclass='max'."
        )
    return count


class Machines:
    """The answers of all machines, put together one by one."""

    def __init__(self, n: int, count: int):
        self.intercept, self.alpha = np.empty(count), np.zeros((n, count))
        self.slack, self.worst, self.norm = np.zeros(n), np.full(n, -np.inf), np.zeros(count)
        self.parts: list[Certificate] = []
        self.limited: list[tuple[Problem, Point]] = []  # by the rounding of their weights
        self.ending = Ending.REACHED

    def add(self, problem: Problem, some, solution, norm: float) -> None:
        """One more machine: its point, scores w·x without the bias and proof, and ‖w‖²."""
        q, b = len(self.parts), solution.point.b
        self.intercept[q], self.alpha[some, q], self.norm[q] = b, solution.point.alpha, norm
        z = np.where(problem.c > 0, 1.0 - problem.y * (solution.scores + b), -np.inf)
        self.slack[some] += np.maximum(0.0, z)
        self.worst[some] = np.maximum(self.worst[some], z)
        self.parts.append(solution.certificate)
        if WEIGHT_LIMIT in solution.certificate.method:
            self.limited.append((problem, solution.point))
        self._end(solution.ending)

    def _end(self, ending: Ending) -> None:
        """Note how a machine ended; the first that fell short speaks for all."""
        if ending is Ending.INTERRUPTED:
            raise KeyboardInterrupt  # the other classifiers do not exist yet
        if self.ending is Ending.REACHED:
            self.ending = ending

    def proof(self, model, tol: float) -> Certificate:
        """Of all together; where it falls short, with the reason if one machine alone is one."""
        found = together(model, self.parts)
        if found.holds(tol) or not found.primal < np.inf:
            return found
        gap = tol * found.primal
        if any(none_within_gap(problem, point, gap) for problem, point in self.limited):
            return replace(found, method=f"{found.method}; {NO_WEIGHTS.format(tol)}")
        return found

    def keep(self, model) -> None:
        model.intercept_, model.alpha_, model.slack_ = self.intercept, self.alpha, self.slack
        model.support_ = np.flatnonzero(self.alpha.any(axis=1))
        model.support_kind_ = self.kinds(model.support_)
        most = float(self.norm.max())
        model.margin_ = 1.0 / float(np.sqrt(most)) if most > 0 else np.inf

    def kinds(self, some: np.ndarray) -> np.ndarray:
        """Of these rows, by their worst slack in any machine."""
        return svm_two.kinds_of(self.worst, False)[some]


def fit(model, X, codes, weight, monitor: Monitor) -> Ending:
    one_of("solver", model.solver, ["auto", *SOLVERS])
    n, d = X.shape
    count = count_machines(model, n)
    warm = model.warm_start and getattr(model, "coef_", np.empty(0)).shape == (count, d)
    warm = warm and getattr(model, "alpha_", np.empty(0)).shape == (n, count)
    coef, machines = np.empty((count, d)), Machines(n, count)
    whole = svm_two.pose(model, X, codes, weight)
    for q, (problem, some) in enumerate(questions(model, codes, whole, take)):
        start = None
        if warm:
            start = Point(model.coef_[q], float(model.intercept_[q]), model.alpha_[some, q])
        solution = solve(problem, monitor, model.solver, start)
        w = coef[q] = solution.point.w
        machines.add(problem, some, solution, float(w @ w))
    model.coef_ = coef
    machines.keep(model)
    proof = machines.proof(model, monitor.tol)
    note(model, solution._replace(n_iter=max(1, monitor.n_iter)), proof)
    return machines.ending


norm = svm_two.norm


def dual_coef(model) -> np.ndarray:
    """yα of the support vectors in every machine, (machines, n_support)."""
    k, codes = len(model.classes_), model._codes[model.support_]
    firsts = range(k) if model.multiclass == "rest" else [a for a, _ in combinations(range(k), 2)]
    signs = np.where(codes[None, :] == np.array(firsts)[:, None], 1.0, -1.0)
    return signs * model.alpha_[model.support_].T


def together(model, parts: list[Certificate]) -> Certificate:
    """The certificate of the sum of the two-class problems."""
    rule = REDUCTION_NAMES[model.multiclass]
    return sum_of(parts, f"{len(parts)} two-class problems ({rule}), the first: {parts[0].problem}")


def recertify(model, X, codes, weight) -> Certificate:
    """The certificate on any data, with multipliers stored, rebuilt or sought."""
    streamed = not hasattr(model, "alpha_")
    same = not streamed and len(model.alpha_) == len(codes)
    parts = []
    whole = svm_two.pose(model, X, codes, weight)
    for q, (problem, some) in enumerate(questions(model, codes, whole, take)):
        w, b = model.coef_[q], float(model.intercept_[q])
        alpha = model.alpha_[some, q] if same else None
        if streamed:
            alpha = svm_two.known_multipliers(model, problem, w, b, q, some)
        parts.append(svm_two.proved(model, problem, w, b, alpha))
    return together(model, parts)
