"""Small tables from CSV and TSV files: named columns, and features with categories one-hot."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np


def read_columns(path: Path, wanted: tuple[str, ...]) -> list[list[str]]:
    """The columns of these names, as text."""
    header, rows = _read(path)
    missing = [name for name in wanted if name not in header]
    if missing:
        raise ValueError(
            f"{path} needs the columns {', '.join(wanted)}; {', '.join(missing)} is missing. "
            f"Found: {', '.join(header)}."
        )
    return [[row[header.index(name)].strip() for row in rows] for name in wanted]


def read_features(path: Path, name: str | None) -> tuple[list[str], list[str], np.ndarray]:
    """Names of the items, names of the features, and the features; text becomes one-hot."""
    header, rows = _read(path)
    key = header[0] if name is None else name
    if key not in header:
        raise ValueError(f"{path} has no column {key!r}. Found: {', '.join(header)}.")
    at = header.index(key)
    names = [row[at].strip() for row in rows]
    seen: dict[str, int] = {}
    for line, item in enumerate(names, start=2):
        if item in seen:
            raise ValueError(f"{path}, line {line}: {item!r} was on line {seen[item]} already.")
        seen[item] = line
    features: list[str] = []
    columns: list[np.ndarray] = []
    for j, feature in enumerate(header):
        if j == at:
            continue
        values = [row[j].strip() for row in rows]
        for line, value in enumerate(values, start=2):
            if not value:
                raise ValueError(
                    f"{path}, line {line}: {feature} is empty. Fill it in, or remove the row or "
                    "the column."
                )
        new_names, new_columns = _encode(feature, values)
        features += new_names
        columns += new_columns
    if not columns:
        raise ValueError(
            f"{path} has no column besides {key!r}: there are no features to learn from."
        )
    return names, features, np.column_stack(columns)


def _encode(feature: str, values: list[str]) -> tuple[list[str], list[np.ndarray]]:
    """A column of numbers as it is; any other as one indicator for each of its values."""
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        levels = sorted(set(values))
        text = np.array(values)
        names = [f"{feature}={level}" for level in levels]
        return names, [(text == level).astype(np.float64) for level in levels]
    if not np.isfinite(numbers).all():
        raise ValueError(f"The column {feature} holds a value that is not a finite number.")
    return [feature], [numbers]


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows; every row as long as the header."""
    delimiter = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    if len(rows) < 2:
        raise ValueError(f"{path} holds no data: a header and at least one row are needed.")
    header = [name.strip() for name in rows[0]]
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {line}: {len(row)} entries, but the header names {len(header)} "
                "columns."
            )
    return header, rows[1:]
