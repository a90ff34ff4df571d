"""What is read is what was written: predictions to the last bit, certificates, labels, names."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine, make_circles
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression

import maxmargin as mm
from maxmargin.app.store.container import FORMAT_VERSION
from maxmargin.app.store.files import read_header

X3, Y3 = load_wine(return_X_y=True)
WORDS = np.array(["sweet red", "weiß", "rosé, dry"])[Y3]
TWO = Y3 < 2

CLASSIFIERS = {
    "svm": mm.LinearSVM(),
    "svm sum": mm.LinearSVM(multiclass="sum"),
    "svm rest": mm.LinearSVM(multiclass="rest", loss="squared_hinge"),
    "svm pairs": mm.LinearSVM(multiclass="pairs", class_weight={"weiß": 2.0}),
    "logistic": mm.LogisticRegression(),
    "least squares": mm.LeastSquaresClassifier(alphas=[0.1, 1.0]),
    "fisher": mm.FisherDiscriminant(),
    "quadratic": mm.QuadraticDiscriminant(),
    "linear unit": mm.LinearUnit(batch_size=7, max_passes=3, trace=True),
    "perceptron": mm.Perceptron(max_passes=5, average=True),
    "kernel perceptron": mm.KernelPerceptron("poly", degree=2, max_passes=5),
    "kernel ridge": mm.KernelRidgeClassifier(0.1),
    "one against rest": mm.OneVsRest(mm.LinearSVM(), unknown="nobody's"),
    "one against one": mm.OneVsOne(mm.LogisticRegression()),
}


# Duels of two classes are one, and a Gaussian is fitted to dense rows.
DENSE_OR_MANY = ("svm pairs", "quadratic")


def again(model, tmp_path):
    return mm.load(mm.save(model, tmp_path / "model.maxmargin"))


def same(before, after, X):
    assert type(after) is type(before)
    np.testing.assert_array_equal(before.predict(X), after.predict(X))
    assert before.predict(X).dtype == after.predict(X).dtype
    for ask in ("decision_function", "predict_proba", "signed_distance", "transform"):
        if hasattr(before, ask) and not (ask == "signed_distance" and _duels(before)):
            np.testing.assert_array_equal(getattr(before, ask)(X), getattr(after, ask)(X))


def _duels(model):
    return getattr(model, "multiclass", "") == "pairs"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_three_classes(name, tmp_path):
    model = CLASSIFIERS[name].fit(X3, WORDS)
    other = again(model, tmp_path)
    same(model, other, X3)
    assert repr(other.get_params()) == repr(model.get_params())
    for told in ("certificate_", "solver_reason_", "support_kind_"):
        if hasattr(model, told):
            assert str(getattr(other, told)) == str(getattr(model, told))
    if "perceptron" not in name and "against" not in name:
        before, after = (mm.verify(m, X3, WORDS) for m in (model, other))
        assert str(before) == str(after)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in DENSE_OR_MANY])
def test_two_classes_in_sparse_float32(name, tmp_path):
    X = sparse.csr_matrix(X3[TWO].astype(np.float32))
    model = CLASSIFIERS[name].fit(X, Y3[TWO])
    same(model, again(model, tmp_path), X)


@pytest.mark.parametrize(
    "labels",
    [[False, True], [-1.0, 2.0], [3, 7], ["x" * 100, "y"]],
    ids=str,
)
def test_labels_keep_their_type(labels, tmp_path):
    y = np.array(labels)[Y3[TWO]]
    model = mm.LinearSVM().fit(X3[TWO], y)
    other = again(model, tmp_path)
    assert other.classes_.dtype == model.classes_.dtype
    same(model, other, X3)


def test_names_of_features_are_kept_and_compared(tmp_path):
    frame = pd.DataFrame(X3[:, :3], columns=["Länge", "b b", 'c"'])
    other = again(mm.LogisticRegression().fit(frame, WORDS), tmp_path)
    assert other.feature_names_in_.tolist() == ["Länge", "b b", 'c"']
    with pytest.raises(ValueError, match="feature names"):
        other.predict(frame.rename(columns={"b b": "bb"}))


def test_object_labels(tmp_path):
    model = mm.LinearSVM().fit(X3, WORDS.astype(object))
    other = again(model, tmp_path)
    assert other.classes_.dtype == object
    same(model, other, X3)


def test_rankers(tmp_path):
    pairs = [(0, 1), (1, 2), (5, 9), (30, 77)]
    ranker = mm.PairwiseRanker().fit(X3, pairs)
    other = again(ranker, tmp_path)
    same(ranker, other, X3)
    assert mm.verify(other, X3, pairs).holds(1e-6)
    graded = mm.PairwiseRanker().fit(np.repeat(X3, 3, axis=0), np.repeat(Y3, 3))
    same(graded, again(graded, tmp_path), X3)
    likes = mm.pairs_from_rankings([["tea", "milk", "mud"], ["tea", "milk"], ["milk", "tea"]])
    labels = mm.LabelRanker(C=10.0).fit([[0.0], [1.0], [2.0]], likes)
    other = again(labels, tmp_path)
    assert labels.rank([[-1.0], [4.0]]).tolist() == other.rank([[-1.0], [4.0]]).tolist()


def test_a_label_that_nobody_has_or_everybody(tmp_path):
    labels = np.column_stack([Y3 == 1, np.zeros(len(Y3)), np.ones(len(Y3))]).astype(int)
    model = mm.OneVsRest(mm.LeastSquaresClassifier()).fit(X3, labels)
    other = again(model, tmp_path)
    same(model, other, X3)
    assert other.predict(X3)[:, 1:].tolist() == [[0, 1]] * len(X3)


def test_kernel_regression(tmp_path):
    x = np.linspace(0, 6, 40)[:, None]
    for y in (np.sin(x[:, 0]), np.column_stack([np.sin(x), np.cos(x)])):
        model = mm.KernelRidge(1e-3, gamma=1.0).fit(x, y)
        np.testing.assert_array_equal(model.predict(x), again(model, tmp_path).predict(x))


def test_a_hard_margin_and_its_infinite_c(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = mm.LinearSVM(C=np.inf).fit(X[y < 2], y[y < 2])
    other = again(model, tmp_path)
    assert np.inf == other.C
    assert mm.verify(other, X[y < 2], y[y < 2]).holds(1e-9)


def test_a_fit_goes_on_from_a_file(tmp_path):
    model = mm.Perceptron().partial_fit(X3[:50], WORDS[:50], classes=np.unique(WORDS))
    other = again(model, tmp_path)
    for one in (model, other):
        one.partial_fit(X3[50:], WORDS[50:])
    same(model, other, X3)
    warm = mm.LinearSVM(warm_start=True).fit(X3, WORDS)
    assert again(warm, tmp_path).fit(X3, WORDS).certificate_.holds(1e-6)


def test_functions_are_refused(tmp_path):
    X, y = make_circles(40, random_state=0)
    model = mm.KernelRidgeClassifier(kernel=lambda a, b: float(a @ b)).fit(X, y)
    with pytest.raises(mm.NotStorableError, match=r"KernelRidgeClassifier\.kernel.*no functions"):
        mm.save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_other_objects_are_refused(tmp_path):
    with pytest.raises(mm.NotStorableError, match=r"LinearSVM, .*got dict"):
        mm.save({}, tmp_path / "model")
    with pytest.raises(mm.NotStorableError, match="not fitted yet"):
        mm.save(mm.LinearSVM(), tmp_path / "model")
    theirs = mm.OneVsRest(TheirLogisticRegression(max_iter=10_000, tol=1.0)).fit(X3, Y3)
    with pytest.raises(mm.NotStorableError, match="no objects of LogisticRegression"):
        mm.save(theirs, tmp_path / "model")


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = mm.LogisticRegression().fit(X3, WORDS)
    a, b = (mm.save(model, tmp_path / name).read_bytes() for name in "ab")
    assert a == b
    mm.save(mm.load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == a


def test_the_header_tells_who_wrote_it(tmp_path):
    path = mm.save(mm.LogisticRegression().fit(X3, WORDS), tmp_path / "m")
    header, _ = read_header(path)
    assert header == {"maxmargin": mm.__version__}
    assert FORMAT_VERSION == 1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"multiclass": "rest"},
        {"multiclass": "max"},
        {"kernel": "poly"},
        {"kernel": "laplacian"},
        {"rank": 20},
        {"rank": 20, "multiclass": "rest"},
        {"rank": 20, "multiclass": "max", "kernel": "poly"},
    ],
    ids=str,
)
def test_kernel_svm(options, tmp_path):
    sparse_rows = sparse.csr_matrix(X3)
    for X, y in ((X3, WORDS), (X3[TWO], WORDS[TWO]), (sparse_rows, WORDS)):
        model = mm.KernelSVM(**options).fit(X, y)
        other = again(model, tmp_path)
        same(model, other, X)
        np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
        assert str(mm.verify(model, X, y)) == str(mm.verify(other, X, y))


def test_arrays_keep_their_order_in_memory(tmp_path):
    """Sums are rounded differently by columns and by rows."""
    model = mm.KernelRidgeClassifier(0.1).fit(np.asfortranarray(X3), WORDS)
    other = again(model, tmp_path)
    assert model.X_fit_.flags.f_contiguous == other.X_fit_.flags.f_contiguous
    same(model, other, X3)


def test_landmarks_are_stored_once(tmp_path):
    """The multipliers of a kernel machine with rank are those of the linear machine inside."""
    X, y = make_circles(2000, factor=0.4, noise=0.05, random_state=0)
    model = mm.KernelSVM(rank=10, multiclass="max").fit(X, y)
    size = mm.save(model, tmp_path / "model").stat().st_size
    assert size < 2.5 * model.alpha_.nbytes + 60_000
    other = mm.load(tmp_path / "model")
    assert (other.rank_, other.trace_error_) == (model.rank_, model.trace_error_)
    assert mm.verify(other, X, y).holds(1e-3)
    warm = mm.KernelSVM(rank=10, warm_start=True).fit(X3, WORDS)
    assert again(warm, tmp_path).fit(X3, WORDS).certificate_.holds(1e-3)
