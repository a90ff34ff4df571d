"""forget_rows: the model of a file's rows without some of them, and how much it changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...parts.files.form import FileOptions
from ...parts.files.model import TableModel
from .rows import counted_classes


class Forgotten(NamedTuple):
    """The model of the rows that are left, how many these are, and how much changed."""

    model: TableModel
    gone: int
    rest: int
    moved: float  # ‖w′ − w‖ / ‖w‖, or nan where there are no weights
    changed: int  # rows left that are now given another label


def parse_rows(text: str) -> list[int]:
    """ "3,17-20" as numbers, counted from 1."""
    out: list[int] = []
    for word in text.replace(" ", "").split(","):
        first, dash, last = word.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()) or int(first) < 1:
            raise ValueError(
                f"--rows names rows counted from 1, as in 3,17-20; {word!r} in {text!r} does not."
            )
        out += range(int(first), int(last or first) + 1)
        if len(out) > MAX_NAMED_ROWS:
            raise ValueError(f"--rows names more than {MAX_NAMED_ROWS} rows; fit anew instead.")
    return out


# Rows that can be named: a range is written out.
MAX_NAMED_ROWS = 10_000_000


def forget_rows(model: TableModel, files: FileOptions, rows: list[int], on_read=None) -> Forgotten:
    """Forget rows of a file, counted from 1 as they stand in it; DATA must be that of the fit."""
    from ...models.forgetting.changed import without
    from .verify import training_rows

    known = training_rows(model, files, on_read)
    X = model.features(known.rows)
    gone = _places(known, rows)
    old = model.model
    new = without(old, gone, X, known.y, known.weight)
    rest = np.ones(len(known), dtype=bool)
    rest[gone] = False
    changed = int(np.count_nonzero(old.predict(X[rest]) != new.predict(X[rest])))
    summary = model.summary | {
        "rows": int(rest.sum()),
        "classes": counted_classes(known.y[rest]),
        "certificate": str(new.certificate_),
        "forgotten": int(model.summary.get("forgotten", 0)) + len(gone),
    }
    for told in ("training", "test", "tuning", "margin", "support", "holdout"):
        summary.pop(told, None)  # of the rows before
    found = replace(model, model=new, summary=summary)
    return Forgotten(found, len(gone), int(rest.sum()), _moved(old, new), changed)


def _places(known: Any, rows: list[int]) -> np.ndarray:
    """Where the rows of the file are among those that were fitted."""
    numbers = np.arange(len(known)) if known.numbers is None else known.numbers
    asked = np.unique(np.asarray(rows) - 1)
    there = np.isin(asked, numbers)
    if not there.all():
        raise ValueError(
            f"{known.name} has no row {int(asked[~there][0]) + 1} that was fitted: its rows are "
            f"numbered from 1 to {int(numbers.max()) + 1}; those without a label are left out."
        )
    return np.flatnonzero(np.isin(numbers, asked))


def _moved(old, new) -> float:
    if not hasattr(old, "coef_"):
        return float("nan")
    size = float(np.linalg.norm(old.coef_))
    return float(np.linalg.norm(new.coef_ - old.coef_)) / size if size > 0 else 0.0
