"""The certificate of a two-class fit: recomputed from the data in float64.

For any weights w, b and any multipliers in the box with Σ α_i y_i = 0, weak duality says

    dual(α) = −½‖w_α‖² − Σ c_i ℓ*(−α_i / c_i)  ≤  optimum  ≤  ½‖w‖² + Σ c_i ℓ(m_i) = primal(w, b)

with w_α = Σ α_i y_i x_i.  So primal − dual bounds how far the model is from the best one,
whoever computed w, b and α, and however.  Nothing here is taken from a solver's sums.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..problem.losses import Hinge, Logistic, SquaredHinge, conjugate, largest, slope, value
from ..problem.problem import Problem
from ..rows.rows import anchor, combine, dense, scores

# Float64 rounding of one sum of n terms; a bias residual below this times Σα is zero.
ROUNDING = 1e-12
# How far rounding may push a gap below zero, relative to the objective.
NEGATIVE = 1e-9
# Slacks this near to zero are computed afresh in extended precision where C makes them count:
# where one rounding per row, times C, could be this share of ½‖w‖².
NEAR = 1e-6
COUNTS = 1e-10
MOST_NEAR = 2_000_000


@dataclass(frozen=True)
class Certificate:
    """How good a fit provably is.

    ``kkt_violation`` maps each kind of point (``"zero"``: α = 0, ``"free"``: 0 < α < c,
    ``"bound"``: α = c) to the worst violation of its optimality condition, in units of the
    margin; ``stationarity`` is ‖w − w_α‖ / max(1, ‖w‖), a penalised bias counting as one more
    weight; ``bias_residual`` is |Σ α_i y_i| / Σ α_i for a free bias, |b| where there is none.
    """

    primal: float
    dual: float
    kkt_violation: dict[str, float]
    stationarity: float
    bias_residual: float
    box_violation: float
    problem: str
    method: str = "recomputed from the data in float64"
    about: str = ""  # what the proof is about, where that is not the problem asked for

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """∞ where nothing is proved: no feasible point, infeasible multipliers, no soundness."""
        if not (np.isfinite(self.primal) and self.feasible and self.sound):
            return np.inf
        return max(0.0, self.gap) / max(abs(self.primal), np.finfo(float).tiny)

    @property
    def feasible(self) -> bool:
        """Whether the multipliers obey the constraints that make the dual a bound."""
        return self.box_violation <= ROUNDING and self.bias_residual <= 1e3 * ROUNDING

    @property
    def sound(self) -> bool:
        """A gap below zero by more than rounding would contradict weak duality.

        It proves that something is wrong, not that the model is right.
        """
        return bool(self.gap >= -NEGATIVE * max(abs(self.primal), abs(self.dual)))

    def holds(self, tol: float) -> bool:
        """Whether the model is proved optimal to the relative gap ``tol``."""
        return bool(self.relative_gap <= tol)

    def to_dict(self) -> dict:
        return {
            "problem": self.problem,
            "primal": self.primal,
            "dual": self.dual,
            "gap": self.gap,
            "relative_gap": self.relative_gap,
            "kkt_violation": dict(self.kkt_violation),
            "stationarity": self.stationarity,
            "bias_residual": self.bias_residual,
            "box_violation": self.box_violation,
            "feasible": self.feasible,
            "method": self.method,
            "about": self.about,
        }

    def __str__(self) -> str:
        if not np.isfinite(self.primal):
            return f"no feasible point yet; the optimum is at least {self.dual:.6g}"
        if not self.feasible:
            return (
                f"objective {self.primal:.6g}; the multipliers are not feasible "
                f"(box {self.box_violation:.1e}, bias {self.bias_residual:.1e}): nothing is proved"
            )
        if not self.sound:
            return (
                f"objective {self.primal:.6g}; rounding puts the dual bound {-self.gap:.1e} above "
                "it: nothing is proved"
            )
        worst = max(self.kkt_violation.values(), default=0.0)
        return (
            f"objective {self.primal:.6g}, proved within {max(0.0, self.gap):.1e} of the optimum "
            f"(relative gap {self.relative_gap:.1e}, worst KKT violation {worst:.1e})"
            + (f"; this is {self.about}" if self.about else "")
        )

    def _repr_html_(self) -> str:
        rows = {
            "problem": self.problem,
            "primal objective": f"{self.primal:.10g}",
            "dual bound": f"{self.dual:.10g}",
            "relative gap": f"{self.relative_gap:.2e}",
            **{f"KKT, {kind}": f"{v:.2e}" for kind, v in self.kkt_violation.items()},
            "stationarity in w": f"{self.stationarity:.2e}",
            "stationarity in b": f"{self.bias_residual:.2e}",
            "computed": self.method,
            **({"of": self.about} if self.about else {}),
        }
        return html_table(rows)


def html_table(rows: dict[str, str]) -> str:
    """A certificate as a small table for notebooks."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table><caption>Certificate</caption>{cells}</table>"


