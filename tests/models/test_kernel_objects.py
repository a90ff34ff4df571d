"""A callable kernel compares whatever it is handed: words, sets, objects of a program's own."""

import pickle

import numpy as np
import pytest

from maxmargin import KernelSVM

WORDS = ["ab", "abc", "aab", "bba", "xy", "xyz", "yyx", "zxy"]
LABELS = ["early"] * 4 + ["late"] * 4


def shared_letters(a, b):
    """Of two words."""
    return float(len(set(a) & set(b)))


def letters_of_all(A, B):
    """Of two lists of words, a matrix."""
    assert all(isinstance(a, str) for a in A)
    return np.array([[shared_letters(a, b) for b in B] for a in A])


@pytest.mark.parametrize("kernel", [shared_letters, letters_of_all])
@pytest.mark.parametrize("words", [WORDS, np.array(WORDS), np.array(WORDS, dtype=object)])
def test_words_are_told_apart(kernel, words):
    model = KernelSVM(kernel=kernel).fit(words, LABELS)
    assert model.certificate_.holds(1e-3)
    assert model.predict(["cab", "zzy"]).tolist() == ["early", "late"]
    assert set(model.support_vectors_[:, 0]) <= set(WORDS)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.decision_function(["cab"]), model.decision_function(["cab"])
    )


def test_it_is_the_model_of_its_gram_matrix():
    ours = KernelSVM(kernel=shared_letters, tol=1e-8).fit(WORDS, LABELS)
    gram = letters_of_all(WORDS, WORDS)
    given = KernelSVM(kernel="precomputed", tol=1e-8).fit(gram, LABELS)
    np.testing.assert_allclose(
        ours.decision_function(WORDS), given.decision_function(gram), atol=1e-6
    )


def test_sets_of_three_classes():
    sets = [set(word) for word in WORDS]
    model = KernelSVM(kernel=shared_letters).fit(sets, [0, 0, 1, 1, 2, 2, 2, 2])
    assert model.predict(sets)[-1] == 2


def test_labels_that_do_not_fit_are_told():
    with pytest.raises(ValueError, match="8 objects and y 7 labels"):
        KernelSVM(kernel=shared_letters).fit(WORDS, LABELS[:7])
    with pytest.raises(ValueError, match="only one class"):
        KernelSVM(kernel=shared_letters).fit(WORDS, ["same"] * 8)
    with pytest.raises(ValueError, match="could not convert string"):
        KernelSVM(kernel="rbf").fit(WORDS, LABELS)
