"""``maxmargin ask``: compare two items at a time, those whose answer tells most."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .interrupt import cautiously
from .output import check_outputs, without_formula
from .rank import read_comparisons

if TYPE_CHECKING:
    import numpy as np

    from ...parts.files.items import Items

COLUMNS = ("item_a", "item_b", "winner")


def ask(
    items: Annotated[
        Path, typer.Argument(help="A table of the items' features, one row per item.")
    ],
    answers: Annotated[
        Path, typer.Option(help="Where answers are kept; those already there count.")
    ] = Path("answers.csv"),
    name: Annotated[
        str | None, typer.Option(help="Column of ITEMS that holds the name. [default: the first]")
    ] = None,
    questions: Annotated[int, typer.Option(help="Most questions to ask.")] = 20,
    C: Annotated[float, typer.Option("--C", help="Price of slack.")] = 10.0,
) -> None:
    """Ask which of two items is better, again and again, and rank all of them.

    Every question is the one whose answer tells most about the weights. Answer 1 or 2, s to
    skip, q to stop; answers are written at once, so that another day can go on:

        maxmargin ask smoke.csv --questions 15
        maxmargin ask captions.csv --answers anna.csv
        maxmargin rank anna.csv --items captions.csv
    """
    from ...parts.files.items import read_items

    check_outputs({"--answers": answers}, {"the items": items})
    table = read_items(items, name)
    _check_names(table.names)
    X = _scaled(table.X)
    pairs = _known(answers, table)
    skipped: list[tuple[int, int]] = []
    for number in range(1, questions + 1):
        asked = [*map(tuple, pairs), *skipped]
        found = _question(X, pairs, asked, C)
        if found is None:
            print("every pair has been compared")
            break
        said = _reply(number, table, *found)
        if said == "q":
            break
        if said == "s":
            skipped.append(found)
            continue
        winner, loser = found if said == "1" else found[::-1]
        _keep(answers, table.names[found[0]], table.names[found[1]], table.names[winner])
        pairs.append([winner, loser])
    _tell(table, X, pairs, C, answers)


def _check_names(names: list[str]) -> None:
    """Answers are read again by name, and by spreadsheets, which would run some of them."""
    for name in names:
        if without_formula(name) != name:
            raise ValueError(
                f"The item {name!r} would be a formula in a spreadsheet of answers. Give it a name "
                "that does not begin with =, +, - or @."
            )


def _scaled(X: np.ndarray) -> np.ndarray:
    import numpy as np

    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)


def _known(answers: Path, table: Items) -> list[list[int]]:
    """(winner, loser) rows that the file of answers holds."""
    if not answers.exists():
        return []
    pairs, _ = read_comparisons(answers, table.names)
    return pairs.tolist()


def _question(X, pairs, asked, C) -> tuple[int, int] | None:
    from ...models.ranking.ask import next_pair
    from ...models.ranking.pairwise_ranker import PairwiseRanker

    ranker = PairwiseRanker(C=C).fit(X, pairs) if pairs else None
    return next_pair(ranker, X, asked)


def _reply(number: int, table: Items, a: int, b: int) -> str:
    print(f"\nquestion {number}: which is better?")
    for side, row in (("1", a), ("2", b)):
        told = ", ".join(f"{f} {v:g}" for f, v in zip(table.features, table.X[row], strict=True))
        print(f"  {side}  {table.names[row]}   ({told})")
    while True:
        try:
            said = input("1, 2, s(kip) or q(uit): ").strip().lower()[:1]
        except EOFError:  # nobody is there to answer
            return "q"
        if said in ("1", "2", "s", "q"):
            return said


def _keep(answers: Path, a: str, b: str, winner: str) -> None:
    """Append one answer; the file is complete after each."""
    new = not answers.exists()
    with cautiously(answers), answers.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        writer.writerow((a, b, winner))


def _tell(table: Items, X, pairs, C: float, answers: Path) -> None:
    if not pairs:
        print("no answer yet: nothing is ranked")
        return
    from ...models.ranking.pairwise_ranker import PairwiseRanker

    ranker = PairwiseRanker(C=C).fit(X, pairs)
    print(f"\n{len(pairs)} answers; best first:")
    for place, row in enumerate(ranker.rank(X).tolist()[:10], start=1):
        print(f"  {place:2d}  {table.names[row]}")
    print(ranker.certificate_)
    print(f"answers are in {answers}", file=sys.stderr)
