"""Tables: CSV, TSV, Parquet and Arrow files, whole or some rows at a time.

The types of a CSV file's columns are guessed from its first rows.  Where a later one does not
fit, the file is read again with the next wider type: whole numbers, numbers, words.
"""

from __future__ import annotations

import io
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
from pyarrow import csv

from .limits import MemoryNeed, check_expansion, check_line, read_line
from .source import PIECE_BYTES, Source

# How many pieces of a CSV file are parsed at a time.
MAX_PARSE_THREADS = 16
# Rows of a Parquet or Arrow file handled together.
TABLE_BATCH_ROWS = 1 << 16
# Bytes of a large CSV file from which types are guessed, where the rest of its first piece agrees.
GUESSED_BYTES = 1 << 16
# Bytes of a Parquet column read at once.
PARQUET_BUFFER_BYTES = 1 << 16
WIDER_TYPES = {"null": pa.int64(), "int64": pa.float64()}
_CONVERSION_ERROR = re.compile(
    r"In CSV column #(\d+): .*?CSV conversion error to ([a-z0-9_]+).*?invalid value '(.*?)'",
    re.DOTALL,
)
_ROW_ERROR = re.compile(r"Row #(\d+): (.*)", re.DOTALL)


# Names of columns, or what chooses them from those of the header.
Names = Iterable[str] | Callable[[list[str]], Iterable[str]]


def read_table(source: Source, words: Names = ()) -> pa.Table:
    """The whole table, with types as found; the columns ``words`` of a CSV file are words, even
    where they look like numbers."""
    with explaining(source):
        if source.format in ("csv", "tsv"):
            table = _read_csv(source, words)
        elif source.format == "parquet":
            from pyarrow import parquet

            file = source.seekable()
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            _check_size(parquet.read_metadata(file), size, source)
            file.seek(0)
            table = parquet.read_table(file, use_threads=True)
        else:
            table = arrow_reader(source).read_all()
    _check_names(table.schema.names, source)
    if table.num_rows == 0:
        raise ValueError(f"{source.name} has columns but no rows.")
    return table


def read_header(source: Source) -> list[str]:
    """The names of the columns."""
    if source.path is not None and source.format in ("csv", "tsv"):
        with explaining(source), source.open() as file:
            return _opened(file, source)[0]
    return read_table(source).schema.names


