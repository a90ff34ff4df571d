"""Cells of tables: numbers as text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


@dataclass(frozen=True)
class Table:
    """Heads and rows, as text; ``title`` where a file has several."""

    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    title: str = ""


def seconds(value: float | None) -> str:
    """0.047 as 47 ms."""
    if value is None:
        return "–"
    if value < 1.0:
        return f"{1e3 * value:.2g} ms" if value < 0.01 else f"{1e3 * value:.0f} ms"
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def small(value: float | None) -> str:
    return "–" if value is None else f"{value:.0e}"


def ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def size(count: float) -> str:
    return f"{count / 1e6:.3g} MB"
