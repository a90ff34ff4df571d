"""The driver of every form: choose a solver, run it, finish its point, fall back, conclude.

A form (``contract.Form``) says which solvers there are, which one suits a problem, and how a point
is made feasible and proved.  What follows from that is the same for all and written here: a solver
that is asked for what it cannot do is refused in words; one whose own idea of the gap does not
stand the proof goes on more strictly; where it still falls short others are tried, and whatever is
proved best is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .contract import Ending, Form, Monitor, Proved, Solution, can_solve, settled

# A solver's own estimate of the gap may be too bright: it goes on with this share of it.
CONTINUATION_TOL_SHARE = 0.3


def drive(
    form: Form, problem: Any, monitor: Monitor, solver: str = "auto", start: Any = None
) -> Solution:
    """The best point that is proved, and the proof; ``start``: a point to begin with."""
    name, why = _chosen(form, problem, solver)
    form.check(problem, name)
    monitor.solver = name
    # A solver may overflow on the way; what it ends with is checked in ``finish``.
    with form.threads(problem), np.errstate(all="ignore"):
        best, ending = _attempt(form, name, problem, monitor, start)
        short = solver == "auto" and best.gap > monitor.tol
        for other in form.fall_backs(problem, name) if short else ():
            if best.gap <= monitor.tol or ending not in (Ending.REACHED, Ending.STALLED):
                break
            if not _serves(form, other, problem):
                continue
            monitor.solver = other
            found, ended = _attempt(form, other, problem, monitor, best.point)
            if found.gap < best.gap or ended is Ending.ESTIMATED:
                why = f"{name} stopped at a relative gap of {best.gap:.1e}"
                best, ending, name = found, ended, other
    return conclude(best, ending, name, why, monitor)


def conclude(best: Proved, ending: Ending, name: str, why: str, monitor: Monitor) -> Solution:
    """The solution; only the proof may say that the gap was reached."""
    ending = settled(ending, best.certificate, monitor.tol)
    count = max(1, monitor.n_iter)
    return Solution(*best, ending, name, why, count, monitor.history)


def _attempt(
    form: Form, name: str, problem: Any, monitor: Monitor, start: Any
) -> tuple[Proved, Ending]:
    """Run one solver, ever more strictly while it believes what the proof does not."""
    tol, best = monitor.tol, None
    try:
        for encore in range(1 + form.encores):
            monitor.tol = tol * CONTINUATION_TOL_SHARE**encore
            point, ending = form.run(name, problem, monitor, start)
            found = point if isinstance(point, Proved) else form.finish(problem, point, tol)
            if best is None or found.gap < best.gap:
                best = found
            if encore == form.encores or ending is not Ending.REACHED or best.gap <= tol:
                break
            start = best.point
    finally:
        monitor.tol = tol
    assert best is not None
    return best, ending


def _chosen(form: Form, problem: Any, solver: str) -> tuple[str, str]:
    """The solver's name and the reason for it; refuses one that does not serve the loss."""
    name, why = form.plan(problem) if solver == "auto" else (solver, "asked for by name")
    if _serves(form, name, problem):
        return name, why
    loss = type(problem.loss).__name__
    others = [other for other in form.solvers if _serves(form, other, problem)]
    if solver == "auto" and others:
        return others[0], f"it serves {loss}"
    asked = f"solver={name!r} serves {_served(form, name)}"
    if solver == "auto":
        asked = "no solver of this form serves the loss"
    advice = f" Use solver={others[0]!r}." if others else ""
    raise ValueError(f"{asked}, got {loss}.{advice}")


def _serves(form: Form, name: str, problem: Any) -> bool:
    loss: Any = type(getattr(problem, "loss", None))
    return can_solve(form.solvers[name], loss)


def _served(form: Form, name: str) -> str:
    """The losses a solver serves, in words."""
    return " and ".join(
        f"losses with a rule for {kind.__name__}" if hasattr(kind, "rules") else kind.__name__
        for kind in form.solvers[name].losses  # type: ignore[attr-defined]
    )
