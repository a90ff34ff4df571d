"""Probabilities that agree with predict, intervals that enclose them, sets that cover."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import maxmargin as mm
from maxmargin import (
    FisherDiscriminant,
    KernelPerceptron,
    KernelSVM,
    LeastSquaresClassifier,
    LinearSVM,
    LinearSVMCV,
    LogisticRegression,
    OneVsRest,
    Perceptron,
)
from maxmargin.models.calibration import maps
from maxmargin.models.calibration.unseen import by_folds

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
TRAIN, TEST = np.arange(0, 150, 2), np.arange(1, 150, 2)
EVERY = [
    LinearSVM(probability=True),
    LinearSVM(probability=True, multiclass="pairs"),
    LinearSVM(probability=True, multiclass="rest"),
    LinearSVM(probability=True, C=np.inf, multiclass="pairs"),
    LinearSVMCV(Cs=[0.1, 1.0]),
    LogisticRegression(probability=True),
    LeastSquaresClassifier(probability=True),
    FisherDiscriminant(probability=True),
    KernelSVM(probability=True),
    Perceptron(probability=True, max_passes=10),
    KernelPerceptron(probability=True, max_passes=10),
]


def fitted(model, y=Y, rows=TRAIN):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(X[rows], y[rows])


@pytest.mark.parametrize(
    "model", EVERY, ids=lambda m: f"{type(m).__name__}-{m.__dict__.get('multiclass')}"
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_most_probable_label_is_the_one_predicted(model, classes):
    if model.get_params().get("C") == np.inf and classes == 3:
        pytest.skip("iris is not separable")
    y = Y if classes == 3 else np.where(Y == 0, "one", "other")
    model = fitted(model, y)
    P, S = model.predict_proba(X), model.predict_set(X[TEST])
    low, high = model.predict_proba_interval(X)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert ((low <= P) & (high >= P) & (low >= 0) & (high <= 1)).all()
    assert S.dtype == bool
    assert S.shape == (len(TEST), classes)
    own = S[np.arange(len(TEST)), np.searchsorted(model.classes_, y[TEST])]
    assert own.mean() >= 0.8


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["telling", "misleading"])
def test_two_classes_are_mapped_as_k_are(sign):
    rng = np.random.default_rng(4)
    codes, weight = np.arange(90) % 2, rng.uniform(0.5, 2.0, 90)
    S = maps.class_scores(sign * (2.0 * codes - 1.0) + 2.0 * rng.standard_normal(90), 2, False)
    slope, offset = maps.fit_map(S, codes, weight)
    size = float(weight @ np.abs(S[:, 1])) / (2.0 * weight.sum())
    general = maps._Classes(S / size * (slope > 0), maps.targets(codes, 2, weight), weight)
    theta = maps._newton(general)
    np.testing.assert_allclose(offset, theta[1:] - theta[1:].mean(), atol=1e-5)
    assert slope == pytest.approx(max(theta[0], 0.0) / size if sign > 0 else 0.0, rel=1e-4)


def test_whoever_does_not_ask_has_none_and_pays_nothing():
    model = LinearSVM()
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_set")
    assert not hasattr(model.fit(X, Y), "calibration_")
    for asked in ("predict_proba", "predict_set", "predict_proba_interval", "decide"):
        with pytest.raises(AttributeError) as refused:
            getattr(model, asked)
        assert "Fit LinearSVM(probability=True)" in str(refused.value.__cause__)
    model.set_params(probability=True)
    with pytest.raises(NotFittedError, match="fitted without probability=True"):
        model.predict_proba(X)
    with pytest.raises(NotFittedError):
        LinearSVM(probability=True).predict_proba(X)


def test_a_fit_without_probabilities_forgets_those_of_the_last():
    model = LinearSVM(probability=True).fit(X, Y).set_params(probability=False).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    stream = Perceptron(probability=True).fit(X[:100], Y[:100])
    assert not hasattr(stream.partial_fit(X[:100], Y[:100]), "calibration_")


def test_the_fit_itself_is_the_same_with_and_without():
    one, other = LinearSVM().fit(X, Y), LinearSVM(probability=True).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


def test_logistic_regression_keeps_its_own_probabilities():
    one, other = LogisticRegression().fit(X, Y), LogisticRegression(probability=True).fit(X, Y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert hasattr(other, "predict_set")
    assert not hasattr(one, "predict_set")


def test_probabilities_are_those_of_the_distribution():
    """Two normal classes: p = σ(2x) is known; a tenth of the rows is wrong even at the optimum."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1500)
    x = rng.standard_normal((1500, 1)) + np.where(y == 1, 1.0, -1.0)[:, None]
    grid = np.linspace(-2, 2, 41)[:, None]
    true = 1 / (1 + np.exp(-2 * grid[:, 0]))
    model = LinearSVM(probability=True).fit(x, y)
    low, high = model.predict_proba_interval(grid)
    off = np.abs(model.predict_proba(grid)[:, 1] - true)
    assert off.max() < 0.08  # the sigmoid alone 0.05: steps are believed by a quarter
    assert off.mean() < 0.03
    assert np.abs(0.5 * (low + high)[:, 1] - true).mean() < 0.04
    sets = model.predict_set(grid, alpha=0.05)
    assert sets[20].all()
    assert sets[0].tolist() == [True, False]


