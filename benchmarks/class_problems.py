"""Problems of k classes to race on, read from a folder of public data."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from .problems import narrow, newsgroups


@dataclass(frozen=True)
class ClassCase:
    """Data with classes 0 … k − 1, C, and the share of the peer's time that we must reach."""

    name: str
    X: object
    y: np.ndarray
    C: float
    bar: float | None = None


def class_cases(folder: Path, only: str = "") -> Iterator[ClassCase]:
    """The cases whose name contains a word; what is absent is skipped with a message."""
    for name, (read, prices, bar) in CLASS_DATA.items():
        names = {C: f"{name}, C={C:g}" for C in prices}
        wanted = [C for C in prices if only in names[C]]
        if not wanted:
            continue
        try:
            X, labels = read(folder)
        except (FileNotFoundError, NotADirectoryError) as missing:
            print(f"skipped {name}: {missing}")
            continue
        y = np.unique(labels, return_inverse=True)[1]
        for C in wanted:
            yield ClassCase(names[C], X, y, C, bar)


def _newsgroups(folder):
    X, group = newsgroups(folder)
    return narrow(X), group


def _libsvm(file: str) -> Callable:
    def read(folder):
        X, y = load_svmlight_file(str(folder / "libsvm" / file))
        return narrow(X), y

    return read


def _mnist(folder):
    def bytes_of(part, header):
        with gzip.open(folder / "mnist" / f"train-{part}-ubyte.gz") as file:
            return np.frombuffer(file.read(), dtype=np.uint8, offset=header)

    pixels, digits = bytes_of("images-idx3", 16), bytes_of("labels-idx1", 8)
    return (pixels / np.float32(255)).reshape(len(digits), -1), digits


def _minilm(folder):
    with np.load(folder / "embeddings_minilm" / "20news_minilm384.npz") as arrays:
        return arrays["X"].astype(np.float32), arrays["y"]


# Reader, values of C, and the bar.
CLASS_DATA: dict[str, tuple[Callable, tuple[float, ...], float | None]] = {
    "20newsgroups tf-idf": (_newsgroups, (0.1, 1.0, 10.0), 0.35),
    "sector": (_libsvm("sector.scale.bz2"), (1.0, 10.0), 0.35),
    "MNIST 60k": (_mnist, (0.01, 0.1, 1.0), 0.8),
    "20newsgroups MiniLM": (_minilm, (1.0, 10.0), 0.45),
    "letter": (_libsvm("letter.scale.gz"), (1.0,), None),
}
