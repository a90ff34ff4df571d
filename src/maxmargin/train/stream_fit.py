"""fit_files: what `maxmargin fit --memory` does; data larger than memory, with the same proof."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data.columns import Notes
from ..data.model import MatrixPreparation, TableModel
from ..data.preparation import Choices
from ..data.tables import check_columns
from ..data.training import Labelled
from ..stream.fit import fit_rows, reading
from ..stream.folder import WorkFolder
from ..stream.learn import Prepared, column_readings, learn_streamed
from ..stream.machines import check, warn
from ..stream.memory import Memory
from ..stream.progress import Progress
from ..stream.rows import StreamedRows
from ..stream.shelf import Shelf
from ..stream.sources import Svmlight, Tables, open_source
from .fit import Fitted, filled, is_proved, summary_of
from .judge import Errors
from .methods import Method, Plan, find_method, make_estimator
from .tuning import quietly, tune

# Rows, at most, that C is chosen on: cross-validation fits them sixty times and more.
TUNED = 50_000


class Sifter:
    """Leaves out rows without a label, and rows with missing values if that was asked for."""

    def __init__(self, target: str, features: list[str], drop: bool):
        self.target, self.features, self.drop = target, features, drop
        self.unlabelled = self.incomplete = 0
        self.counting = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        there = _there(batch.column(self.target))
        lost = len(there) - int(pc.sum(there).as_py() or 0)
        self.unlabelled += lost if self.counting else 0
        batch = batch.filter(there) if lost else batch
        if not self.drop:
            return batch
        whole = None
        for name in self.features:
            one = _there(batch.column(name))
            whole = one if whole is None else pc.and_(whole, one)
        lost = batch.num_rows - int(pc.sum(whole).as_py() or 0)
        self.incomplete += lost if self.counting else 0
        return batch.filter(whole) if lost else batch

    def sentences(self) -> list[str]:
        told = []
        if self.unlabelled:
            told.append(f"{self.unlabelled} rows without a label in {self.target!r} were left out")
        if self.incomplete:
            told.append(
                f"{self.incomplete} rows with missing values were left out (--missing drop)"
            )
        return told


def _there(column: pa.Array) -> pa.Array:
    floating = pa.types.is_floating(column.type)
    there = pc.invert(pc.is_null(column, nan_is_null=floating))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        there = pc.and_(there, pc.fill_null(pc.not_equal(column, ""), False))
    return there


def fit_files(
    data, plan: Plan, choices: Choices, limit: Memory, kept: Path, resume: bool,
    target: str | None = None, weights: str | None = None, format: str | None = None,
    test: str | None = None,
) -> Fitted:  # fmt: skip
    """Fit ``plan``'s method to a file or a folder of files within ``limit``.

    ``kept``: the folder of the checkpoint, of which nothing is left when the fit ends well.
    """
    method = _possible(plan, choices)
    began = time.perf_counter()
    progress = Progress()
    notes: list[str] = []
    source, preparation, sifter = _open(
        data, target, weights, format, choices, limit, notes, progress
    )
    deadline = began + plan.max_seconds

    def make(C):
        return make_estimator(method, plan, C, max(1e-3, deadline - time.perf_counter()))

    check(make(plan.C or 1.0) if method.C else make(None))
    with (
        WorkFolder(kept, resume) as folder,
        reading(source, limit, folder, progress, plan.seed) as (rows, shelf),
    ):
        if preparation is None:
            preparation = MatrixPreparation(rows.n_features, rows.base)
        notes += _told(source, preparation, sifter)
        prepared = time.perf_counter()
        tuning, estimator = _chosen(method, plan, rows, shelf, make, notes)
        tuned = time.perf_counter()
        stopped = fit_rows(estimator, rows, shelf, progress)
        notes += quietly(lambda: warn(estimator, stopped))
        fitted = time.perf_counter()
        progress.done()
        estimator.__dict__.pop("feature_names_in_", None)
        where = source.target if isinstance(source, Tables) else "y"
        model = TableModel(estimator, preparation, None, where, {})
        seen = estimator._streamed
        result = Fitted(
            model, Labelled(source.name, None, np.empty(0), where), None, tuning,
            training=Errors(seen["rows"], seen["wrong"]), test=None, proved=is_proved(estimator),
            seconds={"tune": tuned - prepared, "fit": fitted - tuned, "total": fitted - began},
            notes=notes,
        )  # fmt: skip
    labels = zip(rows.classes, rows.counts, strict=True)
    classes = [[str(label), int(count)] for label, count in labels]
    model.summary.update(summary_of(result, method.name, classes))
    model.summary["streamed"] = {"memory": limit.limit, "passes": rows.passes}
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


def _open(data, target, weights, format, choices: Choices, limit, notes, progress):
    """The source, what makes features of its columns, and what leaves rows out."""
    plain = open_source(data, format=format) if _is_matrix(data, format) else None
    if plain is not None:
        if target is not None or weights is not None or choices.drop or choices.category:
            raise ValueError(
                "--target, --weights, --drop and --category name columns of a table; svmlight "
                "files have none."
            )
        return plain, None, None
    from ..data.labels import choose_name
    from ..data.source import find_source
    from ..stream.sources import column_types, find_files

    files = [find_source(path, format) for path in find_files(data)]
    types = column_types(files[0])
    target = choose_name(list(types), target, files[0].name, "with --target")
    check_columns([*choices.drop, *choices.category], list(types), files[0].name)
    others = [target] if weights is None else [target, weights]
    left = {name: t for name, t in types.items() if name not in (*others, *choices.drop)}
    drop = choices.missing == "drop"
    learned = learn_streamed(
        files, left, others, choices, limit, progress, Sifter(target, list(left), drop)
    )
    notes += [f"{name} was left out: {why}" for name, why in learned.left_out.items()]
    preparation = learned.preparation
    read = column_readings(left, choices) if drop else preparation.types()
    sifter = Sifter(target, list(left), drop)
    source = Tables(
        files, target, weights, features=Prepared(preparation), types=read, sift=sifter,
        key=f"{preparation!r} {choices.missing}",
    )  # fmt: skip
    return source, preparation, sifter


def _is_matrix(data, format) -> bool:
    """Whether the files hold a matrix rather than a table."""
    from ..data.source import find_source
    from ..stream.sources import find_files

    path = find_files(data)[0]
    if path.suffix in (".npy", ".npz"):
        raise ValueError(
            f"{path}: --memory reads tables and svmlight files. From Python, "
            "fit_stream takes X.npy with y.npy."
        )
    return not find_source(path, format).is_table


def _told(source, preparation, sifter: Sifter | None) -> list[str]:
    """Rows left out and values filled in, counted while everything was read for the cache."""
    if sifter is None:
        return []
    sifter.counting = False
    missing = source.features.notes.missing
    return sifter.sentences() + [
        f"{name}: {count} missing values, {filled(preparation, name)}"
        for name, count in missing.items()
    ]


def _chosen(method: Method, plan: Plan, rows: StreamedRows, shelf: Shelf, make, notes):
    """The estimator with the C asked for, or chosen on a sample."""
    if plan.C is not None or not plan.tune or not (method.tuned or method.C == "alpha"):
        return None, make(plan.C if plan.C is not None or not method.tuned else 1.0)
    X, y, weight = _some(rows, shelf, plan.seed)
    share = "all rows" if len(y) == rows.n else f"{len(y)} of {rows.n} rows, by lot"
    if method.tuned:
        tuning, _, warned = tune(make, X, y, weight, plan.folds, plan.seed)
        notes += warned
        notes.append(f"C was chosen on {share}")
        return tuning, make(tuning.C)
    found = make(None).fit(X, y)
    notes.append(f"alpha was chosen on {share}")
    return None, make(1.0 / found.alpha_)


def _some(rows: StreamedRows, shelf: Shelf, seed: int) -> tuple[Any, np.ndarray, Any]:
    """At most TUNED rows of the sample with labels; weights are those of the rows."""
    m = shelf.count
    some = np.sort(np.random.default_rng(seed).permutation(m)[:TUNED])
    y = rows.classes[shelf.y[some].astype(int)]
    weight = shelf.c[some] * (len(some) / shelf.c[some].sum())
    return shelf.matrix()[some], y, None if np.allclose(weight, 1.0) else weight


def judge_files(model: TableModel, test: str, format, limit: Memory, notes: list[str]) -> Errors:
    """Errors on rows the model has not seen, some at a time."""
    if model.is_table:
        from ..data.source import find_source
        from ..stream.sources import find_files

        features = Prepared(model.preparation)
        source: Any = Tables(
            [find_source(path, format) for path in find_files(test)], model.target, None,
            features=features, types=model.preparation.types(),
            sift=Sifter(model.target, [], False),
        )  # fmt: skip
    else:
        source = Svmlight(open_source(test, format=format).files)
    rows = wrong = 0
    for chunk in source.chunks(limit.read):
        if chunk.X is None:
            continue
        X = chunk.X if model.is_table else _numbered(model, chunk.X)
        said = model.model.predict(X)
        rows, wrong = (
            rows + len(said),
            wrong + int(np.count_nonzero(said.astype(str) != chunk.y.astype(str))),
        )
    if model.is_table:
        notes += [f"test data, {sentence}" for sentence in Notes.sentences(features.notes)]
    return Errors(rows, wrong)


def _numbered(model: TableModel, X):
    """Columns counted as in the training file."""
    base = model.preparation.base
    return model.preparation(X[:, base:] if base else X, Notes())


def checkpoint_of(out: Path) -> Path:
    """Where the fit of a model file keeps what it needs to be gone on with."""
    return out.with_name(out.name + ".resume")
