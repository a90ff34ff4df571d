"""What a file may cost before it is refused: a small one can ask for all the memory there is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# A longer line is no line: a quote that is not closed, or a file of another kind.
MAX_LINE_BYTES = 1 << 26
# What is compressed may become so many bytes, or so many times its size, unquestioned.
MAX_EXPANDED_BYTES, MAX_EXPANSION = 1 << 28, 100
# Rows have this many columns, or so many for each value in them, unquestioned.
MAX_COLUMNS, MAX_COLUMNS_PER_VALUE = 10_000_000, 1_000


def available_memory() -> float:
    """Bytes that a program may still take, by the kernel and the container; inf where unknown."""
    found = [float("inf")]
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        named = {line.split(":")[0]: line.split(":")[1] for line in lines}
        if "MemAvailable" in named:
            found.append(1024.0 * float(named["MemAvailable"].split()[0]))
    with suppress(OSError, ValueError):
        limit = Path("/sys/fs/cgroup/memory.max").read_text()
        used = Path("/sys/fs/cgroup/memory.current").read_text()
        found.append(float(limit) - float(used))
    return min(found)


class MemoryNeed:
    """Adds up what was read, and refuses more than there is memory for."""

    def __init__(self, name: str):
        self.name, self.total, self.limit = name, 0, available_memory()

    def add(self, size: int) -> None:
        self.total += size
        if self.total > self.limit:
            raise ValueError(
                f"{self.name} needs more memory than there is: {self.total / 1e9:.1f} GB and more. "
                "`maxmargin fit --memory 1GB` reads a file in pieces; check that it ends."
            )


def check_expansion(inside: int, outside: int, name: str) -> None:
    """Refuse what becomes far larger than its file, before it does."""
    MemoryNeed(name).add(inside)
    if inside > MAX_EXPANDED_BYTES and inside > MAX_EXPANSION * outside:
        raise ValueError(
            f"{name} has {outside / 1e6:.1f} MB and would become {inside / 1e9:.1f} GB in memory. "
            "If it is meant to, store it without compression, or as a sparse matrix."
        )


def check_unpacked(inside: int, outside: int, name: str) -> None:
    """The same while it is unpacked: refuse more as soon as so much has come of so little."""
    if inside > MAX_EXPANDED_BYTES and inside > MAX_EXPANSION * outside:
        raise ValueError(
            f"{name} becomes more than {inside / 1e6:.0f} MB of {outside / 1e6:.1f} MB when it is "
            "unpacked, and does not end there. If it is meant to, unpack it first."
        )


def check_columns_of(width: int, values: int, name: str) -> None:
    """Refuse numbers of columns that so few values do not need: every model has a weight each."""
    if width > MAX_COLUMNS and width > MAX_COLUMNS_PER_VALUE * values:
        raise ValueError(
            f"{name} has a column of number {width - 1}, but only {values} values: a model would "
            "have a weight for every column up to there. Correct it, or number the columns anew."
        )


def lines_of(file, size: int, name: str) -> Iterator[bytes]:
    """Whole lines of about ``size`` bytes together."""
    while block := file.read(size):
        begun = len(block) - block.rfind(b"\n") - 1
        rest = read_line(file, name) if begun else b""
        check_line(begun + len(rest), name)
        yield block + rest


def read_line(file, name: str) -> bytes:
    line = file.readline(MAX_LINE_BYTES + 1)
    check_line(len(line), name)
    return line


def check_line(length: int, name: str) -> None:
    if length > MAX_LINE_BYTES:
        raise ValueError(
            f"{name} has a line of more than {MAX_LINE_BYTES >> 20} MB. Is it a text file, and is "
            "every quote closed?"
        )