@pytest.mark.parametrize("per_class", [False, True])
def test_sets_cover_what_they_say(per_class):
    """Over 20 draws of a rare class and a common one."""
    rng, missed, asked = np.random.default_rng(1), np.zeros(2), np.zeros(2)
    for _ in range(20):
        y = (rng.random(400) < 0.2).astype(int)
        x = rng.standard_normal((400, 2)) + 1.2 * y[:, None]
        model = LinearSVM(probability=True).fit(x[:100], y[:100])
        sets = model.predict_set(x[100:], 0.2, per_class)
        out = ~sets[np.arange(300), y[100:]]
        missed += np.bincount(y[100:], out, 2)
        asked += np.bincount(y[100:], minlength=2)
    share = missed / asked
    assert missed.sum() / asked.sum() < 0.2 + 0.02
    if per_class:
        assert share.max() < 0.2 + 0.04
    else:
        assert share[1] > 0.3  # a rare class pays for a common one


def test_weights_are_worth_repetitions():
    weight = np.where(Y == 2, 2.0, 1.0)
    twice = np.concatenate([np.arange(150), np.flatnonzero(Y == 2)])
    one = LinearSVM(probability=True, C=0.1).fit(X, Y, sample_weight=weight)
    two = LinearSVM(probability=True, C=0.1).fit(X[twice], Y[twice])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=0.05)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LeastSquaresClassifier(alpha=1.0), FisherDiscriminant()],
    ids=lambda model: type(model).__name__,
)
def test_weights_of_smooth_losses_are_repetitions(model):
    times = np.arange(150) % 3 + 1
    model.set_params(probability=True)
    one = clone(model).fit(X, Y, sample_weight=times.astype(float)).predict_proba(X)
    two = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(Y, times)).predict_proba(X)
    np.testing.assert_allclose(one, two, atol=1e-4)


def test_rows_of_weight_zero_are_in_no_fold():
    """Of class 2 two rows count: no fold is without both."""
    weight = np.ones(150)
    weight[np.flatnonzero(Y == 2)[2:]] = 0.0
    model = LinearSVM(probability=True)
    one = clone(model).fit(X, Y, sample_weight=weight)
    two = clone(model).fit(X[weight > 0], Y[weight > 0])
    assert one.calibration_.rows == two.calibration_.rows == 102
    codes = np.searchsorted(one.classes_, Y)
    some = np.flatnonzero(weight > 0)
    folded = by_folds(one, X, codes, weight, some)
    np.testing.assert_allclose(folded, by_folds(two, X[some], codes[some], None, np.arange(102)))


def test_reductions_have_the_probabilities_of_their_parts():
    model = OneVsRest(LinearSVM(probability=True)).fit(X, Y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P.argmax(axis=1) == model.predict(X)).mean() > 0.95
    assert not hasattr(OneVsRest(LinearSVM()), "predict_proba")


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2.0, np.nan, "small", True, None])
def test_alpha_must_be_a_share(alpha):
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        fitted(EVERY[0]).predict_set(X, alpha)


def test_a_class_with_one_row_is_told():
    y = np.where(np.arange(150) == 7, 3, Y)
    with pytest.warns(UserWarning, match="1 of 4 classes have one row only, 3 for one"):
        model = LinearSVM(probability=True).fit(X, y)
    assert model.predict_set(X, per_class=True)[:, 3].all()  # nothing is known of it
    assert model.predict_proba(X).shape == (150, 4)


def test_rows_that_are_all_the_same_have_the_shares_of_the_classes():
    y = np.arange(30) % 3 == 0
    model = LinearSVM(probability=True).fit(np.ones((30, 2)), y)
    assert model.predict_proba(np.ones((1, 2)))[0] == pytest.approx([2 / 3, 1 / 3], abs=0.06)


def test_a_model_file_keeps_probabilities_and_no_rows(tmp_path):
    secret = X + np.pi * 1e-3
    for model in (
        LinearSVM(probability=True),
        LinearSVM(probability=True),
        KernelSVM(probability=True),
    ):
        y = Y if model is not EVERY[1] else Y == 1
        model.fit(secret, y)
        again = mm.load(mm.save(model, tmp_path / "m.maxmargin"))
        np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
        np.testing.assert_array_equal(model.predict_set(X), again.predict_set(X))
        assert again.calibration_.error == model.calibration_.error
    linear = LinearSVM(probability=True).fit(secret, Y)
    data = mm.save(linear, tmp_path / "m.maxmargin").read_bytes()
    assert not any(row.tobytes() in data for row in secret)


def test_a_search_has_them_without_being_asked(tmp_path):
    search = LinearSVMCV(Cs=[0.01, 1.0]).fit(X, Y)
    assert search.calibration_.way == "cross-validation"
    assert "corrected for the choice of C" in str(search.calibration_.error)
    plain = search.plain()
    np.testing.assert_array_equal(plain.predict_proba(X), search.predict_proba(X))
    again = mm.load(mm.save(search, tmp_path / "m.maxmargin"))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
