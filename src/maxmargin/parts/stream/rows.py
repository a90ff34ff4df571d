"""Rows as parts: a source, read once into a cache where that fits the disk, then pass by pass.

The next block is read by a second thread while the present one is worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from ...models.bias_column import with_ones
from ...models.labels import label_codes
from ..files.fingerprints import ChangedError
from ..files.labels import MOST_NUMBERS
from ..files.readers import BadRow, Chunk
from ..files.sources import ChunkSource
from ..parts import Block, Parts, Question, Task
from .cache import CacheReader, CacheWriter, NoRoom, read_index
from .folder import WorkFolder
from .memory_limit import MemoryLimit
from .part_states import Memories

MOST_CLASSES = 5_000
T = TypeVar("T")

# Called for every block read: pass, rows done in it, rows in all (0 while they are not known).
Told = Callable[[int, int, int], None]


class Labels:
    """Labels to numbers, in the order in which they first appear."""

    def __init__(self, known: list | None = None, kind: str = ""):
        self.codes: dict[Any, int] = {label: code for code, label in enumerate(known or [])}
        self.kind = kind

    def __call__(self, chunk: Chunk) -> np.ndarray:
        y = chunk.y
        if y.dtype.kind not in "iubfUSO":
            raise BadRow(chunk.file, chunk.first, f"labels of type {y.dtype} are not understood.")
        if y.dtype.kind in "fO":
            lacking = y != y  # not a number
            if y.dtype.kind == "O":
                lacking |= np.array([label is None for label in y])
            if lacking.any():
                row = chunk.first + int(np.argmax(lacking))
                raise BadRow(chunk.file, row, "the label is missing.")
        words = y.dtype.kind in "USO"
        kind = "words" if words else "truth" if y.dtype.kind == "b" else "numbers"
        if self.kind and kind != self.kind:
            raise BadRow(
                chunk.file, chunk.first, f"the labels are {kind} here, and {self.kind} before."
            )
        self.kind = kind
        found, place = label_codes(y.astype(str) if words else y)
        own = np.array([self._code(label) for label in found.tolist()], dtype=np.int64)
        if len(self.codes) > MOST_CLASSES:
            raise ValueError(
                f"{chunk.file} has more than {MOST_CLASSES} different labels; is this the right "
                "column?"
            )
        return own[place]

    def _code(self, label) -> int:
        return self.codes.setdefault(label, len(self.codes))

    def classes(self, text: bool) -> tuple[np.ndarray, np.ndarray]:
        """The sorted classes, and the place of each label among them, by its number.

        ``text``: they were read from a text file, where numbers are words.
        """
        labels = np.array(list(self.codes))
        if text:
            labels = _numbers(labels)
        order = np.argsort(labels, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return labels[order], place


def _numbers(labels: np.ndarray) -> np.ndarray:
    """Words that are all whole numbers, or all truth values, as these."""
    if {label.lower() for label in labels.tolist()} <= {"true", "false"}:
        return np.array([label.lower() == "true" for label in labels.tolist()])
    with suppress(ValueError):
        numbers = labels.astype(np.float64)
        whole = numbers.astype(np.int64)
        if (whole == numbers).all() and len(np.unique(whole)) == len(whole):
            return whole
    return labels


def like_classes(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Labels as they are read, as the classes that were made of such labels."""
    if y.dtype.kind in "USO" and classes.dtype.kind == "b":
        return np.char.lower(y.astype(str)) == "true"
    if y.dtype.kind in "USO" and classes.dtype.kind in "iu":
        whole = _numbers(np.unique(y.astype(str)))
        return y.astype(np.float64).astype(np.int64) if whole.dtype.kind == "i" else y.astype(str)
    return y.astype(str) if classes.dtype.kind in "US" else y


class StreamTally:
    """Rows and weight of every label, by its number."""

    def __init__(self) -> None:
        self.counts, self.mass, self.chunks = np.zeros(0, dtype=np.int64), np.zeros(0), 0
        self.weighed = False  # whether any row has another weight than 1

    def add(self, codes: np.ndarray, weight: np.ndarray | None) -> None:
        more = int(codes.max(initial=-1)) + 1 - len(self.counts)
        if more > 0:
            self.counts = np.concatenate([self.counts, np.zeros(more, dtype=np.int64)])
            self.mass = np.concatenate([self.mass, np.zeros(more)])
        k = len(self.counts)
        self.counts += np.bincount(codes, minlength=k)
        self.mass += np.bincount(codes, weight, minlength=k)
        self.chunks += 1
        self.weighed = self.weighed or (weight is not None and bool((weight != 1.0).any()))


