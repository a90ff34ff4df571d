"""Two classes: which solver, and why; and how its point is made feasible and proved.

tiny      small dense-sized data: one compiled call, exact to rounding
newton    up to a few thousand columns (or rows): Newton's method with working sets
descent   many columns, sparse or dense: dual coordinate descent with a free bias
interior  hinge on wide dense rows; what the others leave unproved, when a d × d system can be held
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np

from ...certify.bias import best_bias
from ...certify.conclude import first_that_proves, lengthened
from ...certify.repair import repair
from ...certify.two_class import certify
from ...problem.losses import boxed
from ...problem.problem import Problem
from ...rows.class_products import compressed
from ...rows.one_pass import by_rows, see
from ...rows.pairs import PairRows
from ...rows.rows import DenseRows, combine, scores, size_of
from ..contract import Form, Monitor, Point, Proved, Solution
from ..driver import conclude
from ..precise.limits import is_extreme
from ..precise.resort import precisely, solved
from ..threads import one_blas_thread
from . import tiny as tiny_solver
from .descent import descent
from .hard import TwoClassMargin, closest_margin
from .interior import interior
from .newton import newton
from .repeats import find_repeats
from .vertex import vertex

SOLVERS: dict[str, Callable] = {
    "tiny": tiny_solver.tiny,
    "newton": newton,
    "descent": descent,
    "interior": interior,
}

# Columns up to which d × d systems are cheaper than passes of coordinate descent.
NEWTON_COLUMNS = 2000
# Rows up to which the m × m form of the same system is, whatever the number of columns.
NEWTON_ROWS = 1000
# C‖x‖² up to which coordinate descent on pairs, or on rows in parts, beats Newton with few columns.
MAX_DESCENT_STIFFNESS = 3.0
# On sparse rows an epoch costs their stored values, epochs grow about as √(C‖x‖²), and a Newton
# system costs d³ (n³ where rows are fewer): descent is chosen up to this share of it.  Of 936 made
# problems (40 to 1,900 columns, C‖x‖² from 1 to 2·10⁵, to 1e-3 and 1e-6) that takes 1.2 times as
# long in all as the better of both; Newton wherever C‖x‖² is above 3 took 3.4 times.  For the
# squared hinge Newton's method needs a tenth of the systems: of 324 problems 1.4 times, and 7.6.
MAX_DESCENT_SHARE, MAX_SMOOTH_DESCENT_SHARE = 0.3, 0.02
# Where a class is rare an epoch reads few rows: multipliers of both classes add up to the same, so
# that no more rows of the other one are at their caps than the rare one has.  Rows awake beside
# those on their margin, as a multiple of the rare ones: of 28 made problems with 1 in 50 to 1 in 2
# the times of both solvers then cross at the same share.
AWAKE_PER_RARE_ROW = 4.0
# What a hard margin counts as: of 96 made problems with 0.3 d³ above 250 times the values,
# separable or not, descent took 0.01 to 0.9 of Newton's time; below 100 times, up to 5 times.
HARD_STIFFNESS = 250.0**2
# Dense rows of so many columns that are mostly zeros are read as sparse ones up to this C‖x‖²:
# images of 784 pixels at 9 take a fifth of the time to 1e-3, and a sixth to 1e-6.
MIN_WIDE_COLUMNS, MAX_WIDE_STIFFNESS = 500, 12.0
INTERIOR_COLUMNS = 3000
# Columns from which, and rows per column up to which, ten to twenty systems of all dense rows are
# cheaper than Newton's fifty to a hundred and fifty, which change little from step to step: twelve
# made problems each (C from 0.003 to 10, to 1e-3 and 1e-6) take 0.7 of Newton's time at 3,000 × 600
# and 2,000 × 300, as long at 4,000 × 400, 1.1 at 6,000 × 500, and twice at 20,000 × 2,000.
MIN_INTERIOR_COLUMNS, INTERIOR_ROWS_PER_COLUMN = 250, 8


def choose(problem: Problem) -> tuple[str, str]:
    """The solver's name and the reason for it."""
    n, d = problem.shape
    if tiny_solver.fits(problem):
        return "tiny", f"{n} × {d} values fit one compiled call"
    if d > NEWTON_COLUMNS and n > NEWTON_ROWS:
        return "descent", f"{d} columns are too many for d × d systems: coordinate descent"
    if not isinstance(problem.rows, DenseRows) and (pull := stiffness(problem)) <= _soft(problem):
        kind = "pairs" if isinstance(problem.rows, PairRows) else "sparse rows"
        return "descent", f"{kind} and C‖x‖² of about {pull:.1g}: epochs cost less than systems"
    if _is_wide(problem):
        return "interior", f"{n} dense rows of {d} columns: few systems of all of them"
    if d <= NEWTON_COLUMNS:
        return "newton", f"{d} columns: d × d Newton systems are cheap"
    return "newton", f"{n} rows: n × n Newton systems are cheap"


def _soft(problem: Problem) -> float:
    """C‖x‖² up to which coordinate descent needs less time than Newton's method."""
    if isinstance(problem.rows, PairRows):
        return MAX_DESCENT_STIFFNESS
    share, values = MAX_SMOOTH_DESCENT_SHARE, float(size_of(problem.rows))
    if boxed(problem.loss):
        share = MAX_DESCENT_SHARE
        values *= 1.0 if problem.hard else _awake(problem)
    return (share * float(min(problem.shape)) ** 3 / max(1.0, values)) ** 2


def _awake(problem: Problem) -> float:
    """The share of rows that an epoch reads, once it is known which matter."""
    n, d = problem.shape
    plus = np.count_nonzero(problem.y > 0)
    return min(1.0, (AWAKE_PER_RARE_ROW * min(plus, n - plus) + d + 1) / n)


