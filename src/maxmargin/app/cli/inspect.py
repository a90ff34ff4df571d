"""``maxmargin inspect``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .run import print_json


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    top: Annotated[int, typer.Option(help="Coefficients to show of every class.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """What a model is, how sure it is, what it needs, and what counts most for each class.

    With pictures and more words it is told by report.html, which fit writes beside the model.

    maxmargin inspect model.maxmargin
    maxmargin inspect model.maxmargin --top 3 --json
    """
    from ...parts.files.model import TableModel, with_columns
    from ..store.files import read_header

    header, found = read_header(model)
    estimator: Any
    whole = found if isinstance(found, TableModel) else None
    if whole is None and hasattr(found, "classes_"):
        whole = with_columns(found)
    estimator = whole.model if whole is not None else found
    result = {
        "file": str(model),
        "written_by": f"maxmargin {header.get('maxmargin')}",
        "model": type(estimator).__name__,
        "parameters": {k: _word(v) for k, v in estimator.get_params(deep=False).items()},
        "certificate": str(getattr(estimator, "certificate_", "none")),
        "classes": [str(label) for label in getattr(estimator, "classes_", [])],
        "columns": _columns(whole),
        "basis": None if whole is None or whole.basis is None else whole.basis.name,
        "summary": {} if whole is None else whole.summary,
    }
    if whole is not None and hasattr(estimator, "coef_"):
        result["coefficients"] = {name: rows[:top] for name, rows in whole.coefficients()}
    if as_json:
        print_json(result)
        return
    _show(result, whole, top)


def _word(value):
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _columns(model) -> list[dict]:
    """What the model reads of a table."""
    if model is None or not model.is_table:
        return []
    kinds = {"Number": "number", "Category": "category", "Text": "text"}
    out = []
    for column in model.preparation.columns:
        line: dict = {"name": column.name, "kind": kinds[type(column).__name__]}
        if line["kind"] == "number":
            line |= {"mean": column.mean, "deviation": column.deviation}
        elif line["kind"] == "category":
            line["levels"] = column.levels[:50]
        else:
            line["words"] = len(column.words)
        out.append(line)
    return out


def _between(e: dict) -> str:
    way = f"; {e['way']}" if "way" in e else ""
    return f"{e['error']:.2%} (95 % interval {e['low']:.2%} to {e['high']:.2%}{way})"


def _show(result: dict, whole, top: int) -> None:
    from rich.console import Console

    from .show import show_coefficients

    print(f"{result['model']} in {result['file']}, written by {result['written_by']}")
    print(f"certificate: {result['certificate']}")
    if result["classes"]:
        shown = ", ".join(result["classes"][:20]) + (", …" if len(result["classes"]) > 20 else "")
        print(f"classes: {shown}")
    summary = result["summary"]
    for name in ("data", "rows", "features", "method", "C", "margin"):
        if summary.get(name) is not None:
            print(f"{name}: {summary[name]}")
    if "training" in summary:
        print(f"training error: {summary['training']['error']:.2%}")
    for name, title in (("expected", "error on new rows"), ("test", "test error")):
        if name in summary:
            print(f"{title}: {_between(summary[name])}")
    if result["columns"]:
        names = [f"{c['name']} ({c['kind']})" for c in result["columns"][:20]]
        print(f"reads: {', '.join(names)}{', …' if len(result['columns']) > 20 else ''}")
    if result["basis"]:
        print(f"basis: {result['basis']}")
    for note in summary.get("notes", []):
        print(f"note: {note}")
    if "coefficients" in result:
        show_coefficients(Console(), whole, top, 10)
