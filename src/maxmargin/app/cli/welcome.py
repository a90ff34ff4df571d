"""``maxmargin`` alone: what it can do in five lines, and a question."""

from __future__ import annotations

import sys

from ... import __version__

ABILITIES = """maxmargin {version}: linear classification with proof
  maxmargin fit data.csv --target COLUMN     a model from a table (CSV, Excel, …) and a report
  maxmargin predict model.maxmargin new.csv  labels and probabilities for new rows
  maxmargin compare data.csv -t COLUMN       which method is best, honestly judged
  maxmargin studio                           the same, and a playground, in your browser
  maxmargin demo, maxmargin --help           a demonstration; all commands"""


def welcome() -> None:
    """Tell, and at a terminal ask for a file to begin with."""
    print(ABILITIES.format(version=__version__))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    file = _ask("\nWhich file shall I begin with? (Enter: none) ")
    if file:
        _begin(file)


def _ask(question: str) -> str:
    try:
        return input(question).strip().strip("'\"")
    except EOFError:
        return ""


def _begin(file: str) -> None:
    """Fit it; where its labels are not plain to see, ask for them once."""
    from .fit import fit
    from .run import command, typed

    target = None
    try:
        typed.set(("fit", file))
        return command(fit)(data=[file])
    except ValueError as error:
        if "--target" not in str(error):
            raise
        print(error)
        target = _ask("Which column is to be predicted? ")
    if target:
        typed.set(("fit", file, "--target", target))
        command(fit)(data=[file], target=target)