def with_zeros_left_out(problem: Problem) -> Problem:
    """Dense rows that are wide and mostly zeros (images, counts) as the sparse ones that descent
    reads faster; other problems as they are."""
    n, d = problem.shape
    wide = isinstance(problem.rows, DenseRows) and d >= MIN_WIDE_COLUMNS and n > NEWTON_ROWS
    if not wide or problem.hard or stiffness(problem) > MAX_WIDE_STIFFNESS:
        return problem
    return replace(problem, rows=compressed(problem.rows))


def _is_wide(problem: Problem) -> bool:
    """Whether the interior point is the quicker: hinge, many columns and few rows for each."""
    n, d = problem.shape
    if problem.hard or not (isinstance(problem.rows, DenseRows) and boxed(problem.loss)):
        return False
    return MIN_INTERIOR_COLUMNS <= d <= n <= INTERIOR_ROWS_PER_COLUMN * d


def stiffness(problem: Problem) -> float:
    """The mean of C‖x‖²: how strongly one multiplier pulls on the margin of its own row."""
    if problem.hard:
        return HARD_STIFFNESS
    return float(problem.c.mean()) * float(problem.sqnorms.mean())


class TwoClassForm(Form):
    """One hyperplane, one multiplier per row."""

    solvers = SOLVERS

    def plan(self, problem: Problem) -> tuple[str, str]:
        return choose(problem)

    def finish(self, problem: Problem, point: Point, tol: float) -> Proved:
        return finish(problem, point, tol)

    def run(self, name: str, problem: Problem, monitor: Monitor, start: Point | None):
        if start is not None and not problem.bias:
            start = start._replace(b=0.0)
        if problem.hard:
            return TwoClassMargin(problem, monitor, SOLVERS[name]).solve(start)
        point, ending = SOLVERS[name](problem, monitor, start)
        if monitor.path is None or (f := monitor.path.known_scores(point.w)) is None:
            return point, ending
        return finish(problem, point, monitor.tol, f), ending

    def fall_backs(self, problem: Problem, name: str) -> tuple[str, ...]:
        if is_extreme(problem):
            return ()
        others = ("newton", "interior") if problem.shape[1] <= INTERIOR_COLUMNS else ()
        return tuple(other for other in others if other != name)

    def threads(self, problem: Problem) -> AbstractContextManager:
        return nullcontext() if tiny_solver.fits(problem) else one_blas_thread()


TWO_CLASS = TwoClassForm()


def solve(
    problem: Problem, monitor: Monitor, solver: str = "auto", start: Point | None = None
) -> Solution:
    """Solve two classes; of rows that are there many times, each once."""
    problem = with_zeros_left_out(problem) if solver == "auto" else problem
    known = monitor.path is not None and monitor.path.distinct
    repeats = find_repeats(problem) if solver == "auto" and not known else None
    if repeats is None:
        if monitor.path is not None and solver == "auto":
            monitor.path.distinct = True
        return solved(TWO_CLASS, problem, monitor, solver, start, _prove)
    small = solve(repeats.problem, monitor, "auto", start and repeats.shrink(start))
    best = finish(problem, repeats.expand(small.point), monitor.tol)
    why = f"{len(problem.y)} rows, of which {len(repeats.problem.y)} are different; {small.why}"
    found = conclude(best, small.ending, small.solver, why, monitor)
    return precisely(problem, monitor, found, _prove)


def _prove(problem: Problem, w, b: float, alpha, tol: float) -> Proved:
    """The proof of a point as it is."""
    f = scores(problem.rows, w)
    return Proved(Point(w, b, alpha), certify(problem, w, b, alpha, f, tol), f)


def finish(problem: Problem, point: Point, tol: float, f=None) -> Proved:
    """Feasible multipliers, the best bias, Xw, and the certificate; ``f``: Xw of one who has just
    computed it."""
    w, b, alpha = point
    if not np.isfinite(alpha).all():
        alpha = np.zeros_like(alpha)
    alpha = repair(problem, alpha)
    if not tiny_solver.is_rough(problem, tol):
        alpha = vertex(problem, alpha)
    together = f is None and by_rows(problem.rows) and not problem.hard
    seen = see(problem.rows, w, alpha * problem.y) if together else None
    if f is None:
        f = seen.f if seen is not None else scores(problem.rows, w)
    if not (np.isfinite(b) and np.isfinite(f).all()):  # overflow: the origin is better
        w, b, f, seen = np.zeros_like(w), 0.0, np.zeros_like(f), None
    if problem.hard:
        w, b, alpha = _unit_margin(problem, w, b, alpha, f)
        f = scores(problem.rows, w)
    if problem.bias:
        b = best_bias(problem, f, b)

    def prove(w, b, alpha, f, seen=None) -> Proved:
        return Proved(Point(w, b, alpha), certify(problem, w, b, alpha, seen or f, tol), f)

    found = first_that_proves(
        lambda: prove(w, b, alpha, f, seen), lambda: prove(w, b, np.zeros_like(alpha), f)
    )
    return lengthened(found, tol, lambda t: prove(t * w, t * b, found.point.alpha, t * f))


def _unit_margin(problem: Problem, w, b, alpha, f):
    """Hard margin: scale (w, b) so that the closest point has margin 1, and α to its best.

    The best multiple t of α maximises t Σα − ½ t² ‖w_α‖².
    """
    if problem.bias:
        b = best_bias(problem, f, b)
    closest = closest_margin(problem, Point(w, b, alpha))
    if closest > 0:
        w, b = w / closest, b / closest
    v = combine(problem.rows, alpha * problem.y)
    norm = float(v @ v)
    return w, b, alpha * (float(alpha.sum()) / norm) if norm > 0 else alpha
