"""Predictions as a new sheet of a copy of the workbook they were made for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

SHEET = "predictions"
EXCEL_SUFFIXES = (".xlsx", ".xlsm")
# Rows and letters that a sheet and a cell may have.
MAX_SHEET_ROWS, MAX_CELL_LETTERS = 1_048_576, 32_767


def is_excel(path: Path | None) -> bool:
    return path is not None and path.suffix.lower() in EXCEL_SUFFIXES


def write_sheet(batches: Iterable, file, data: str) -> int:
    """All batches into ``file``: a copy of the workbook ``data`` with one more sheet, or a new
    workbook where the rows came from elsewhere.  How many rows there were."""
    try:
        from openpyxl import Workbook, load_workbook
    except ImportError:
        raise ImportError(
            "Excel files need the extra excel: pip install 'maxmargin[excel]'."
        ) from None
    book = load_workbook(data, keep_vba=data.lower().endswith(".xlsm")) if _is_book(data) else None
    if book is None:
        book = Workbook()
        book.remove(book.active)
    sheet = book.create_sheet(_free_name(book.sheetnames))
    rows = 0
    for batch in batches:
        if rows == 0:
            sheet.append([_cell(name) for name in batch.schema.names])
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append([_cell(value) for value in row])
        rows += batch.num_rows
        if rows >= MAX_SHEET_ROWS:
            raise ValueError(f"A sheet holds {MAX_SHEET_ROWS:,} rows. Write CSV or Parquet.")
    for cells in sheet.iter_rows():
        for cell in cells:
            if cell.data_type == "f":  # a word that begins with =, and no formula of ours
                cell.data_type = "s"
    book.save(file)
    return rows


def _is_book(data: str) -> bool:
    return Path(data).suffix.lower() in EXCEL_SUFFIXES


def _free_name(taken: list[str]) -> str:
    """ "predictions", or the next number of it: no sheet is ever replaced."""
    if SHEET not in taken:
        return SHEET
    number = 2
    while f"{SHEET} {number}" in taken:
        number += 1
    return f"{SHEET} {number}"


def _cell(value):
    """Words without what no cell may hold."""
    if not isinstance(value, str):
        return value
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", value)[:MAX_CELL_LETTERS]
