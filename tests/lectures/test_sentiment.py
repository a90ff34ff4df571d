"""Module 6.3: the sentiment sentences, a table over C, and the choice of C."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from maxmargin import read_sentences, text_experiment

DATA = os.environ.get("MAXMARGIN_DATA", "")
FOLDER = Path(DATA) / "sentiment_labelled"
FULL_SET = [path for path in sorted(FOLDER.glob("full_set.txt*")) if DATA]

PRAISE = [
    "great {}",
    "i love this {}",
    "the {} is excellent",
    "a {} to recommend",
    "nice {} at last",
]
BLAME = ["awful {}", "i hate this {}", "the {} is broken", "a {} to avoid", "poor {} again"]
THINGS = ["phone", "film", "place", "camera", "story", "waiter", "battery", "plot"]


def _tiny():
    """Eighty sentences; a few of them are labelled wrongly."""
    sentences = [line.format(thing) for line in PRAISE + BLAME for thing in THINGS]
    labels = np.repeat([1, 0], 40)
    labels[[3, 17, 44, 61]] ^= 1
    return sentences, labels


@pytest.mark.skipif(
    not FULL_SET, reason="set MAXMARGIN_DATA to a folder with sentiment_labelled/full_set.txt"
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_lectures_table(seed):
    found = text_experiment(*read_sentences(FULL_SET[0]), random_state=seed)
    train = 100 * np.array([row["training_error"] for row in found.rows])
    test = 100 * np.array([row["test_error"] for row in found.rows])
    np.testing.assert_allclose(train, [23.7, 7.9, 1.1, 0.2, 0.1, 0.1], atol=1.6)
    support = [row["n_support"] for row in found.rows]
    np.testing.assert_allclose(support, [2294, 1766, 1306, 1105, 1035, 950], rtol=0.04)
    assert found.rows[int(test.argmin())]["C"] in (0.1, 1.0, 10.0)
    assert found.C in (0.1, 1.0, 10.0)
    assert 100 * found.test_error == pytest.approx(
        test[[row["C"] for row in found.rows].index(found.C)]
    )
    assert 14.0 < 100 * found.test_error < 21.0
    assert found.model.certificate_.holds(1e-6)


def test_the_same_on_a_tiny_corpus():
    sentences, labels = _tiny()
    found = text_experiment(sentences, labels, [0.001, 0.1, 10.0], test_size=20)
    errors = [row["training_error"] for row in found.rows]
    assert errors == sorted(errors, reverse=True)
    assert found.rows[0]["n_support"] > found.rows[-1]["n_support"]
    assert found.C in (0.1, 10.0)
    assert found.test_error <= 0.25  # four labels of eighty are wrong
    assert found.predict(["an excellent camera", "i hate this plot"]).tolist() == [1, 0]
    assert "Cross-validation chooses C" in repr(found)
    assert found._repr_html_().count("<tr>") == 4
    assert list(found.to_frame()["n_support"]) == [row["n_support"] for row in found.rows]
    narrow = text_experiment(sentences, labels, [1.0], test_size=20, vocabulary="training")
    assert set(narrow.vectorizer.vocabulary_) <= set(found.vectorizer.vocabulary_)


def test_reading_files(tmp_path):
    text = "good\x85 phone\t1\nbad, tab\there\t0\n\n"  # NEL inside a sentence, a tab too
    (tmp_path / "a_labelled.txt").write_bytes(text.encode())
    (tmp_path / "b_labelled.txt.gz").write_bytes(gzip.compress(b"fine\t1"))
    one, labels = read_sentences(tmp_path / "a_labelled.txt")
    assert one == ["good\x85 phone", "bad, tab\there"]
    assert labels.tolist() == [1, 0]
    both, labels = read_sentences(tmp_path)
    assert both == [*one, "fine"]
    assert labels.tolist() == [1, 0, 1]
    (tmp_path / "c.txt").write_text("fine\t1\nno label here\n")
    with pytest.raises(ValueError, match=r"Line 2 of c\.txt"):
        read_sentences(tmp_path / "c.txt")
    with pytest.raises(FileNotFoundError, match="three sentiment files"):
        read_sentences(tmp_path / "..")
