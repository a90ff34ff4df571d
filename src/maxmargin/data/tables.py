"""Tables: CSV, TSV, Parquet and Arrow files, whole or some rows at a time.

Arrow guesses the types of a CSV file's columns from its first rows.  Where later rows do not
fit, the column is read again as the next wider type: whole numbers, numbers, words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
from pyarrow import csv

from .source import Source

# Bytes of a CSV file parsed together: large enough for threads, small enough for caches.
BLOCK = 1 << 20
STREAM_BLOCK = 1 << 22
# Rows of a Parquet or Arrow file handled together.
ROWS = 1 << 16
WIDER = {"int64": pa.float64(), "double": pa.string(), "null": pa.string(), "bool": pa.string()}


def read_table(source: Source) -> pa.Table:
    """The whole table, with types as found."""
    with _explaining(source):
        if source.format in ("csv", "tsv"):
            table = _read_csv(source)
        elif source.format == "parquet":
            from pyarrow import parquet

            table = parquet.read_table(source.seekable(), use_threads=True)
        else:
            table = _arrow_reader(source).read_all()
    _check_names(table.schema.names, source)
    if table.num_rows == 0:
        raise ValueError(f"{source.name} has columns but no rows.")
    return table


def stream_table(source: Source, types: dict[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    """Some rows at a time, the columns named in ``types`` as these types where the format has
    none of its own; other columns may come along."""
    with _explaining(source, types):
        if source.format in ("csv", "tsv"):
            yield from _stream_csv(source, types)
        elif source.format == "parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(source.seekable())
            known = file.schema_arrow.names
            check_columns(types, known, source.name)
            yield from file.iter_batches(ROWS, columns=[name for name in types if name in known])
        else:
            reader = _arrow_reader(source)
            check_columns(types, reader.schema.names, source.name)
            for batch in reader:
                for start in range(0, batch.num_rows, ROWS):
                    yield batch.slice(start, ROWS)


def check_columns(wanted, found: list[str], where: str) -> None:
    """Every column wanted is there; else which is not, what is, and the closest name."""
    from difflib import get_close_matches

    missing = [name for name in wanted if name not in found]
    if not missing:
        return
    text = f"{where} has no column {missing[0]!r}"
    if len(missing) > 1:
        text += f" (and {len(missing) - 1} more that the model needs)"
    text += f". It has: {', '.join(found[:20])}{', …' if len(found) > 20 else ''}."
    close = get_close_matches(missing[0], found, n=1, cutoff=0.5)
    close = close or [name for name in found if name.lower() == missing[0].lower()]
    raise ValueError(text + (f" Did you mean {close[0]!r}?" if close else ""))


def _check_names(names: list[str], source: Source) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{source.name} has two columns called {name!r}. Rename one of them.")
        seen.add(name)


# --- CSV --------------------------------------------------------------------------------


def _options(source: Source, types: dict, only: list[str] | None = None, block: int = BLOCK):
    return {
        "read_options": csv.ReadOptions(block_size=block),
        "parse_options": csv.ParseOptions(
            delimiter=source.delimiter, newlines_in_values=source.quoted
        ),
        "convert_options": csv.ConvertOptions(column_types=types, include_columns=only),
    }


def _input(source: Source):
    """What Arrow reads quickest: the path, or decompressed bytes."""
    if source.path is None:
        return pa.PythonFile(source.open(), mode="r")
    if source.compression is None:
        return str(source.path)
    return pa.input_stream(str(source.path), compression=source.compression)


def _read_csv(source: Source) -> pa.Table:
    types: dict[str, pa.DataType] = {}
    source = replace(
        source, quoted=False
    )  # if there are line breaks in values, Arrow will complain
    again = source.path is not None
    data = None if again else pa.py_buffer(source.open().read())
    while True:
        file = _input(source) if again else pa.BufferReader(data)
        try:
            return csv.read_csv(file, **_options(source, types))
        except pa.ArrowInvalid as error:
            wider = _widened(str(error), source, types, data)
            if wider is not None:
                types |= wider
            elif not source.quoted:
                source = replace(source, quoted=True)
            else:
                raise


def _widened(message: str, source: Source, types: dict, data) -> dict | None:
    """The column that does not fit its type, with the next wider type."""
    found = re.search(r"In CSV column #(\d+): CSV conversion error to ([\w\[\]]+)", message)
    if found is None:
        return None
    file = _input(source) if data is None else pa.BufferReader(data)
    names = csv.open_csv(file, **_options(source, types)).schema.names
    kind = found.group(2).split("[")[0]
    return {names[int(found.group(1))]: WIDER.get(kind, pa.string())}


def _stream_csv(source: Source, types: dict) -> Iterator[pa.RecordBatch]:
    only = None
    if source.path is not None:
        names = csv.open_csv(_input(source), **_options(source, types)).schema.names
        check_columns(types, names, source.name)
        _check_names(names, source)
        only = list(types)
    reader = csv.open_csv(_input(source), **_options(source, types, only, STREAM_BLOCK))
    check_columns(types, reader.schema.names, source.name)
    yield from reader


def _arrow_reader(source: Source):
    file = source.seekable()
    start = file.read(6)
    file.seek(0)
    if start == b"ARROW1":
        whole = pa.ipc.open_file(file)
        batches = (whole.get_batch(i) for i in range(whole.num_record_batches))
        return pa.RecordBatchReader.from_batches(whole.schema, batches)
    return pa.ipc.open_stream(file)


@contextmanager
def _explaining(source: Source, types: dict | None = None):
    """Arrow's complaints with the name of the file, and what can be done about them."""
    try:
        yield
    except pa.ArrowInvalid as error:
        text = str(error)
        if "Empty CSV" in text:
            raise ValueError(f"{source.name} is empty.") from None
        if "invalid UTF8" in text or "codec can't decode" in text:
            raise ValueError(
                f"{source.name} is not UTF-8. Convert it first, for example with "
                "`iconv -f latin1 -t utf8`."
            ) from None
        found = re.search(r"In CSV column #(\d+): .*?invalid value '(.*?)'", text)
        if found and types is not None:
            name = list(types)[int(found.group(1))] if source.path is not None else "?"
            raise ValueError(
                f"{source.name}: the column {name!r} held numbers when the model was fitted, but "
                f"here it holds {found.group(2)!r}."
            ) from None
        raise ValueError(f"{source.name} could not be read: {text.splitlines()[0]}") from None
