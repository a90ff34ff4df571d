"""Tables: CSV, TSV, Parquet and Arrow files, whole or some rows at a time.

Arrow guesses the types of a CSV file's columns from its first rows.  Where later rows do not
fit, the column is read again as the next wider type: whole numbers, numbers, words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
from pyarrow import csv

from .source import Source

# Bytes of a CSV file parsed together: large enough for threads, small enough for caches.
BLOCK = 1 << 20
# Bytes of a CSV file in memory at a time when it is streamed.
PIECE = 1 << 24
# Rows of a Parquet or Arrow file handled together.
ROWS = 1 << 16
# What Arrow says of a line that is longer than a block.
LONG_LINE = ("straddling object", "Empty CSV file or block")
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
    with _explaining(source):
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


def _options(source: Source, types: dict, block: int = BLOCK) -> dict:
    return {
        "read_options": csv.ReadOptions(block_size=block),
        "parse_options": csv.ParseOptions(
            delimiter=source.delimiter, newlines_in_values=source.quoted
        ),
        "convert_options": csv.ConvertOptions(column_types=types),
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
    source = replace(source, quoted=False)  # Arrow will complain of line breaks in values
    again, block = source.path is not None, BLOCK
    data = None if again else pa.py_buffer(source.open().read())
    while True:
        file = _input(source) if again else pa.BufferReader(data)
        try:
            table = csv.read_csv(file, **_options(source, types, block))
            if any(pa.types.is_binary(kind) for kind in table.schema.types):
                raise pa.ArrowInvalid("invalid UTF8")  # Arrow takes it for bytes
            return table
        except pa.ArrowInvalid as error:
            if block < 1 << 30 and any(words in str(error) for words in LONG_LINE):
                block *= 32
            elif (wider := _widened(str(error), source, types, data)) is not None:
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
    """Pieces that end with a line, each parsed by all threads while the one before is used."""
    with source.open() as file:
        pieces = _pieces(file)
        names = _header(next(pieces), source)
        check_columns(types, names, source.name)
        _check_names(names, source)
        with ThreadPoolExecutor(1) as ahead:
            waiting = None
            for piece in pieces:
                begun = ahead.submit(_parse_piece, piece, names, source, types)
                if waiting is not None:
                    yield from waiting.result().to_batches(ROWS)
                waiting = begun
            if waiting is not None:
                yield from waiting.result().to_batches(ROWS)


def _pieces(file) -> Iterator[memoryview]:
    """The first line, then pieces that end with a line."""
    rest: bytes | memoryview = file.readline()
    while bytes(rest).count(b'"') % 2 and (more := file.readline()):
        rest = bytes(rest) + more
    yield memoryview(rest)
    rest = b""
    while True:
        size = max(PIECE, 2 * len(rest))
        room = bytearray(size)
        room[: len(rest)] = rest
        with memoryview(room) as view:
            got = len(rest) + (file.readinto(view[len(rest) :]) or 0)
        if got == len(rest):
            break
        cut = _last_line(room, got)
        if cut:
            yield memoryview(room)[:cut]
        rest = memoryview(room)[cut:got]
    if bytes(rest).strip():
        yield memoryview(rest)


def _last_line(room: bytearray, end: int) -> int:
    """Where the last whole line ends.  A line break between quotes ends none: before a cut there
    is an even number of quotes."""
    cut = room.rfind(b"\n", 0, end) + 1
    odd = room.count(b'"', 0, cut) % 2
    while odd and cut:
        before = room.rfind(b"\n", 0, cut - 1) + 1
        odd = (odd + room.count(b'"', before, cut)) % 2
        cut = before
    return cut


def _header(line: memoryview, source: Source) -> list[str]:
    file = pa.BufferReader(bytes(line).removesuffix(b"\n") + b"\n")
    whole = csv.ReadOptions(block_size=len(line) + 2)
    table = csv.read_csv(file, whole, csv.ParseOptions(delimiter=source.delimiter))
    return table.schema.names


def _parse_piece(piece: memoryview, names: list[str], source: Source, types: dict) -> pa.Table:
    # Line breaks in values, and lines longer than a block, are rare; Arrow says when it meets them.
    for quoted, block in ((False, PIECE // 4), (True, len(piece) + 1)):
        try:
            return csv.read_csv(
                pa.BufferReader(pa.py_buffer(piece)),
                csv.ReadOptions(block_size=block, column_names=names),
                csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=quoted),
                csv.ConvertOptions(column_types=types, include_columns=list(types)),
            )
        except pa.ArrowInvalid as error:
            found = re.search(r"In CSV column #(\d+): .*?invalid value '(.*?)'", str(error))
            if found:
                raise ValueError(
                    f"{source.name}: the column {names[int(found.group(1))]!r} held numbers when "
                    f"the model was fitted, but here it holds {found.group(2)!r}."
                ) from None
            if quoted:
                raise
    raise AssertionError("unreachable")


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
def _explaining(source: Source):
    """Arrow's complaints with the name of the file, and what can be done about them."""
    try:
        yield
    except pa.ArrowInvalid as error:
        text = str(error)
        if "Empty CSV" in text:
            raise ValueError(f"{source.name} is empty.") from None
        if "invalid UTF8" in text or "UTF8 payload" in text or "codec can't decode" in text:
            raise ValueError(
                f"{source.name} is not UTF-8. Convert it first, for example with "
                "`iconv -f latin1 -t utf8`."
            ) from None
        raise ValueError(f"{source.name} could not be read: {text.splitlines()[0]}") from None
