"""Two-class problems to race on: made on the spot, or read from a folder of public data."""

from __future__ import annotations

import gzip
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_files, load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer


@dataclass(frozen=True)
class Case:
    """Data, C, the accuracy at which we are judged, and the ratio we must reach."""

    name: str
    X: object
    y: np.ndarray
    C: float
    ours_tol: float = 1e-3
    peer_error: float = 1e-3
    bar: float | None = None
    loss: str = "hinge"
    slow_peers: bool = False  # peers that need minutes on large data join only where True


def dense(n: int, d: int, scale: float = 0.0, noise: float = 2.0, seed: int = 0):
    """Gaussian features, a linear rule with noise; column scales 10^−scale … 10^scale."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + noise * rng.standard_normal(n) + 0.5 > 0, 1, -1)
    return X * np.logspace(-scale, scale, d), y


def textlike(n: int, d: int, words: int = 80, seed: int = 0):
    """Documents with Zipf word frequencies, tf-idf weights and unit rows, two noisy topics."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, d + 1) ** 0.9
    topic = rng.standard_normal(d)
    y = rng.choice([-1, 1], n)
    lengths = rng.poisson(words, n) + 5
    rows = np.repeat(np.arange(n), lengths)
    tilt = [np.cumsum(frequency * np.exp(0.25 * s * topic)) for s in (-1, 1)]
    columns = np.empty(len(rows), dtype=np.int64)
    for s, total in zip((-1, 1), tilt, strict=True):
        mine = y[rows] == s
        columns[mine] = np.searchsorted(total, rng.random(mine.sum()) * total[-1])
    counts = sparse.csr_matrix((np.ones(len(rows)), (rows, np.minimum(columns, d - 1))), (n, d))
    seen = np.bincount(counts.indices, minlength=d)
    counts.data = (1 + np.log(counts.data)) * (np.log((1 + n) / (1 + seen)) + 1)[counts.indices]
    norms = np.sqrt(counts.multiply(counts).sum(axis=1)).A1
    return sparse.csr_matrix(sparse.diags(1 / norms) @ counts), y


def binary_sparse(n: int = 50_000, d: int = 300, seed: int = 0):
    """Few 0/1 features per row and 3 % positives, like the w sets."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.04 * rng.random(d) * 2).astype(np.float64)
    f = X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n)
    return sparse.csr_matrix(X), np.where(f > np.quantile(f, 0.97), 1, -1)


def made() -> Iterator[Case]:
    X, y = dense(50_000, 50)
    yield Case("dense 50k×50", X, y, 1.0, ours_tol=1e-6, bar=0.05)
    yield Case("dense 50k×50, squared hinge", X, y, 1.0, ours_tol=1e-6, loss="squared_hinge")
    X, y = dense(50_000, 50, scale=3)
    yield Case("dense 50k×50, scales 1e-3…1e3", X, y, 1.0, 1e-6, 1e-1, bar=0.05)
    X, y = dense(200_000, 20, scale=3)
    yield Case("dense 200k×20, scales 1e-3…1e3", X, y, 1.0, 1e-6, 1e-1, bar=0.05)
    X, y = dense(2_000, 20)
    yield Case("dense 2k×20", X, y, 1.0, slow_peers=True)
    for n, d in ((10_000, 1_000), (20_000, 2_000)):
        X, y = dense(n, d)
        for loss in ("hinge", "squared_hinge"):
            yield Case(f"dense {n // 1000}k×{d:,}, {loss.replace('_', ' ')}", X, y, 1.0, loss=loss)
    X, y = textlike(20_000, 50_000)
    yield Case("text-like 20k×50k", X, y, 1.0, bar=0.4)
    X, y = binary_sparse()
    yield Case("w-like 50k×300 sparse", X, y, 1.0, bar=0.5)
    yield Case("w-like 50k×300 sparse, C=100", X, y, 100.0, bar=0.05)


def real(folder: Path) -> Iterator[Case]:
    """Cases from a data folder; what is absent is skipped with a message."""
    for name, reader in REAL.items():
        try:
            X, y, settings = reader(folder)
            X = narrow(X) if sparse.issparse(X) else X
        except (FileNotFoundError, NotADirectoryError) as missing:
            print(f"skipped {name}: {missing}")
            continue
        for C, bar in settings:
            yield Case(f"{name}, C={C:g}", X, y, C, bar=bar)


def narrow(X):
    """CSR with 32-bit indices: the peers accept no others."""
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_matrix((X.data, indices, indptr), X.shape)


def _a9a(folder):
    X, y = load_svmlight_file(str(folder / "libsvm" / "a9a.gz"), n_features=123)
    return X, y, [(1.0, 0.5), (100.0, 0.05)]


def newsgroup_texts(folder):
    """The training part, and the group of each text."""
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(folder / "20newsgroups" / "20news-bydate.tar.gz") as archive:
            archive.extractall(place, filter="data")
        (train,) = Path(place).rglob("*train")
        groups = load_files(str(train), encoding="latin-1")
    return groups.data, groups.target


def newsgroups(folder):
    """Tf-idf of the training part, and the group of each text."""
    texts, group = newsgroup_texts(folder)
    return TfidfVectorizer().fit_transform(texts), group


def _two_groups_of_ten(folder):
    X, group = newsgroups(folder)
    return X, np.where(group < 10, 1, -1), [(1.0, 0.4), (10.0, None)]


def _sentiment(folder):
    with gzip.open(folder / "sentiment_labelled" / "full_set.txt.gz", "rb") as file:
        text = file.read().decode("utf-8")
    lines = [line.rsplit("\t", 1) for line in text.split("\n") if line.strip()]
    X = CountVectorizer(max_features=4500).fit_transform([words for words, _ in lines])
    y = np.array([int(label) for _, label in lines])
    return X.astype(np.float64), y, [(1.0, 0.9)]


def _images(folder):
    """Digits, odd or even, between 0 and 1: dense rows of which four fifths are zeros."""
    with gzip.open(folder / "mnist" / "train-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[:20_000] / 255.0
    with gzip.open(folder / "mnist" / "train-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8)[:20_000]
    return X, np.where(y % 2 == 1, 1, -1), [(0.1, 0.4)]


REAL = {
    "MNIST 20k×784, dense": _images,
    "a9a": _a9a,
    "20newsgroups tf-idf, two groups of ten": _two_groups_of_ten,
    "sentiment bag of words (short rows)": _sentiment,
}
