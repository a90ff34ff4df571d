"""Results of a fit in words and tables."""

from __future__ import annotations

import math
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def check_word(option: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{option} must be one of {', '.join(allowed)}, got {value!r}.")
    return value


def as_plain(fitted, written: list[Path]) -> dict:
    """Everything there is to tell, as plain values."""
    model = fitted.model
    result = dict(model.summary)
    result["classes"] = dict(result["classes"])
    result["target"] = model.target
    result["relative_gap"] = getattr(model.model.certificate_, "relative_gap", None)
    result["files"] = [str(path) for path in written]
    if hasattr(model.model, "coef_"):
        result["coefficients"] = {title: rows[:20] for title, rows in model.coefficients()}
    return result


def show_fit(fitted, written: list[Path]) -> None:
    """Whether it is any good, class by class; then the proof, what was done, and the training rows
    last."""
    console = Console()
    summary, estimator = fitted.model.summary, fitted.model.model
    show_verdict(console, fitted.verdict, _tries(fitted), _how_known(fitted))
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column()
    for name, text in _lines(fitted, summary, estimator):
        table.add_row(name, escape(text))
    console.print(table, highlight=False)
    for note in fitted.notes:
        console.print(f"[yellow]note[/yellow]  {escape(note)}", highlight=False)
    if hasattr(estimator, "coef_"):
        show_coefficients(console, fitted.model, 5, 3)
    for path in written:
        console.print(f"wrote {escape(str(path))}", highlight=False)


TONES = {"better": "green", "unclear": "yellow", "no better": "red", "unknown": "yellow"}
# Classes that are shown one by one at a terminal; of more the hardest.
MAX_SHOWN_CLASSES = 8
# Less of compiling is not worth a word.
MIN_TOLD_COMPILE_SECONDS = 0.1


def show_verdict(console: Console, verdict, tries: list[str], known: str) -> None:
    """The first thing to know, what to try, and how each class was found on unseen rows."""
    tone = TONES[verdict.status]
    console.print(f"[bold {tone}]{escape(verdict.first())}[/bold {tone}]", highlight=False)
    if known:
        console.print(f"  {escape(known)}", highlight=False)
    for text in tries:
        console.print(f"  try {escape(text)}", highlight=False)
    if verdict.never:
        console.print(f"[red]{escape(never_words(verdict.never))}[/red]", highlight=False)
    if verdict.table is not None and verdict.status != "unknown":
        console.print(_class_table(verdict), highlight=False)


def never_words(never: list[str]) -> str:
    shown = ", ".join(never[:MAX_SHOWN_CLASSES])
    more = len(never) - MAX_SHOWN_CLASSES
    return f"never predicted: {shown}" + (f" and {more} more" if more > 0 else "")


def _class_table(verdict) -> Table:
    import numpy as np

    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("class", "rows", "found", "right when named"):
        table.add_column(title, justify="left" if title == "class" else "right")
    places, k = np.arange(len(verdict.labels)), len(verdict.labels)
    if k > MAX_SHOWN_CLASSES:
        places = np.argsort(np.nan_to_num(verdict.recall), kind="stable")[:MAX_SHOWN_CLASSES]
    for c in places.tolist():
        shares = [f"{v:.1%}" if v == v else "–" for v in (verdict.recall[c], verdict.precision[c])]
        table.add_row(escape(verdict.labels[c]), str(verdict.rows[c]), *shares)
    if k > MAX_SHOWN_CLASSES:
        table.add_row(f"… and {k - MAX_SHOWN_CLASSES} more, found more often", "", "", "")
    return table


def _tries(fitted) -> list[str]:
    from ...models.calibration.verdict import advice

    parameters = fitted.model.model.get_params(deep=False)
    if fitted.verdict.status == "unknown":
        return ["--test FILE" if fitted.streamed else "--holdout 0.2 or --test FILE to know"]
    return advice(fitted.verdict, parameters, fitted.model.summary["classes"])


def _how_known(fitted) -> str:
    judged = fitted.expected if fitted.test is None else fitted.test.estimate
    if judged is None or not judged.rows:
        return ""
    return f"95 % interval {judged.low:.2%} to {judged.high:.2%}; {judged.way}"


def _lines(fitted, summary: dict, estimator):
    classes = ", ".join(f"{label} {count}" for label, count in summary["classes"][:8])
    more = len(summary["classes"]) - 8
    classes += f", and {more} more" if more > 0 else ""
    yield "proof", str(estimator.certificate_)
    features = "1 feature" if summary["features"] == 1 else f"{summary['features']} features"
    yield "data", f"{summary['data']}: {summary['rows']} rows, {features}"
    yield "classes", f"{fitted.model.target}: {classes}"
    yield "method", f"{summary['method']} ({type(estimator).__name__})"
    if summary["C"] is not None:
        yield "C", f"{summary['C']:g}" + _chosen(fitted.tuning)
    if summary["alpha"] is not None:
        yield "alpha", f"{summary['alpha']:g}"
    if fitted.test is not None and fitted.expected is not None:
        yield "by training rows", f"error {fitted.expected}"
    if "margin" in summary:
        yield "margin", _margin(summary["margin"])
    if "support" in summary:
        kinds = ", ".join(f"{count} {kind}" for kind, count in summary["support"].items())
        yield "support vectors", f"{sum(summary['support'].values())}: {kinds}"
    yield "time", _time(summary["seconds"])
    yield "training error", str(fitted.training)


def _time(seconds: dict) -> str:
    """Compiling, which happens once on a machine, is not choosing."""
    compiled = seconds.get("compile", 0.0)
    parts = (
        [f"choosing C {max(0.0, seconds['tune'] - compiled):.2f} s"]
        if seconds["tune"] > 0.005
        else []
    )
    if compiled >= MIN_TOLD_COMPILE_SECONDS:
        parts.append(f"compiling (first use) {compiled:.2f} s")
    return f"{seconds['total']:.2f} s" + (f" ({', '.join(parts)})" if parts else "")


def _margin(margin: float) -> str:
    return f"{margin:.4g}" if math.isfinite(margin) else "none: all weights are zero"


def _chosen(tuning) -> str:
    if tuning is None:
        return ""
    by = "" if tuning.score == "accuracy" else f" by {tuning.score}"
    return f" (chosen among {len(tuning.Cs)} from {tuning.Cs[0]:g} to {tuning.Cs[-1]:g}{by})"


def show_coefficients(console: Console, model, features: int, classes: int) -> None:
    """The strongest of every class, per standard deviation and per original unit."""
    shown = list(model.coefficients())
    if not any(row["per_deviation"] for _, rows in shown for row in rows):
        console.print("all weights are zero: every row gets the same answer", highlight=False)
        return
    for title, rows in shown[:classes]:
        table = Table(title=f"what speaks for {escape(title)}", title_justify="left", box=None)
        table.add_column("feature")
        table.add_column("per standard deviation", justify="right")
        table.add_column("per unit", justify="right")
        for row in rows[:features]:
            if row["per_deviation"] == 0.0:
                continue
            per_unit = "" if model.basis is not None else f"{row['per_unit']:+.4g}"
            table.add_row(escape(row["feature"]), f"{row['per_deviation']:+.4f}", per_unit)
        console.print(table, highlight=False)
        if len(rows) > features:
            console.print(f"  … and {len(rows) - features} more", highlight=False)
    if len(shown) > classes:
        console.print(
            f"… and {len(shown) - classes} more; see `maxmargin inspect`", highlight=False
        )


def next_steps(out: Path, page: Path | None, data: list[str] | None) -> None:
    if page is not None:
        print(f"\nTo see all of this with pictures, open {page} in a browser.")
    program, model = program_name(), quote(str(out))
    known = "data.csv" if data in (None, ["-"]) else " ".join(map(quote, data or ()))
    steps = {
        f"{program} inspect {model}": "what it is, and what counts",
        f"{program} predict {model} new.csv": "labels, probabilities and sets for new rows",
        f"{program} verify {model} {known}": "recompute the proof from the data",
    }
    if data is None:
        steps[f"{program} fit your.csv --target COLUMN"] = "the same for your own file"
    width = max(map(len, steps))
    print("\nWhat to type next:")
    for command, words in steps.items():
        print(f"    {command:<{width}}  {words}")


def program_name() -> str:
    """How the program is called here: it need not be on the path."""
    import os
    import shutil
    import sys

    if shutil.which("maxmargin"):
        return "maxmargin"
    return f"{os.path.relpath(sys.executable)} -m maxmargin"
