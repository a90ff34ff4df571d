"""``maxmargin rank``: learn from a table of comparisons which items people prefer, and why."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .bundled import EXAMPLES_FOLDER
from .interrupt import cautiously
from .options import AsJson, Report
from .output import check_outputs, without_formula, write_page
from .run import command_line

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

# Names of a winner that stand for a side, or for nobody.
FIRST_ITEM_NAMES, SECOND_ITEM_NAMES, TIE_NAMES = (
    {"a", "item_a"},
    {"b", "item_b"},
    {"", "tie", "draw", "none"},
)


def rank(
    comparisons: Annotated[
        Path | None,
        typer.Argument(help="A table with the columns item_a, item_b and winner."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="A table of the items' features, one row per item."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Column of ITEMS that holds the name. [default: the first]")
    ] = None,
    C: Annotated[float, typer.Option("--C", help="Price of slack.")] = 1.0,
    scale: Annotated[
        bool, typer.Option(help="Divide every feature by its standard deviation first.")
    ] = True,
    top: Annotated[int, typer.Option(help="Items to show; 0 shows all.")] = 20,
    out: Annotated[Path | None, typer.Option(help="Write all ranked items to this CSV.")] = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Rank items from comparisons: "this rather than that".

    The winner is named, or given as "a" or "b"; ties are left out, and counted.
    Without files, the bundled example is used:

        maxmargin rank
        maxmargin rank comparisons.csv --items items.csv
        maxmargin rank comparisons.csv --items items.csv --top 5 --out ranked.csv
        maxmargin rank comparisons.csv --items items.csv --report ranking.html
    """
    from rich.console import Console

    from ...parts.files.items import read_items
    from ..workflow.ranking import rank_items

    if comparisons is None and items is None:
        comparisons, items = EXAMPLES_FOLDER / "comparisons.csv", EXAMPLES_FOLDER / "items.csv"
    if comparisons is None or items is None:
        raise ValueError(
            "rank needs two files: the comparisons, and --items with the features of every item. "
            "Without any it shows the bundled example."
        )
    read = {"the comparisons": comparisons, "the items": items}
    check_outputs({"--out": out, "--report": report}, read)
    table = read_items(items, name)
    pairs, ties = read_comparisons(comparisons, table.names)
    ranked = rank_items(table, pairs, ties, C, scale)
    result = ranked.to_dict()
    if out is not None:
        with cautiously(out):
            _write(out, result)
    if report is not None:
        from ..report.rank import rank_report

        write_page(report, rank_report(ranked, comparisons.name, command_line()))
    if as_json:
        print(json.dumps(result, indent=2, ensure_ascii=False))
    else:
        _show(Console(), result, top)
    if not result["proved"]:
        raise typer.Exit(1)


def read_comparisons(path: Path, names: list[str]) -> tuple[np.ndarray, int]:
    """(winner, loser) rows of the items, and the number of ties left out."""
    from ...models.ranking.object_preferences import pairs_from_comparisons
    from ...parts.files.items import read_words

    a, b, winner = read_words(path, ("item_a", "item_b", "winner"))
    kept: list[list[str]] = [[], [], []]
    known = set(names)
    for line, (first, second, best) in enumerate(zip(a, b, winner, strict=True), start=2):
        side = best.strip().lower()
        if side in TIE_NAMES and best not in known:
            continue
        best = first if side in FIRST_ITEM_NAMES and best not in known else best
        best = second if side in SECOND_ITEM_NAMES and best not in known else best
        for item in (first, second):
            if item not in known:
                raise ValueError(
                    f"{path}, line {line}: the item {item!r} is not in the table of items. Add "
                    "a row with its features, or correct the name."
                )
        if first == second or best not in (first, second):
            raise ValueError(
                f"{path}, line {line}: {first!r} against {second!r}, winner {best!r}. Name two "
                'different items and one of them as winner ("a", "b" and "tie" are understood).'
            )
        for column, value in zip(kept, (first, second, best), strict=True):
            column.append(value)
    if not kept[0]:
        raise ValueError(f"{path} holds no comparison with a winner: there is nothing to learn.")
    pairs, _ = pairs_from_comparisons(kept[0], kept[1], kept[2], names)
    return pairs, len(a) - len(kept[0])


def _show(console: Console, result: dict, top: int) -> None:
    from rich.table import Table

    items = result["items"]
    shown = items if top <= 0 else items[:top]
    table = Table(title=f"{len(items)} items from {result['comparisons']} comparisons")
    for column in ("rank", "item", "score", "won", "lost"):
        table.add_column(column, justify="left" if column == "item" else "right")
    for row in shown:
        score = f"{row['score']:.3f}"
        table.add_row(str(row["rank"]), row["item"], score, str(row["won"]), str(row["lost"]))
    console.print(table)
    if len(shown) < len(items):
        console.print(f"… and {len(items) - len(shown)} more (--top 0 shows all)")
    weights = Table(title="what counts, strongest first")
    weights.add_column("feature")
    weights.add_column("per standard deviation", justify="right")
    weights.add_column("per unit", justify="right")
    for feature, w in sorted(result["weights"].items(), key=lambda p: -abs(p[1]["per_spread"])):
        weights.add_row(feature, f"{w['per_spread']:+.3f}", f"{w['per_unit']:+.4g}")
    console.print(weights)
    for note in result["notes"]:
        console.print(f"note: {note}", highlight=False)
    if result["ties_left_out"]:
        console.print(f"{result['ties_left_out']} ties were left out")
    new = result["expected"]
    interval = f" (95 % interval {1 - new['high']:.1%} to {1 - new['low']:.1%})" if new else ""
    console.print(f"{result['verdict']}{interval}", highlight=False)
    console.print(f"agrees with {result['agreement']:.1%} of the comparisons it learned from")
    console.print(result["certificate"], highlight=False)


def _write(path: Path, result: dict) -> None:
    from ...parts.files.atomic import replacing

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(result["items"][0]))
    writer.writeheader()
    writer.writerows(row | {"item": without_formula(row["item"])} for row in result["items"])
    with replacing(path) as file:
        file.write(text.getvalue().encode())
    print(f"wrote {path}", file=sys.stderr)
