"""OneVsRest with several labels a row, and fitted part by part."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from maxmargin import LinearSVM, OneVsOne, OneVsRest, load, save

X, Y = make_multilabel_classification(120, 6, n_classes=4, random_state=0)


def test_predicts_as_scikit_learn_does():
    ours = OneVsRest(LogisticRegression()).fit(X, Y)
    theirs = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.score(X, Y) == theirs.score(X, Y)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_tables_are_answered_in_kind(kind):
    ours = OneVsRest(LinearSVM()).fit(sparse.csr_matrix(X), kind(Y))
    said = ours.predict(X)
    assert sparse.issparse(said)
    assert (said.toarray() == OneVsRest(LinearSVM()).fit(X, Y).predict(X)).all()


def test_labels_that_all_rows_have_or_none():
    table = np.column_stack([Y[:, 0], np.ones(len(Y)), np.zeros(len(Y))]).astype(int)
    model = OneVsRest(LogisticRegression()).fit(X, table)
    assert (model.predict(X)[:, 1:] == [1, 0]).all()
    assert (model.predict_proba(X)[:, 1:] == [1.0, 0.0]).all()


def test_a_table_and_then_a_column():
    model = OneVsRest(LinearSVM()).fit(X, Y)
    assert model.predict(X).ndim == 2
    assert model.fit(X, Y[:, 0]).predict(X).ndim == 1


def test_weights_of_rows():
    weight = np.linspace(0.0, 2.0, len(X))
    ours = OneVsRest(LinearSVM()).fit(X, Y, sample_weight=weight)
    alone = LinearSVM().fit(X, Y[:, 2], sample_weight=weight)
    np.testing.assert_allclose(ours.coef_[2], alone.coef_[0], atol=1e-6)


def test_what_is_no_table_of_labels_is_told():
    with pytest.raises(ValueError, match="holds 0 and 1"):
        OneVsRest(LinearSVM()).fit(X, sparse.csr_matrix(2 * Y))
    with pytest.raises(ValueError, match="120 rows in X but 100 rows of labels"):
        OneVsRest(LinearSVM()).fit(X, Y[:100])
    with pytest.raises(ValueError, match="none or several"):
        OneVsRest(LinearSVM(), unknown=-1).fit(X, Y)


def test_a_stored_model_knows_that_it_answers_with_tables(tmp_path):
    model = OneVsRest(LinearSVM()).fit(X, Y)
    save(model, tmp_path / "model.mxm")
    assert (load(tmp_path / "model.mxm").predict(X) == model.predict(X)).all()


STREAM = [slice(0, 60), slice(60, 120), slice(120, 180)]


@pytest.mark.parametrize(
    ("ours", "theirs"), [(OneVsRest, OneVsRestClassifier), (OneVsOne, OneVsOneClassifier)]
)
def test_part_by_part_as_scikit_learn_does(ours, theirs):
    rng = np.random.default_rng(0)
    y = np.repeat([2, 5, 7], 60)[rng.permutation(180)]
    A = rng.standard_normal((180, 3)) + 3.0 * (y[:, None] == np.array([2, 5, 7]))
    mine, peer = ours(SGDClassifier(random_state=0)), theirs(SGDClassifier(random_state=0))
    for part in STREAM:
        mine.partial_fit(A[part], y[part], classes=[2, 5, 7])
        peer.partial_fit(A[part], y[part], classes=[2, 5, 7])
    assert (mine.predict(A) == peer.predict(A)).all()
    assert mine.score(A, y) > 0.9


def test_part_by_part_needs_a_base_that_can():
    assert not hasattr(OneVsRest(LinearSVM()), "partial_fit")
    with pytest.raises(ValueError, match="classes"):
        OneVsRest(SGDClassifier()).partial_fit(X, Y[:, 0])
    model = OneVsRest(SGDClassifier()).partial_fit(X, Y[:, 0], classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:1], [7])
