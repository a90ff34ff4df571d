"""What a page asks for, as the arguments of a command.

Values are given as ``--option=value``, so that a column called ``--out`` is a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .jobs import JobStep

MAX_TEXT_LENGTH = 1000
FIT_OPTIONS = ("method", "kernel", "basis", "multiclass")
COMPARE_OPTIONS = ("methods", "bases")
COLUMN_USES = ("drop", "category", "text")
# Most time of a job where the page asks for no other: what is there by then is shown.
DEFAULT_BUDGET = "60s"
PREDICTIONS_FILE = "predictions.csv"


def steps(asked: dict, described: dict) -> Callable[[str], list[JobStep]]:
    """The commands of a job on a file of which this was told; ``ValueError`` where it cannot be."""
    command = asked.get("command")
    if command not in ("fit", "compare"):
        raise ValueError(f"The studio can fit or compare, not {str(command)[:40]!r}.")
    options = _columns(asked, described)
    if budget := asked.get("budget", DEFAULT_BUDGET):
        options.append(f"--budget={_text('budget', budget)}")
    for name in FIT_OPTIONS if command == "fit" else COMPARE_OPTIONS:
        if (value := asked.get(name)) not in (None, ""):
            options.append(f"--{name}={_text(name, value)}")
    if command == "compare":
        return lambda file: [
            JobStep("Comparing methods", _line("compare", file, [*options, "--report=report.html"]),
                 "result"),
        ]  # fmt: skip
    options += _numbers(asked)
    return lambda file: [
        JobStep("Fitting", _line("fit", file, options), "result"),
        JobStep(
            "Looking at every row",
            ["maxmargin.app.studio.worst", "model.maxmargin", file],
            "rows",
            needed=False,
        ),
    ]


def prediction_steps(model: str) -> Callable[[str], list[JobStep]]:
    """The commands that predict another file with a model that lies beside it."""
    return lambda file: [
        JobStep(
            "Predicting",
            ["maxmargin", "predict", model, file, f"--out={PREDICTIONS_FILE}"],
            "said",
            prints=False,
        ),
        JobStep(
            "Counting",
            ["maxmargin.app.studio.predictions", PREDICTIONS_FILE],
            "result",
        ),
    ]


def _line(command: str, file: str, options: list[str]) -> list[str]:
    return ["maxmargin", command, file, *options, "--json"]


def _columns(asked: dict, described: dict) -> list[str]:
    """Target and uses of columns, which must be columns of the file."""
    if not described.get("table"):
        return []
    known = {column["name"] for column in described["columns"]}

    def column(what: str, name: Any) -> str:
        if not isinstance(name, str) or name not in known:
            raise ValueError(f"The file has no column {str(name)[:80]!r} for {what}.")
        if "\0" in name:
            raise ValueError(f"The name of the column {name[:80]!r} holds a zero byte. Rename it.")
        return f"--{what}={name}"

    if asked.get("target") is None:
        raise ValueError("Which column holds the labels? Choose the target.")
    found = [column("target", asked["target"])]
    for use in COLUMN_USES:
        names = asked.get(use) or []
        if not isinstance(names, list):
            raise ValueError(f"{use} must be a list of columns.")
        found += [column(use, name) for name in names if name != asked["target"]]
    return found


def _numbers(asked: dict) -> list[str]:
    """C, where it is given, and the share held out."""
    found = []
    C = asked.get("C")
    if C is not None:
        value = math.inf if C == "inf" else _number("C", C)
        if not value > 0:
            raise ValueError(f"C must be above 0, or inf for a hard margin; got {value:g}.")
        found.append(f"--C={value:g}")
    share = _number("holdout", asked.get("holdout") or 0)
    if not 0 <= share < 1:
        raise ValueError(f"The share held out must be between 0 and 1, got {share:g}.")
    return [*found, f"--holdout={share:g}"] if share else found


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number, got {str(value)[:40]!r}.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number of at most 1e308, got a larger one.") from None


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT_LENGTH or "\0" in value:
        raise ValueError(f"{name} must be a word.")
    return value
