"""fit_files: what `maxmargin fit --memory` does; data larger than memory, with the same proof."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from ...parts.files.columns import Notes
from ...parts.files.labels import labels_like
from ...parts.files.model import TableModel
from ...parts.files.preparation import Choices
from ...parts.files.prepared import RowFilter, TableFeatures
from ...parts.files.sources import Tables, alike, find_files, open_source
from ...parts.fit import check_possible, warn
from ...parts.stream.data import StreamData
from ...parts.stream.fit import fit_rows, reading
from ...parts.stream.folder import WorkFolder
from ...parts.stream.memory_limit import MemoryLimit
from ...parts.stream.progress import StreamProgress
from ...parts.stream.row_buffer import RowBuffer
from ...parts.stream.rows import StreamedRows
from ...parts.stream.training_summary import summarise_training
from .fit import Fitted, Streamed, is_proved, summary_of
from .judge import MOST_CLASSES, Errors, confusion
from .methods import Method, Plan, check_weights, find_method, make_estimator, parameters
from .stream_open import open_files
from .tuning import quietly, tune

# Rows, at most, that C is chosen on: cross-validation fits them sixty times and more.
TUNED = 50_000


def fit_files(
    data, plan: Plan, choices: Choices, limit: MemoryLimit, kept: Path, resume: bool,
    target: str | None = None, weights: str | None = None, format: str | None = None,
    test: str | None = None,
) -> Fitted:  # fmt: skip
    """Fit ``plan``'s method to a file or a folder of files within ``limit``.

    ``kept``: the folder of the checkpoint, of which nothing is left when the fit ends well.
    """
    method = _possible(plan, choices)
    check_weights(method, weights is not None)
    began = time.perf_counter()
    progress = StreamProgress()
    opened = open_files(data, target, weights, format, choices, limit, progress, plan.seed)
    source, notes = opened.source, opened.notes
    deadline = began + plan.max_seconds

    def left() -> float:
        return max(1e-3, deadline - time.perf_counter())

    def make(C):
        return make_estimator(method, plan, C, left())

    check_possible(make(plan.C or 1.0) if method.C else make(None), StreamData.where)
    with (
        WorkFolder(kept, resume) as folder,
        reading(source, limit, folder, progress, plan.seed) as (rows, shelf),
    ):
        some, X = opened.drawn(rows, shelf)
        progress.done()
        prepared = time.perf_counter()
        tuning, estimator = _chosen(method, plan, rows, shelf, make, left, notes)
        tuned = time.perf_counter()
        told = fit_rows(estimator, rows, shelf, progress)
        seen = summarise_training(estimator, rows)
        notes += quietly(lambda: warn(estimator, told))
        fitted = time.perf_counter()
        progress.done()
    estimator.__dict__.pop("feature_names_in_", None)
    model = TableModel(estimator, opened.prepared(rows), None, opened.target, {})
    errors = Errors(rows.n, seen.wrong, seen.table if len(rows.classes) <= MOST_CLASSES else None)
    result = Fitted(
        model, some, X, tuning, training=errors, test=None, proved=is_proved(estimator),
        seconds={"tune": tuned - prepared, "fit": fitted - tuned, "total": fitted - began},
        notes=notes, streamed=Streamed(opened.missing, seen.weights),
    )  # fmt: skip
    labels = zip(rows.classes, rows.counts, strict=True)
    classes = [[str(label), int(count)] for label, count in labels]
    model.summary.update(summary_of(result, method.name, classes))
    model.summary["streamed"] = {"memory": limit.limit, "passes": rows.passes}
    if seen.support:
        model.summary["support"] = seen.support
    if test is not None:
        result.test = judge_files(model, test, format, limit, notes)
        model.summary["test"] = result.test.to_dict()
    return result


def _possible(plan: Plan, choices: Choices) -> Method:
    method = find_method(plan)
    for name, asked in {
        f"--method {method.name}": method.kernel,
        "--basis": plan.basis is not None,
        "--text": bool(choices.text),
    }.items():
        if asked:
            raise ValueError(
                f"{name} needs all rows in memory and does not go with --memory. Leave one out."
            )
    return method


def _chosen(method: Method, plan: Plan, rows: StreamedRows, shelf: RowBuffer, make, left, notes):
    """The estimator with the C asked for, or chosen on a sample."""
    if plan.C is not None or not plan.tune or not (method.tuned or method.C == "alpha"):
        return None, make(plan.C if plan.C is not None or not method.tuned else 1.0)
    X, y, weight = _some(rows, shelf, plan.seed)
    share = "all rows" if len(y) == rows.n else f"{len(y)} of {rows.n} rows, by lot"
    if method.tuned:
        tuning, _, warned = tune(
            method, parameters(method, plan, left()), X, y, weight, plan.folds, plan.seed
        )
        notes += warned
        notes.append(f"C was chosen on {share}")
        return tuning, make(tuning.C)
    found = make(None).fit(X, y)
    notes.append(f"alpha was chosen on {share}")
    return None, make(1.0 / found.alpha_)


def _some(rows: StreamedRows, shelf: RowBuffer, seed: int) -> tuple[Any, np.ndarray, Any]:
    """At most TUNED rows of the sample with labels; weights are those of the rows."""
    m = shelf.count
    some = np.sort(np.random.default_rng(seed).permutation(m)[:TUNED])
    y = rows.classes[shelf.y[some].astype(int)]
    weight = shelf.c[some] * (len(some) / shelf.c[some].sum())
    return shelf.matrix()[some], y, None if np.allclose(weight, 1.0) else weight


def judge_files(
    model: TableModel, test: str, format, limit: MemoryLimit, notes: list[str]
) -> Errors:
    """Errors on rows the model has not seen, some at a time."""
    source, features = like_training(model, test, format)
    classes = model.model.classes_
    few = len(classes) <= MOST_CLASSES
    rows, wrong, table = 0, 0, np.zeros((len(classes),) * 2, dtype=np.int64) if few else None
    for chunk in source.chunks(limit.read):
        if chunk.X is None:
            continue
        said = model.model.predict(_numbered(model, chunk.X))
        y = labels_like(chunk.y, classes)
        rows, wrong = rows + len(y), wrong + int((said.astype(str) != y.astype(str)).sum())
        if table is not None:
            table = table + confusion(said, y, classes) if np.isin(y, classes).all() else None
    notes += [f"test data, {sentence}" for sentence in features.notes.sentences()]
    return Errors(rows, wrong, table)


def like_training(model: TableModel, data, format, weights: str | None = None, drop: bool = False,
                  target: str | None = None):  # fmt: skip
    """Other files as a source of a model's features, which count what is odd about them.

    ``drop``: rows with missing values are left out, as they were in training.
    """
    features = TableFeatures(model.preparation)
    if not model.is_table:
        return open_source(data, target, format=format, weights=weights), features
    types = model.preparation.types()
    return Tables(
        alike(find_files(data), format), model.target, weights,
        features=features, types=types, sift=RowFilter(model.target, list(types), drop),
    ), features  # fmt: skip


def _numbered(model: TableModel, X):
    """Columns of a matrix counted, and scaled, as in the training file."""
    if model.is_table:
        return X
    base = model.preparation.base
    return model.preparation(X[:, base:] if base else X, Notes())


def checkpoint_of(out: Path) -> Path:
    """Where the fit of a model file keeps what it needs to be gone on with."""
    return out.with_name(out.name + ".resume")
