"""What the referee says, and when it says that a claim is false."""

from __future__ import annotations

from dataclasses import dataclass, field

from .intervals import high, low
from .read import number

VERDICTS = ("confirmed", "no claim", "not confirmed", "refuted")


@dataclass
class Report:
    """What was found.

    ``true_gap`` is proved by the model's multipliers; ``excess`` bounds, from both sides where it
    was looked for, how far the model is above the optimum.  ``fault`` of what is refuted: "gap",
    the model is further off than claimed, or "bound", only the bound on all models is false;
    ``short``: by how much the claim is off, relative to the objective.
    """

    what: str
    verdict: str
    claimed: float | None = None
    primal: float | None = None
    true_gap: float | None = None
    excess: tuple[float, float] | None = None
    fault: str = ""
    short: float | None = None
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"checked:  {self.what}"]
        if self.claimed is not None:
            lines.append(f"claimed:  within {self.claimed:.3e} of the optimum")
        if self.primal is not None:
            lines.append(f"found:    objective {self.primal:.15g}")
        if self.true_gap is not None:
            lines.append(f"          multipliers prove {self.true_gap:.3e}, exactly")
        if self.excess is not None:
            lines.append(f"          truly above the optimum by {self.excess[1]:.3e} at most,")
            lines.append(f"          and by {max(0.0, self.excess[0]):.3e} at least")
        lines += [f"          {note}" for note in self.notes]
        if self.short is not None:
            lines.append(f"          short of the claim by {self.short:.1e} of the objective")
        return "\n".join([*lines, f"verdict:  {self.verdict}"])


def by_truth(report: Report, primal, enclosure, gap, dual, allowed) -> Report:
    """Whether the optimum, which lies in ``enclosure``, contradicts the claim."""
    lower, upper = enclosure
    report.excess = number(low(primal) - upper), number(high(primal) - lower)
    if low(primal) - upper > gap + allowed:
        refute(report, "gap", "the model is further from the optimum than claimed")
        report.short = number((low(primal) - upper - gap) / high(primal))
    elif dual - allowed > upper:
        below = f"claimed that no model is below {number(dual):.15g}, one has {number(upper):.15g}"
        refute(report, "bound", below)
        report.short = number((dual - upper) / max(upper, abs(dual)))
    elif high(primal) - lower <= gap + allowed and dual <= lower + allowed:
        report.notes.append("the claim is true")
    return report


def refute(report: Report, fault: str, note: str) -> Report:
    report.verdict, report.fault = "refuted", fault
    report.notes.append(note)
    return report