class StreamedRows(Parts):
    """Parts of a source.  ``keep(X, codes, weight)`` sees every chunk of the first reading, its
    labels numbered by first appearance."""

    def __init__(self, source: ChunkSource, memory: MemoryLimit, folder: WorkFolder,
                 told: Told | None = None, keep: Callable | None = None):  # fmt: skip
        self.source, self.memory, self.folder = source, memory, folder
        self.told = told or (lambda *_: None)
        self.passes = 0
        self.memories = Memories(folder.cache, memory.kept)
        self.n, self.sparse, self.ones = 0, False, False
        self.reader: CacheReader | None = None
        self.by_class: np.ndarray | None = None
        self.tally = StreamTally()
        self._read_all(keep)
        self._count()

    # --- the first reading ------------------------------------------------------------------

    def _read_all(self, keep) -> None:
        known = read_index(self.folder.cache) if self.folder.resume else None
        same = [self.source.key, *self.source.watched.to_list()] if self.source.watched else None
        in_place = bool(getattr(self.source, "in_place", False))
        if known is not None and not _continues(known.source, same, known.files):
            known = None
        whole = known is not None and known.complete and known.source == same
        if known is not None:
            known.complete = whole
        self.kept_all = False  # whether ``keep`` has seen every row
        if not whole:
            known = self._first_pass(known, same, in_place, keep)
        if known is None:
            return
        self.labels = Labels(known.labels, known.kind)
        rows, offset = None, 0
        if in_place:
            rows, offset = self.source.path, self.source.X.offset  # type: ignore[attr-defined]
        self.reader = CacheReader(self.folder.cache, known, rows, offset)
        self.n, self.n_features = known.rows, self.reader.width
        self.dtype, self.sparse, self.base = self.reader.dtype, known.sparse, self.reader.base

    def _first_pass(self, known, same, in_place: bool, keep):
        """Everything once; into the cache while the disk has room for it."""
        self.labels = Labels(known.labels, known.kind) if known else Labels()
        writer: CacheWriter | None = CacheWriter(
            self.folder.cache, self.memory.block, known, self.source.lowest, not in_place
        )
        if known is not None:
            keep = None  # it would see a part only
            self.n, self.sparse = known.rows, known.sparse
        self.kept_all = keep is not None
        self.passes, self.base = 1, self.source.lowest
        self.n_features, skip = (known.width, known.files) if known else (0, 0)
        try:
            for chunk in _ahead(self.source.chunks(self.memory.read, skip)):
                if chunk.X is None:
                    if writer is not None:
                        writer.finish_file(list(self.labels.codes), self.labels.kind, same)
                    continue
                self._check_width(chunk)
                codes = self.labels(chunk)
                if writer is not None:
                    try:
                        writer.append(chunk.X, codes, chunk.weight)
                    except NoRoom:
                        writer.close()
                        writer = None
                        _empty(self.folder.cache)
                if keep is not None:
                    keep(chunk.X, codes, chunk.weight)
                self.tally.add(codes, chunk.weight)
                self.n += len(codes)
                self.told(1, self.n, getattr(self.source, "expected", 0))
        finally:
            if writer is not None:
                writer.close()
        if self.n == 0:
            raise ValueError(f"{self.source.name} has no rows.")
        self._check_same()
        if writer is not None:
            return writer.complete(list(self.labels.codes), self.labels.kind, same)
        self.base = self.base if self.sparse else 0
        self.n_features -= self.base
        return None

    def _check_width(self, chunk: Chunk) -> None:
        X = chunk.X
        if self.n and bool(sparse.issparse(X)) != self.sparse:
            raise BadRow(chunk.file, chunk.first, "rows are sparse here and dense before, or not.")
        self.sparse, self.dtype = bool(sparse.issparse(X)), X.dtype
        if self.sparse:
            if X.nnz:
                self.base = min(self.base, int(X.indices.min()))
        elif self.n and X.shape[1] != self.n_features:
            raise BadRow(
                chunk.file, chunk.first,
                f"rows have {X.shape[1]} features here and {self.n_features} before.",
            )  # fmt: skip
        self.n_features = max(self.n_features, X.shape[1])

    def _check_same(self) -> None:
        if self.source.watched is not None:
            self.source.watched.check()

    def _count(self) -> None:
        """Classes, and how many rows and how much weight each has."""
        text = getattr(getattr(self.source, "files", [None])[0], "format", "") in ("csv", "tsv")
        self.classes, self.place = self.labels.classes(text and self.labels.kind == "words")
        self.n_parts = self.reader.n_blocks if self.reader is not None else self.tally.chunks
        if len(self.classes) < 2:
            only = f": {self.classes[0]}" if len(self.classes) else ""
            raise ValueError(
                f"{self.source.name} holds only one class{only}. There is nothing to tell apart."
            )
        if self.reader is not None:
            self.tally = StreamTally()
            for i in range(self.n_parts):
                self.tally.add(*self.reader.labels(i))
        self._check_labels(text)
        order = np.argsort(self.place)
        self.counts, self.mass = self.tally.counts[order], self.tally.mass[order]

    def _check_labels(self, text: bool) -> None:
        """Refuse what is no label before hours are spent on it; as in memory."""
        k, some = len(self.classes), self.classes
        numbers = some.dtype.kind in "iuf"
        if text and some.dtype.kind == "U":
            with suppress(ValueError):
                some = some.astype(np.float64)
        broken = some.dtype.kind == "f" and bool((some != np.round(some)).any())
        measured = broken or (numbers and k > MOST_NUMBERS and k > self.n / 10)
        if measured or k > 0.9 * self.n > 10:
            target = getattr(self.source, "target", "y")
            raise ValueError(
                f"{self.source.name}: the target {target!r} has {k} different values in {self.n} "
                f"rows, such as {self.classes[0]}, which looks like a measurement, not "
                "like a label. To predict whether it is above some value, add a column that does."
            )

    @property
    def bytes_each(self) -> float:
        """Bytes of a row, on average."""
        size = self.dtype.itemsize
        if not self.sparse:
            return self.n_features * size
        stored = self.n_features if self.reader is None else self.reader.index.stored / self.n
        return max(1.0, stored * (size + 4))

    # --- passes -----------------------------------------------------------------------------

    def weigh(self, by_class: np.ndarray | None) -> None:
        """From now on multiply every weight by that of its class."""
        self.by_class = by_class

    @contextmanager
    def with_ones(self) -> Iterator[None]:
        """Within, every row has one more column, which is 1."""
        self.ones, self.n_features = True, self.n_features + 1
        try:
            yield
        finally:
            self.ones, self.n_features = False, self.n_features - 1

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """One pass: the number of the first row, and the rows, of one block after another."""
        self._check_same()
        self.passes += 1
        done = 0
        cached = self.reader is not None
        for start, block in _ahead(self._from_cache() if cached else self._from_source()):
            codes, weight = block.y, block.weight
            if self.by_class is not None:
                own = self.by_class[codes]
                weight = own if weight is None else weight * own
            yield start, Block(with_ones(block.X) if self.ones else block.X, codes, weight)
            done = start + len(codes)
            self.told(self.passes, done, self.n)
        if done != self.n:
            raise ChangedError(
                f"{self.source.name} had {self.n} rows and now has {done}. Start again."
            )

    def _from_cache(self) -> Iterator[tuple[int, Block]]:
        assert self.reader is not None
        for i in range(self.reader.n_blocks):
            start, block = self.reader.block(i)
            yield start, block._replace(y=self.place[block.y])

    def _from_source(self) -> Iterator[tuple[int, Block]]:
        start = 0
        for chunk in self.source.chunks(self.memory.read):
            if chunk.X is None:
                continue
            before = len(self.labels.codes)
            codes = self.labels(chunk)
            if len(self.labels.codes) > before:
                raise ChangedError(f"{self.source.name} has labels it did not have. Start again.")
            X = chunk.X
            if self.sparse:
                X = sparse.csr_matrix(
                    (X.data, X.indices - np.int32(self.base), X.indptr),
                    shape=(X.shape[0], self.n_features - self.ones),
                )
            yield start, Block(X, self.place[codes], chunk.weight)
            start += len(codes)

    def ask(self, task: Task, *told: Any) -> Iterator[Any]:
        """``task(block, memory, *told)`` for every part, in order."""
        for i, (_, block) in enumerate(self.blocks()):
            memory, answer = task(block, self.memories.get(i), *told)
            self.memories.put(i, memory)
            yield answer

    def ask_all(self, questions: tuple[Question, ...], add: bool) -> Iterator[tuple]:
        """The questions of several problems in one pass; one memory is looked at after another."""
        for i, (_, block) in enumerate(self.blocks()):
            answers = []
            for problem, task, told in questions:
                memory, answer = task(block, self.memories.get(i, problem), *told)
                self.memories.put(i, memory, problem)
                answers.append(answer)
            yield tuple(answers)

    def forget(self) -> None:
        self.memories.clear()

    def close(self) -> None:
        if self.reader is not None:
            self.reader.close()


def _ahead(things: Iterator[T]) -> Iterator[T]:
    """The same, the next one made by a second thread while one is worked on."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, things, None)
        try:
            while (got := coming.result()) is not None:
                coming = pool.submit(next, things, None)
                yield got
        finally:
            coming.cancel()


def _continues(earlier, now, files: int) -> bool:
    """Whether the files that an earlier run has read whole are still the same."""
    end = 1 + files  # the first entry is the source's key
    return now is not None and earlier is not None and earlier[:end] == now[:end]


def _empty(folder) -> None:
    for path in folder.iterdir():
        path.unlink()
