"""The lecture's experiment: how C decides what a support vector machine makes of sentences.

Sentences become counts of words; a table over C shows training error, test error and the number
of support vectors; five-fold cross-validation on the training part chooses C; and the test part
tells what that choice is worth.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from ...core.types import ArrayLike
from ..svm.linear_svm import LinearSVM
from ..validation import one_of
from .linear_svm_cv import LinearSVMCV
from .path import c_path
from .records import Record, as_frame, as_html, as_text

SENTIMENT_CS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
MAX_VOCABULARY_WORDS = 4500
# Words are runs of letters: with digits counted as words the largest C have a tenth more support
# vectors than the lecture's table.
WORD_PATTERN = r"[^\W\d_]{2,}"


@dataclass(frozen=True)
class TextExperiment:
    """The table over C, the C that cross-validation chose, and its error on the test part."""

    rows: list[Record]
    model: LinearSVMCV
    vectorizer: CountVectorizer
    test_error: float

    @property
    def C(self) -> float:
        return self.model.C_

    def predict(self, sentences: Sequence[str]) -> np.ndarray:
        """The labels of new sentences."""
        return self.model.predict(_counts(self.vectorizer.transform(sentences)))

    def table(self) -> str:
        return as_text(self.rows)

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        return as_frame(self.rows)

    def __repr__(self) -> str:
        return f"{self.table()}\n{self._choice()}"

    def _repr_html_(self) -> str:
        return as_html(self.rows, self._choice())

    def _choice(self) -> str:
        return (
            f"Cross-validation chooses C = {self.C:g} (estimated error "
            f"{1.0 - self.model.best_score_:.2%}); its test error is {self.test_error:.2%}."
        )


def text_experiment(
    sentences: Sequence[str],
    labels: Any,
    Cs: ArrayLike | int = SENTIMENT_CS,
    *,
    words: int = MAX_VOCABULARY_WORDS,
    vocabulary: str = "all",
    test_size: int | float = 500,
    cv: Any = 5,
    tol: float = 1e-6,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> TextExperiment:
    """Split, count words, follow C, choose C on the training part, and test.

    The ``words`` most frequent words are counted: of all sentences, as in the lecture, which looks
    at no label of the test part but at its words; or, with ``vocabulary="training"``, of the
    training part alone.

    Examples
    --------
    >>> from maxmargin import text_experiment
    >>> good = ["good food", "really good", "good and cheap", "so good"] * 5
    >>> bad = ["bad food", "really bad", "bad and dear", "so bad"] * 5
    >>> found = text_experiment(good + bad, [1] * 20 + [0] * 20, [0.01, 1.0], test_size=8)
    >>> found.test_error, found.predict(["food so good", "bad food"]).tolist()
    (0.0, [1, 0])
    """
    one_of("vocabulary", vocabulary, ("all", "training"))
    train, test, y_train, y_test = train_test_split(
        list(sentences), np.asarray(labels), test_size=test_size, stratify=labels,
        random_state=random_state,
    )  # fmt: skip
    vectorizer = CountVectorizer(max_features=words, token_pattern=WORD_PATTERN)
    vectorizer.fit(train if vocabulary == "training" else list(sentences))
    X, Z = (_counts(vectorizer.transform(part)) for part in (train, test))
    path = c_path(LinearSVM(tol=tol), X, y_train, Cs, stop=False)
    rows: list[Record] = [
        {
            "C": row["C"],
            "training_error": row["training_error"],
            "test_error": 1.0 - float(model.score(Z, y_test)),
            "n_support": row["n_support"],
        }
        for row, model in zip(path.rows, path.models, strict=True)
    ]
    model = LinearSVMCV(Cs, cv=cv, tol=tol, n_jobs=n_jobs).fit(X, y_train)
    return TextExperiment(rows, model, vectorizer, 1.0 - float(model.score(Z, y_test)))


def read_sentences(path: Any) -> tuple[list[str], np.ndarray]:
    """Sentences and labels from files of lines ``sentence<TAB>0 or 1``, plain or gzipped.

    ``path`` is a file such as ``full_set.txt``, or a folder with the three files
    ``*_labelled.txt``.  Lines end at "\\n" and nowhere else: some sentences hold other
    characters that Unicode, and ``str.splitlines``, count as ends of lines.
    """
    path = Path(path)
    files = sorted(path.glob("*_labelled.txt*")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(
            f"No files *_labelled.txt in {path}. Give the folder of the three sentiment files, or "
            "one file of lines 'sentence<TAB>label'."
        )
    sentences, labels = [], []
    for file in files:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for number, line in enumerate(raw.decode("utf-8").split("\n"), start=1):
            if not line.strip():
                continue
            sentence, tab, label = line.rpartition("\t")
            if not tab or label.strip() not in ("0", "1"):
                raise ValueError(
                    f"Line {number} of {file.name} must be 'sentence<TAB>0 or 1', "
                    f"but it ends in {line[-20:]!r}."
                )
            sentences.append(sentence)
            labels.append(int(label))
    return sentences, np.array(labels)


def _counts(X):
    """Counts of words as floating-point numbers."""
    return X.astype(np.float64)
