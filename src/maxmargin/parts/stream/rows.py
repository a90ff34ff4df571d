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
from ..files.labels import MAX_DIFFERENT_LABELS, check_classes, words_as_values
from ..files.limits import check_columns_of
from ..files.readers import BadRow, Chunk
from ..files.sources import ChunkSource
from ..parts import Block, Parts, Question, Task
from .cache import CacheReader, CacheWriter, NoRoom, read_index
from .folder import WorkFolder
from .memory_limit import MemoryLimit
from .part_states import PartStates

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
        if len(self.codes) > MAX_DIFFERENT_LABELS:
            raise ValueError(
                f"{chunk.file} has more than {MAX_DIFFERENT_LABELS} different labels; is this "
                "the right "
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
            labels = words_as_values(labels)
        order = np.argsort(labels, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return labels[order], place


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
        self.states = PartStates(folder.cache, memory.kept)
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
        stored = known.stored if known else 0
        try:
            for chunk in _ahead(self.source.chunks(self.memory.read, skip)):
                if chunk.X is None:
                    if writer is not None:
                        writer.finish_file(list(self.labels.codes), self.labels.kind, same)
                    continue
                self._check_width(chunk)
                stored += chunk.X.nnz if self.sparse else chunk.X.size
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
        check_columns_of(self.n_features, stored, self.source.name)
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
        if self.reader is not None:
            self.tally = StreamTally()
            for i in range(self.n_parts):
                self.tally.add(*self.reader.labels(i))
        found = self.classes
        if text and found.dtype.kind == "U":  # numbers that are no labels are still words
            with suppress(ValueError):
                found = found.astype(np.float64)
        check_classes(found, self.n, getattr(self.source, "target", "y"), self.source.name)
        order = np.argsort(self.place)
        self.counts, self.mass = self.tally.counts[order], self.tally.mass[order]

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
            state, answer = task(block, self.states.get(i), *told)
            self.states.put(i, state)
            yield answer

    def ask_all(self, questions: tuple[Question, ...], add: bool) -> Iterator[tuple]:
        """The questions of several problems in one pass; one memory is looked at after another."""
        for i, (_, block) in enumerate(self.blocks()):
            answers = []
            for problem, task, told in questions:
                state, answer = task(block, self.states.get(i, problem), *told)
                self.states.put(i, state, problem)
                answers.append(answer)
            yield tuple(answers)

    def forget(self) -> None:
        self.states.clear()

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
