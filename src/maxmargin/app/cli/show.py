"""Results of a fit in words and tables."""

from __future__ import annotations

from pathlib import Path

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
    """A short table: data, C, errors, margin, support, certificate, time."""
    console = Console()
    summary, estimator = fitted.model.summary, fitted.model.model
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


def _lines(fitted, summary: dict, estimator):
    classes = ", ".join(f"{label} {count}" for label, count in summary["classes"][:8])
    more = len(summary["classes"]) - 8
    classes += f", and {more} more" if more > 0 else ""
    yield "data", f"{summary['data']}: {summary['rows']} rows, {summary['features']} features"
    yield "classes", f"{fitted.model.target}: {classes}"
    yield "method", f"{summary['method']} ({type(estimator).__name__})"
    if summary["C"] is not None:
        yield "C", f"{summary['C']:g}" + _chosen(fitted.tuning)
    if summary["alpha"] is not None:
        yield "alpha", f"{summary['alpha']:g}"
    yield "training error", str(fitted.training)
    if fitted.test is not None:
        yield "test error", str(fitted.test)
    elif fitted.expected is not None:
        yield "new rows", f"error {fitted.expected}"
    if "margin" in summary:
        yield "margin", f"{summary['margin']:.4g}"
    if "support" in summary:
        kinds = ", ".join(f"{count} {kind}" for kind, count in summary["support"].items())
        yield "support vectors", f"{sum(summary['support'].values())}: {kinds}"
    yield "certificate", str(estimator.certificate_)
    seconds = summary["seconds"]
    yield "time", f"{seconds['total']:.2f} s (choosing C {seconds['tune']:.2f} s)"


def _chosen(tuning) -> str:
    if tuning is None:
        return ""
    by = "" if tuning.score == "accuracy" else f" by {tuning.score}"
    return f" (chosen among {len(tuning.Cs)} from {tuning.Cs[0]:g} to {tuning.Cs[-1]:g}{by})"


def show_coefficients(console: Console, model, features: int, classes: int) -> None:
    """The strongest of every class, per standard deviation and per original unit."""
    shown = list(model.coefficients())
    for title, rows in shown[:classes]:
        table = Table(title=f"what speaks for {escape(title)}", title_justify="left", box=None)
        table.add_column("feature")
        table.add_column("per standard deviation", justify="right")
        table.add_column("per unit", justify="right")
        for row in rows[:features]:
            per_unit = "" if model.basis is not None else f"{row['per_unit']:+.4g}"
            table.add_row(escape(row["feature"]), f"{row['per_deviation']:+.4f}", per_unit)
        console.print(table, highlight=False)
        if len(rows) > features:
            console.print(f"  … and {len(rows) - features} more", highlight=False)
    if len(shown) > classes:
        console.print(
            f"… and {len(shown) - classes} more; see `maxmargin inspect`", highlight=False
        )


def next_steps(out: Path, page: Path | None, data: str | None) -> None:
    if page is not None:
        print(f"\nTo see all of this with pictures, open {page} in a browser.")
    program = program_name()
    print(f"""
What to type next:
    {program} inspect {out}                what it is, and what counts
    {program} predict {out} new.csv        labels, probabilities and sets for new rows
    {program} verify {out} data.csv        recompute the proof from the data""")
    if data is None:
        print(f"    {program} fit your.csv --target COLUMN           the same for your own file")


def program_name() -> str:
    """How the program is called here: it need not be on the path."""
    import os
    import shutil
    import sys

    if shutil.which("maxmargin"):
        return "maxmargin"
    return f"{os.path.relpath(sys.executable)} -m maxmargin"
