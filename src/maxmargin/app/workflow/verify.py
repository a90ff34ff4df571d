"""verify_file: a model's claim, recomputed from its training data, in memory or in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...parts.files.form import FileOptions, as_form
from ...parts.files.model import TableModel
from .judge import judge

if TYPE_CHECKING:
    from ...parts.files.training import Labelled


class VerifiedData(NamedTuple):
    """What was found in some data."""

    name: str
    rows: int
    found: str
    relative_gap: float | None
    holds: bool


class ClaimRows(NamedTuple):
    """Rows of a claim: features and labels batch by batch, and the certificate they give."""

    name: str
    batches: Iterable[tuple[Any, Any]]
    certificate: Callable[[], Any]
    n_rows: Callable[[], int]  # once all have been seen


def verify_file(
    model: TableModel, files: FileOptions, tol: float, memory=None, on_read=None
) -> VerifiedData:
    """The claim of a model about a file; with ``memory`` about a folder of files, too."""
    rows = (
        _in_memory(model, files, on_read)
        if memory is None
        else _in_pieces(model, files, memory, tol)
    )
    claimed = model.model.certificate_
    if hasattr(claimed, "separates"):  # a perceptron claims a number of errors, no optimum
        errors = judge(model.model, rows.batches)
        holds = errors.wrong == claimed.wrong and errors.rows == claimed.points
        found = f"{errors.wrong} of {errors.rows} points wrong"
        return VerifiedData(rows.name, errors.rows, found, None, holds)
    certificate = rows.certificate()
    gap = getattr(certificate, "relative_gap", None)
    return VerifiedData(
        rows.name, rows.n_rows(), str(certificate), gap, bool(certificate.holds(tol))
    )


def _in_memory(model: TableModel, files: FileOptions, on_read) -> ClaimRows:
    """All rows at once."""
    from ...models.verify import verify

    rows = training_rows(model, files, on_read)
    X = model.features(rows.rows)
    return ClaimRows(
        rows.name, [(X, rows.y)],
        lambda: verify(model.model, X, rows.y, rows.weight), lambda: len(rows),
    )  # fmt: skip


def training_rows(model: TableModel, files: FileOptions, on_read=None) -> Labelled:
    """The rows of a file as the model was fitted to them."""
    from ...parts.files.tables import check_columns
    from ...parts.files.training import read_labelled, without_missing
    from .fit import split

    own, weights = model.target if model.is_table else files.target, model.summary.get("weights")
    rows = read_labelled(
        files.data, own, weights, model.form(as_form(files.format).format), on_read
    )
    if model.is_table:
        check_columns(model.preparation.types(), rows.rows.schema.names, rows.name)
    if "holdout" in model.summary:  # the same rows are held out again
        rows, _ = split(rows, model.summary["holdout"]["share"], model.summary["holdout"]["seed"])
    if _drops(model):
        rows = without_missing(rows, list(model.preparation.types()))
    return rows


def _in_pieces(model: TableModel, files: FileOptions, memory, tol: float) -> ClaimRows:
    """Some rows at a time, within ``memory``."""
    from ...parts.files.prepared import Counted, Scaled
    from ...parts.stream.memory_limit import parse_memory
    from ...parts.stream.table_files import like_training
    from ...parts.stream.verify import verify_stream
    from .stream_rows import labelled_batches

    limit, weights = parse_memory(memory), model.summary.get("weights")
    form = as_form(files.format).format
    found, _ = like_training(model, files.data, form, weights, _drops(model), files.target)
    scaled = not model.is_table and model.preparation.scale is not None
    source = Counted(Scaled(found, model.preparation) if scaled else found)
    return ClaimRows(
        found.name, labelled_batches(model, found, limit.read),
        lambda: verify_stream(model.model, source, memory=limit, tol=tol), lambda: source.rows,
    )  # fmt: skip


def _drops(model: TableModel) -> bool:
    return model.is_table and model.preparation.missing == "drop"
