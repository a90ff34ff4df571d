"""The report: every fit, who solved it and why, and what scikit-learn's answer was worth."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from statistics import median

from .record import Fit, beyond

# An objective this much above the optimum is said to have ended short: LIBSVM and lbfgs at their
# usual tolerances stay below it on data that suit them.
SHORT = 1e-3

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#222}
.wide{overflow-x:auto} summary{cursor:pointer;margin:1.5rem 0 .5rem;font-weight:600}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}
td.n{white-space:nowrap} td:last-child{min-width:10rem} th{font-weight:600}
tr.short td{background:#fff3e0}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}tr.short td{background:#3a2a10}
th,td{border-color:#444}}
"""
_HEADS = (
    "fit",
    "place",
    "rows × columns",
    "classes",
    "solved by",
    "with maxmargin",
    "scikit-learn",
    "certified gap",
    "scikit-learn ends above the optimum",
    "why",
)


def as_text(fits: list[Fit]) -> str:
    """For a terminal: one line per place in the program and outcome, the longest first."""
    lines = [summary(fits)]
    for some in _groups(fits):
        fit, times = some[0], f" × {len(some)}" if len(some) > 1 else ""
        lines.append(f"  {_what(fit)}{times}  {_seconds(some)}{_gap(some)}")
        lines.append(f"      {fit.solver}: {fit.why}")
        if judged := _judgement(some):
            lines.append(f"      {judged}")
    return "\n".join(lines)


def as_json(fits: list[Fit]) -> str:
    """Every fit, and the summary, as one object."""
    records = [vars(fit) for fit in fits]
    return json.dumps({"summary": summary(fits), "not_kept": beyond(), "fits": records}, indent=1)


def as_html(fits: list[Fit]) -> str:
    """One page without scripts or anything from elsewhere: places in the program, then all fits."""
    groups = _groups(fits)
    page = _table([_group_row(some) for some in groups])
    if len(groups) < len(fits):
        every = _table([_row(fit) for fit in fits])
        page += f"<details><summary>Every fit ({len(fits)})</summary>{every}</details>"
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'><title>maxmargin.accelerate</title>"
        f"<style>{_STYLE}</style><h1>What was fitted</h1><p>{escape(summary(fits))}</p>{page}"
    )


def _table(rows: list[str]) -> str:
    heads = "".join(f"<th scope='col'>{escape(head)}</th>" for head in _HEADS)
    return (
        f"<div class='wide' tabindex='0'><table><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def summary(fits: list[Fit]) -> str:
    """How many fits, by whom, how fast, and how many of scikit-learn's ended short."""
    ours = [fit for fit in fits if fit.solver == "maxmargin"]
    told = f"maxmargin.accelerate: {len(fits) + beyond()} fits, {len(ours)} solved by maxmargin"
    seconds = sum(fit.seconds if fit.our_seconds is None else fit.our_seconds for fit in ours)
    told += f" in {seconds:.2f} s, {len(fits) - len(ours)} left to scikit-learn."
    both = [fit for fit in ours if fit.their_seconds is not None]
    if both:
        theirs = sum(fit.their_seconds or 0.0 for fit in both)
        told += f" scikit-learn took {theirs:.2f} s for the same {len(both)}."
    judged = [fit for fit in fits if fit.their_excess is not None]
    short = [fit for fit in judged if (fit.their_excess or 0.0) > SHORT]
    if judged:
        silent = sum(not fit.their_warning for fit in short)
        told += (
            f" Of {len(judged)} answers of scikit-learn's {len(short)} ended more than "
            f"{SHORT:g} above the optimum, {silent} of them without a warning."
        )
    return told


def _groups(fits: list[Fit]) -> list[list[Fit]]:
    """Fits of one place with one outcome together."""
    groups: dict[tuple, list[Fit]] = {}
    for fit in fits:
        key = (fit.place, fit.kind, fit.rows, fit.columns, fit.solver, fit.why)
        groups.setdefault(key, []).append(fit)
    return sorted(groups.values(), key=_total, reverse=True)


def _total(fits: Iterable[Fit]) -> float:
    return sum(fit.seconds for fit in fits)


def _what(fit: Fit) -> str:
    classes = f", {fit.classes} classes" if fit.classes else ""
    return f"{fit.place}  {fit.kind}  {fit.rows} × {fit.columns}{classes}"


def _seconds(some: list[Fit]) -> str:
    theirs = [fit.their_seconds for fit in some if fit.their_seconds is not None]
    ours = [fit.our_seconds for fit in some if fit.our_seconds is not None]
    if len(theirs) == len(ours) == len(some):
        return f"maxmargin {sum(ours):.3g} s, scikit-learn {sum(theirs):.3g} s"
    return f"{_total(some):.3g} s"


def _gap(some: list[Fit]) -> str:
    gaps = [fit.gap for fit in some if fit.gap is not None]
    return f"  certified gap {max(gaps):.0e}" if gaps else ""


def _judgement(some: list[Fit]) -> str:
    """How good scikit-learn's answers are."""
    excesses = [fit.their_excess for fit in some if fit.their_excess is not None]
    if not excesses:
        return ""
    changed = sum(fit.changed or 0 for fit in some)
    warned = sum(bool(fit.their_warning) for fit in some)
    told = f"scikit-learn ends {_percent(median(excesses))} above the optimum"
    if len(some) > 1:
        told += f" (median, at most {_percent(max(excesses))})"
    warning = f"{warned} of {len(some)} warned" if warned else "without a warning"
    return f"{told}, {warning}; {changed} training rows are predicted differently"


def _percent(excess: float) -> str:
    return f"{100 * excess:.3g} %"


def _group_row(some: list[Fit]) -> str:
    """Fits of one place with one outcome: seconds of all, the largest gap and excess."""
    if len(some) == 1:
        return _row(some[0])
    both = Fit(**vars(some[0]))
    both.kind += f" × {len(some)}"
    for name in ("seconds", "our_seconds", "their_seconds", "changed"):
        known = [value for fit in some if (value := getattr(fit, name)) is not None]
        setattr(both, name, sum(known) if len(known) == len(some) else None)
    for name in ("gap", "their_excess"):
        known = [value for fit in some if (value := getattr(fit, name)) is not None]
        setattr(both, name, max(known, default=None))
    return _row(both)


def _row(fit: Fit) -> str:
    excess = "" if fit.their_excess is None else f"{_percent(fit.their_excess)}"
    if fit.changed:
        excess += f", {fit.changed} training rows predicted differently"
    if fit.their_warning:
        excess += f" ({fit.their_warning})"
    ours = fit.seconds if fit.our_seconds is None and fit.solver == "maxmargin" else fit.our_seconds
    cells = (
        fit.kind,
        fit.place,
        f"{fit.rows} × {fit.columns}",
        str(fit.classes or ""),
        fit.solver,
        _in_seconds(ours),
        _in_seconds(fit.their_seconds),
        "" if fit.gap is None else f"{fit.gap:.0e}",
        excess,
        fit.why,
    )
    mark = " class='short'" if (fit.their_excess or 0.0) > SHORT else ""
    marks = [" class='n'"] * 8 + ["", ""]
    told = zip(marks, cells, strict=True)
    return f"<tr{mark}>" + "".join(f"<td{m}>{escape(cell)}</td>" for m, cell in told) + "</tr>"


def _in_seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g} s"
