"""Files that hold a table and are no CSV, as the CSV they could be: ARFF and KEEL, and Excel.

    @relation iris
    @attribute length real [4.3, 7.9]
    @attribute 'petal width' numeric
    @attribute kind {setosa, 'not so'}
    @data
    5.1, 0.2, setosa

A line of the file becomes one of the CSV, so that everything else is done where CSV is read.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|[^\s{]+)", re.IGNORECASE)
# Cells of a sheet, at most: all of them are in memory as text.
MAX_CELLS = 20_000_000


def is_arff(glance: bytes) -> bool:
    """Whether the first line that is no comment names a relation or an attribute."""
    for line in glance.splitlines():
        text = line.strip().lower()
        if text and not text.startswith(b"%"):
            return text.startswith((b"@relation", b"@attribute"))
    return False


class LinesFile(io.RawIOBase):
    """A file made of lines, one after the other."""

    def __init__(self, lines: Iterator[bytes], file: Any):
        self.lines, self.file, self.rest = lines, file, b""

    def readable(self) -> bool:
        return True

    def readinto(self, room) -> int:
        if not self.rest:
            self.rest = next(self.lines, b"")
        got = min(len(room), len(self.rest))
        room[:got] = self.rest[:got]
        self.rest = self.rest[got:]
        return got

    def close(self) -> None:
        self.file.close()
        super().close()


def arff_as_csv(file, name: str) -> io.BufferedReader:
    return io.BufferedReader(LinesFile(_arff_lines(file, name), file), 1 << 16)


def _arff_lines(file, name: str) -> Iterator[bytes]:
    names: list[str] = []
    for raw in file:
        line = raw.decode("utf-8", errors="replace").strip()
        if found := _ATTRIBUTE.match(line):
            names.append(found[1].strip("'\""))
        if line.lower().startswith("@data"):
            break
    if not names:
        raise ValueError(f"{name} names no @attribute before its @data.")
    yield _as_line(names)
    for raw in file:
        line = raw.decode("utf-8", errors="replace").strip()
        if line.startswith("{"):
            raise ValueError(f"{name} is a sparse ARFF file, which is not read. Write svmlight.")
        if line and not line.startswith("%"):
            mark = "'" if "'" in line else '"'
            cells = next(csv.reader([line], quotechar=mark, skipinitialspace=True))
            yield _as_line([cell.strip() for cell in cells])


def _as_line(cells: list[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue().encode()


def excel_as_csv(file, name: str) -> io.BytesIO:
    """The first sheet of a workbook; dates as YYYY-MM-DD, formulas by their last values."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError(
            f"{name}: Excel files need the extra excel: pip install 'maxmargin[excel]'. Or save "
            "the sheet as CSV."
        ) from None
    out = io.StringIO()
    lines, cells = csv.writer(out, lineterminator="\n"), 0
    try:
        whole = file if file.seekable() else io.BytesIO(file.read())  # it is read from its end
        sheet = load_workbook(whole, read_only=True, data_only=True).worksheets[0]
        for row in sheet.iter_rows(values_only=True):
            cells += len(row)
            if cells > MAX_CELLS:
                raise ValueError(f"its first sheet has more than {MAX_CELLS} cells")
            if any(value is not None for value in row):
                lines.writerow([_cell(value) for value in row])
    except Exception as error:  # whatever a damaged workbook makes of its reader
        raise ValueError(
            f"{name} could not be read as an Excel file: {error}. Save it as CSV."
        ) from None
    return io.BytesIO(out.getvalue().encode())


def _cell(value: Any) -> Any:
    """As a CSV file would have it."""
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        text = value.isoformat(sep=" ") if hasattr(value, "hour") else value.isoformat()
        return text.removesuffix(" 00:00:00")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return int(value)
    return value
