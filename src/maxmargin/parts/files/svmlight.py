"""svmlight files, some lines at a time; a line that cannot be read is named."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .limits import lines_of
from .readers import BadRow, Chunk, refuse_not_finite, whole_labels
from .source import Source

# What the reader of scikit-learn counts up to.
MAX_COLUMN_NUMBER = 2**31 - 2
_BLANK_LINES = re.compile(rb"\n[ \t\r\n]*\n")


def svmlight_parts(
    source: Source, size: int, dtype=np.float64
) -> Iterator[tuple[Any, np.ndarray, int]]:
    """CSR rows and labels of about ``size`` bytes of text, and the number of their first line.

    Columns are numbered as in the file, which does not say how many there are.
    """
    first = 1
    with source.open() as file:
        for block in lines_of(file, size, source.name):
            yield (*_parse(block, source.name, first, dtype), first)
            first += block.count(b"\n")


def _parse(block: bytes, file: str, first: int, dtype) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    # A file may be blank for long, and every line is looked at one by one.
    dense = _BLANK_LINES.sub(b"\n", block) if b"\n\n" in block else block
    try:
        return load_svmlight_file(io.BytesIO(dense), zero_based=True, dtype=dtype)
    except (ValueError, OverflowError) as error:
        lines = block.removesuffix(b"\n").split(b"\n")
        if len(lines) == 1:
            text = block[:1000].decode(errors="replace").strip()
            if isinstance(error, OverflowError):
                what = f"a column's number is larger than {MAX_COLUMN_NUMBER}: {text[:60]!r}."
                raise BadRow(file, first, what) from None
            what = f"no svmlight file has a line like {text[:60]!r}: {str(error)[:200]}"
            raise BadRow(file, first, what) from None
        half = len(lines) // 2  # which line it was, is found by halving
        _parse(b"\n".join(lines[:half]), file, first, dtype)
        _parse(b"\n".join(lines[half:]), file, first + half, dtype)
        raise


def svmlight_chunks(source: Source, size: int, dtype) -> Iterator[Chunk]:
    """The same as chunks to learn from; their width is not known yet."""
    for X, y, first in svmlight_parts(source, max(1 << 16, size // 4), dtype):
        if X.shape[0]:
            refuse_not_finite(X, None, source.name, first)
            yield Chunk(X, whole_labels(y, source.name, first), None, source.name, first)