def certify(problem: Problem, w: np.ndarray, b: float, alpha: np.ndarray, f=None) -> Certificate:
    """Recompute primal, dual and KKT residuals of (w, b, α) from the data.

    ``f`` = Xw may be given by a caller who has just computed it from the data.
    """
    if f is None:
        f = scores(problem.rows, w)
    w_alpha = combine(problem.rows, alpha * problem.y)
    c, y = problem.c, problem.y
    hinge = problem.hard or isinstance(problem.loss, Hinge)
    r = float(alpha @ y)
    if problem.bias and r != 0.0:
        # What rounding left of r belongs to some rows; far from the origin it would count.
        w_alpha -= r * anchor(problem.rows)
    z = 1.0 - y * (f + b)
    norm = 0.5 * float(w @ w)
    kinked = not (problem.hard or isinstance(problem.loss, Logistic))
    if kinked and float(c.max()) * len(c) * np.finfo(float).eps > COUNTS * norm:
        z = _sharpen(problem, w, b, z)
    loss_sum, conjugate_sum, kkt, box, closest = sums(
        problem.loss, c, problem.cap, alpha, z, problem.hard, hinge, _unit(problem)
    )
    primal = norm + loss_sum
    dual = -0.5 * float(w_alpha @ w_alpha) - conjugate_sum
    residual = abs(b)  # where there must be none
    if problem.bias:
        residual = abs(r) / max(float(alpha.sum()), np.finfo(float).tiny)
    if problem.hard and closest < 1.0 - 1e-9:
        primal = np.inf
    return Certificate(
        primal=primal,
        dual=dual,
        kkt_violation={"zero": kkt[0], "free": kkt[1], "bound": kkt[2]},
        stationarity=float(np.linalg.norm(w - w_alpha)) / max(1.0, float(np.sqrt(w @ w))),
        bias_residual=residual,
        box_violation=box,
        problem=problem.summary(),
    )


def _unit(problem: Problem) -> float:
    """Half a change of the slope 2(1 − m) is a change of the margin; a logistic slope stands."""
    return 0.5 if isinstance(problem.loss, SquaredHinge) else 1.0


def _sharpen(problem: Problem, w, b, z) -> np.ndarray:
    """Slacks near zero in extended precision: a large C multiplies their rounding.

    1 − y(w·x + b) cancels on the margin, and what rounding leaves is charged C times each.
    """
    near = np.flatnonzero((np.abs(z) <= NEAR) & (problem.c > 0))
    if len(near) == 0 or len(near) * len(w) > MOST_NEAR:
        return z
    f = dense(problem.rows, near).astype(np.longdouble) @ w.astype(np.longdouble) + np.longdouble(b)
    z = z.copy()
    z[near] = (1.0 - problem.y[near] * f).astype(np.float64)
    return z


@njit(cache=True, nogil=True)
def sums(loss, c, cap, alpha, z, hard, hinge, per_slope):
    """Σ c ℓ(m), Σ c ℓ*(−α/c), worst KKT violation by kind, box violation, smallest margin."""
    loss_sum, conjugate_sum, box, closest = 0.0, 0.0, 0.0, np.inf
    zero, free, bound = 0.0, 0.0, 0.0
    for i in range(c.shape[0]):
        if c[i] <= 0.0:
            box = max(box, abs(alpha[i]))
            continue
        slack, a = z[i], alpha[i]
        m = 1.0 - slack
        closest = min(closest, m)
        if hard:
            conjugate_sum -= a
            box = max(box, -a)
        else:
            loss_sum += c[i] * max(0.0, slack) if hinge else c[i] * value(loss, m)
            unit = min(max(a, 0.0), cap[i]) / c[i]
            conjugate_sum += c[i] * conjugate(loss, min(unit, largest(loss)))
            box = max(box, -a / c[i], (a - cap[i]) / c[i])
        if not hinge:
            free = max(free, per_slope * abs(a / c[i] + slope(loss, m)))
        elif a <= 0.0:
            zero = max(zero, slack)
        elif a >= cap[i]:
            bound = max(bound, -slack)
        else:
            free = max(free, abs(slack))
    return loss_sum, conjugate_sum, (zero, free, bound), box, closest