def stream_table(
    source: Source,
    types: dict[str, pa.DataType],
    rows: int = TABLE_BATCH_ROWS,
    piece: int | None = None,
    strict: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Some rows at a time, the columns named in ``types`` as these types where the format has
    none of its own; other columns may come along.  ``piece``: bytes of a CSV file parsed at once.
    Not ``strict``: where a cell of a CSV file does not fit its type, some rows have words there.
    """
    with explaining(source):
        if source.format in ("csv", "tsv"):
            yield from _stream_csv(replace(source, strict=strict), types, rows, piece)
        elif source.format == "parquet":
            from pyarrow import parquet

            # Column by column through small buffers: else whole row groups are held at once.
            file = parquet.ParquetFile(
                source.seekable(), buffer_size=PARQUET_BUFFER_BYTES, pre_buffer=False
            )
            known = file.schema_arrow.names
            check_columns(types, known, source.name)
            columns = [name for name in types if name in known]
            # Threads decode all columns at once, each in memory of its own: not for readers who
            # ask for small pieces, since they are short of it.
            yield from file.iter_batches(rows, columns=columns, use_threads=piece is None)
        else:
            reader = arrow_reader(source)
            check_columns(types, reader.schema.names, source.name)
            for batch in reader:
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)


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
#
# Arrow cuts a file into blocks at line breaks, inside quotes too unless told otherwise, and may
# then lose rows in silence; told otherwise it is slower by a third.  So the file is cut here,
# where the number of quotes before is even, and Arrow parses whole pieces, several at a time.


class TooNarrow(Exception):
    """A value that does not fit the type its column had so far."""

    def __init__(self, column: str, type: str, value: str, row: int):
        self.column, self.type, self.value, self.row = column, type, value, row


class OddValue(ValueError):
    """A word in a column of numbers."""

    def __init__(self, file: str, row: int, column: str, value: str):
        super().__init__(
            f"{file}, row {row}: the column {column!r} held numbers when the model was fitted, "
            f"but here it holds {value!r}."
        )
        self.file, self.row, self.column, self.value = file, row, column, value


def _read_csv(source: Source, words: Names) -> pa.Table:
    """All of it, with types guessed from the first piece and widened where a later one needs it."""
    data = None if source.path is not None else source.read()
    types: dict[str, pa.DataType] = {} if callable(words) else dict.fromkeys(words, pa.string())
    while True:
        with source.open() if data is None else io.BytesIO(data) as file:
            names, pieces = _opened(file, source)
            if callable(words):
                types |= dict.fromkeys(words(names), pa.string())
            try:
                return _concatenated(pieces, names, source, types)
            except TooNarrow as found:
                types[found.column] = WIDER_TYPES.get(found.type, pa.string())


def _concatenated(pieces, names: list[str], source: Source, types: dict) -> pa.Table:
    first = next(pieces, None)
    if first is None:
        return pa.table({name: pa.nulls(0) for name in names})
    begin = _parse_first(first, names, source, types)
    known = dict(zip(begin.schema.names, begin.schema.types, strict=True))
    if any(pa.types.is_binary(kind) for kind in known.values()):
        raise pa.ArrowInvalid("invalid UTF8")  # Arrow takes it for bytes
    types |= known
    need, tables = MemoryNeed(source.name), [begin]
    for table in _in_parallel(pieces, names, source, types, None):
        need.add(table.nbytes)
        tables.append(table)
    return pa.concat_tables(tables)


def _stream_csv(
    source: Source, types: dict, rows: int, piece: int | None
) -> Iterator[pa.RecordBatch]:
    with source.open() as file:
        names, pieces = _opened(file, source, piece)
        check_columns(types, names, source.name)
        before = 0
        try:
            for table in _in_parallel(pieces, names, source, types, list(types)):
                before += table.num_rows
                yield from table.to_batches(rows)
        except TooNarrow as found:
            raise OddValue(source.name, before + found.row, found.column, found.value) from None
        except pa.ArrowInvalid as error:
            row = _ROW_ERROR.search(str(error))
            if row is None:
                raise
            raise ValueError(
                f"{source.name}, row {before + int(row[1])}: {row[2].splitlines()[0]}"
            ) from None


def first_rows(source: Source) -> pa.Table:
    """The first piece of a CSV file: its columns, and what they seem to hold."""
    with explaining(source), source.open() as file:
        names, pieces = _opened(file, source)
        first = next(pieces, None)
        if first is None:
            raise ValueError(f"{source.name} has columns but no rows.")
        return _parse(first, names, source, {}, None)


def _in_parallel(pieces, names, source: Source, types: dict, only) -> Iterator[pa.Table]:
    """Tables of the pieces in order; some are parsed ahead of their use."""
    workers = min(pa.cpu_count(), MAX_PARSE_THREADS)
    parse = _parse_large if source.is_large else _parse
    waiting: deque = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for piece in pieces:
                waiting.append(pool.submit(parse, piece, names, source, types, only))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for begun in waiting:
                begun.cancel()


def _parse_first(piece: memoryview, names: list[str], source: Source, types: dict) -> pa.Table:
    """The first piece, which says what types there are.

    Of a large file its first lines say so, unless the rest knows better: then it is not plain.
    """
    head = bytearray(piece[:GUESSED_BYTES]) if source.is_large else bytearray()
    cut = _last_line(head, len(head))
    if cut:
        few = _parse(piece[:cut], names, source, types, None).schema
        seen = types | dict(zip(few.names, few.types, strict=True))
        return _parse_large(piece, names, source, seen, None, types)
    return _parse(piece, names, source, types, None)


def _parse_large(
    piece: memoryview,
    names: list[str],
    source: Source,
    types: dict,
    only,
    asked: dict | None = None,
) -> pa.Table:
    """The same, where cells are plain, by a loop that takes time to compile; else by Arrow, as what
    was ``asked``."""
    from .plain_cells import parse

    found = parse(piece, names, source, types, only)
    if found is None:
        return _parse(piece, names, source, types if asked is None else asked, only)
    return found


def _parse(piece: memoryview, names: list[str], source: Source, types: dict, only) -> pa.Table:
    """One piece, as one block."""
    try:
        return csv.read_csv(
            pa.BufferReader(pa.py_buffer(piece)),
            csv.ReadOptions(block_size=len(piece) + 1, column_names=names, use_threads=False),
            csv.ParseOptions(delimiter=source.delimiter),  # one block: it needs no cutting
            _conversion(source, types, only),
        )
    except pa.ArrowInvalid as error:
        found = _CONVERSION_ERROR.search(str(error))
        if found is None:
            raise
        column, type, value = found.groups()
        if type == "timestamp" and (finer := _finer(types, names[int(column)])):
            return _parse(piece, names, source, finer, only)
        if not source.strict and types.get(names[int(column)]) != pa.string():
            wider = types | {names[int(column)]: pa.string()}
            return _parse(piece, names, source, wider, only)
        row = _row_of(piece, names, source, names[int(column)], value)
        raise TooNarrow(names[int(column)], type, value, row) from None


def _conversion(source: Source, types: dict, only) -> csv.ConvertOptions:
    """What cells become; a word for a missing value may have a space before it."""
    if source.missing is None:
        return csv.ConvertOptions(column_types=types, include_columns=only)
    words = [f"{space}{word}" for word in source.missing for space in ("", " ")]
    return csv.ConvertOptions(
        column_types=types, include_columns=only, null_values=words, strings_can_be_null=True
    )


def _finer(types: dict, column: str) -> dict | None:
    """Types by which nanoseconds can be read, if they were not tried."""
    finer = pa.timestamp("ns")
    return None if types.get(column) in (None, finer) else types | {column: finer}


def _row_of(piece: memoryview, names: list[str], source: Source, column: str, value: str) -> int:
    """The first row of a piece, counted from 1, with this value."""
    table = _parse(piece, names, source, {column: pa.string()}, [column])
    return table.column(0).to_pylist().index(value) + 1


def _opened(
    file, source: Source, least: int | None = None
) -> tuple[list[str], Iterator[memoryview]]:
    """The names of the columns, and pieces of the rows; without a header the first line is one."""
    pieces = _pieces(file, source.name, least)
    line = next(pieces)
    if source.names is None:
        names = _header(line, source)
        _check_names(names, source)
        return names, pieces
    return list(source.names), _with_first(line, pieces)


def _with_first(line: memoryview, pieces: Iterator[memoryview]) -> Iterator[memoryview]:
    yield memoryview(bytes(line) + bytes(next(pieces, b"")))
    yield from pieces


def _pieces(file, name: str, least: int | None = None) -> Iterator[memoryview]:
    """The first line, then pieces that end with a line."""
    header = bytearray(read_line(file, name))
    quotes = header.count(b'"')
    while quotes % 2 and (more := read_line(file, name)):
        header += more
        quotes += more.count(b'"')
        check_line(len(header), name)
    yield memoryview(header)
    rest: bytes | memoryview = b""
    while True:
        size = max(least or PIECE_BYTES, 2 * len(rest))
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
        check_line(len(rest), name)
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


def _check_size(metadata, size: int, source: Source) -> None:
    """Refuse a Parquet file that becomes far larger than it is: a few bytes can be many values."""
    values = metadata.num_rows * metadata.num_columns  # a byte each at least
    check_expansion(values, max(1, size), source.name)


def arrow_reader(source: Source):
    """Batches that are what they claim: Arrow reads a damaged one beyond its end."""
    file = source.seekable()
    start = file.read(6)
    file.seek(0)
    if start == b"ARROW1":
        whole = pa.ipc.open_file(file)
        batches = (whole.get_batch(i) for i in range(whole.num_record_batches))
        return pa.RecordBatchReader.from_batches(whole.schema, _validated(batches))
    stream = pa.ipc.open_stream(file)
    return pa.RecordBatchReader.from_batches(stream.schema, _validated(stream))


def _validated(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        batch.validate(full=True)
        yield batch


def table_types(source: Source) -> dict[str, pa.DataType]:
    """The columns of a table and their types, from its header or its first rows."""
    if source.format in ("csv", "tsv"):
        schema = first_rows(source).schema
    else:
        with explaining(source):
            if source.format == "parquet":
                from pyarrow import parquet

                schema = parquet.ParquetFile(source.seekable()).schema_arrow
            else:
                schema = arrow_reader(source).schema
    return dict(zip(schema.names, schema.types, strict=True))


@contextmanager
def explaining(source: Source):
    """Arrow's complaints with the name of the file, and what can be done about them."""
    try:
        yield
    except pa.ArrowMemoryError as error:
        raise MemoryError(f"{source.name}: {error}") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        text = str(error)
        if "Empty CSV" in text:
            raise ValueError(f"{source.name} is empty.") from None
        if "invalid UTF8" in text or "UTF8 payload" in text or "codec can't decode" in text:
            raise ValueError(
                f"{source.name} is not UTF-8. Convert it first, for example with "
                "`iconv -f latin1 -t utf8`."
            ) from None
        raise ValueError(f"{source.name} could not be read: {text.splitlines()[0]}") from None
    except (EOFError, zlib.error) as error:
        raise ValueError(f"{source.name} is damaged or cut off: {error}.") from None
