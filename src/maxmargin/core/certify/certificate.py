"""What a proof of a fit says: primal, dual, KKT residuals, and how these are shown."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from .exported import Exported

# Float64 rounding of one sum of n terms; a bias residual below this times Σα is zero.
SUM_ROUNDING = 1e-12
# How far rounding may push a gap below zero, relative to the objective.
NEGATIVE_GAP_TOL = 1e-9
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Certificate(Exported):
    """How good a fit provably is.

    ``kkt_violation`` maps each kind of point (``"zero"``: α = 0, ``"free"``: 0 < α < c,
    ``"bound"``: α = c) to the worst violation of its optimality condition, in units of the
    margin; ``stationarity`` is ‖w − w_α‖ / max(1, ‖w‖), a penalised bias counting as one more
    weight; ``bias_residual`` is |Σ α_i y_i| / Σ α_i for a free bias, |b| where there is none.

    ``primal`` is no less than the objective in real arithmetic, ``dual`` no more than the optimum:
    ``rounding`` bounds what float64 may have done to either, and is in the gap already.
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
    rounding: float = 0.0

    @property
    def gap(self) -> float:
        """primal − dual, rounded upwards: it bounds in real arithmetic, too."""
        gap = self.primal - self.dual
        back = gap - self.primal  # −dual, but for rounding [Knuth's sum of two]
        lost = (self.primal - (gap - back)) - (self.dual + back)
        return math.nextafter(gap, math.inf) if lost > 0.0 else gap

    @property
    def relative_gap(self) -> float:
        """∞ where nothing is proved: no feasible point, infeasible multipliers, no soundness."""
        if not (math.isfinite(self.primal) and self.feasible and self.sound):
            return math.inf
        return max(0.0, self.gap) / max(abs(self.primal), TINY)

    @property
    def feasible(self) -> bool:
        """Whether the multipliers obey the constraints that make the dual a bound."""
        return self.box_violation <= SUM_ROUNDING and self.bias_residual <= 1e3 * SUM_ROUNDING

    @property
    def sound(self) -> bool:
        """A gap below zero by more than rounding would contradict weak duality.

        It proves that something is wrong, not that the model is right.
        """
        slack = NEGATIVE_GAP_TOL * max(abs(self.primal), abs(self.dual))
        return bool(self.dual < np.inf and self.gap >= -slack)

    def holds(self, tol: float) -> bool:
        """Whether the model is proved optimal to the relative gap ``tol``."""
        return bool(self.relative_gap <= tol)

    def blurred(self, tol: float) -> bool:
        """Whether the gap may be ``tol`` but for ``rounding``: it lies up to twice that below."""
        if self.holds(tol) or not self.feasible:
            return False
        if not math.isfinite(self.rounding):
            return True
        return math.isfinite(self.primal) and not self.gap - 2.0 * self.rounding > tol * self.primal

    @classmethod
    def from_dict(cls, told: dict) -> Self:
        """From what ``to_dict`` tells, or the part of it that makes a certificate."""
        return cls(**{field.name: told[field.name] for field in fields(cls) if field.name in told})

    def to_dict(self) -> dict:
        return {
            "problem": self.problem,
            "primal": self.primal,
            "dual": self.dual,
            "gap": self.gap,
            "relative_gap": self.relative_gap,
            "rounding": self.rounding,
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
            "of it, rounding": f"{self.rounding:.2e}",
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
