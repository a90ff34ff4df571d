"""``maxmargin predict``: labels, scores, probabilities and distances for the rows of a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .excel_sheet import is_excel, write_sheet
from .interrupt import cautiously
from .options import CostsFile, Format, ModelFile, costs_for
from .output import check_outputs, without_formula, without_formulas
from .run import ReadingProgress


def predict(
    model: ModelFile,
    data: Annotated[str, typer.Argument(help="Rows to predict; - is standard input.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="CSV, TSV, Parquet or Excel; of an Excel file it is a copy with one more sheet. "
            "[default: CSV on standard output]",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column of DATA to copy to the output.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all-classes", help="Scores and probabilities of every class.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse words where numbers were in training.")
    ] = False,
    alpha: Annotated[
        float, typer.Option(help="Share of rows whose label the set of labels may miss.")
    ] = 0.1,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="That share of every class, not of all rows.")
    ] = False,
    costs: CostsFile = None,
    format: Format = None,
) -> None:
    """Predict the rows of a file, in their order; files may be larger than memory.

    One line for every row: prediction, score, probability with its lower
    and upper bound, the set of labels (a|b) that misses the true one in a
    share --alpha of rows, and distance to the boundary; what a model does
    not have is left out. With --costs, the cheapest decision and what it
    is expected to cost, too.  New levels, missing values and
    words where numbers were, which count as missing unless --strict, are
    reported on standard error.  In CSV and TSV a word that a spreadsheet
    would run as a formula, such as =A1, has an apostrophe before it.

        maxmargin predict model.maxmargin new.csv > predictions.csv
        maxmargin predict model.maxmargin new.pq -o out.parquet --keep id
        maxmargin predict model.maxmargin new.xlsx -o answered.xlsx
        maxmargin predict model.maxmargin new.csv --alpha 0.01 --per-class
        cat new.csv | maxmargin predict model.maxmargin - --all-classes
    """
    from ...models.calibration.conformal import check_alpha
    from ...parts.files.atomic import replacing
    from ...parts.files.columns import UnexpectedValues
    from ...parts.files.model import with_columns
    from ...parts.files.source import find_source
    from ..store.files import load
    from ..workflow.predict import Wanted, stream

    check_outputs({"--out": out}, {"the model": model, "the data": data, "the costs": costs})
    fitted = with_columns(load(model))
    source = find_source(data, fitted.form(format))
    notes = UnexpectedValues(strict)
    wanted = Wanted(check_alpha(alpha), per_class, costs_for(fitted, costs))
    batches = stream(fitted, source, list(keep or ()), every, notes, wanted)
    rows = 0
    if out is None:
        _write(batches, sys.stdout.buffer, out)
    else:
        with cautiously(out), replacing(out) as file:
            rows = write_sheet(batches, file, data) if is_excel(out) else _write(batches, file, out)
    for sentence in notes.sentences():
        typer.echo(f"note: {sentence}", err=True)
    if out is not None:
        typer.echo(f"wrote {rows} predictions to {out}", err=True)


def _write(batches, file, out: Path | None) -> int:
    """All batches in the format the name asks for; the first tells the columns."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    suffix = "" if out is None else out.suffix.lower()
    if suffix not in ("", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq"):
        raise ValueError(f"--out {out}: predictions are written as .csv, .tsv, .xlsx or .parquet.")
    rows, writer, show = 0, None, ReadingProgress("predicting")
    sink, binary = pa.PythonFile(file, mode="w"), suffix in (".parquet", ".pq")
    for batch in batches:
        batch = batch if binary else _without_formulas(batch)
        if writer is None and binary:
            writer = parquet.ParquetWriter(sink, batch.schema)
        elif writer is None:
            mark = "\t" if suffix in (".tsv", ".tab") else ","
            options = csv.WriteOptions(delimiter=mark, quoting_style="needed")
            writer = csv.CSVWriter(sink, batch.schema, write_options=options)
        writer.write_batch(batch)
        rows += batch.num_rows
        show(f"{rows} rows")
    show.done()
    if writer is not None:
        writer.close()
    file.flush()
    return rows


def _without_formulas(batch):
    """Words and names of columns as a spreadsheet may read them."""
    import pyarrow as pa

    columns = [without_formulas(c) if pa.types.is_string(c.type) else c for c in batch.columns]
    names = [without_formula(name) for name in batch.schema.names]
    return pa.record_batch(columns, names=names)
