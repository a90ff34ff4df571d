"""Perceptron: the rule, its dual side, its modes, streams, endings and refusals."""

import _thread
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.core.certify.mistakes import NoMistakeBound
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.perceptron.linear_perceptron import LinearLearner, fresh_weights
from maxmargin.core.solve.perceptron.updates import Rule
from maxmargin.models.labels import label_codes
from maxmargin.models.perceptron.mistake_bound import mistake_bound
from maxmargin.models.perceptron.perceptron import Perceptron
from maxmargin.models.perceptron.steps import perceptron_steps

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([Perceptron()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def whole_numbers(k=2, n=60, d=4, seed=0):
    """Inseparable integer data: every sum is exact, ties happen."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, (n, d)).astype(float), rng.integers(0, k, n)


def naive(X, y, passes, k, margin=0.0, size=1, intercept=True):
    """The lectures' algorithm in plain Python; returns W, b and the points updated."""
    W, b, updated = np.zeros((k, X.shape[1])), np.zeros(k), []
    w, b0 = np.zeros(X.shape[1]), 0.0
    for _ in range(passes):
        for start in range(0, len(y), size):
            batch = range(start, min(start + size, len(y)))
            if k == 2:
                s = 2 * y - 1
                bad = [i for i in batch if s[i] * (X[i] @ w + b0) <= margin]
                for i in bad:
                    w, b0 = w + s[i] * X[i], b0 + s[i] * intercept
            else:
                guess = {i: int(np.argmax(W @ X[i] + b)) for i in batch}
                bad = [i for i in batch if guess[i] != y[i]]
                for i in bad:
                    W[y[i]] += X[i]
                    W[guess[i]] -= X[i]
                    b[y[i]] += intercept
                    b[guess[i]] -= intercept
            updated += bad
    return (w[None], np.array([b0]), updated) if k == 2 else (W, b, updated)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("size", [1, 7, "all"])
def test_the_plain_algorithm(store, dtype, k, size):
    X, y = whole_numbers(k)
    model = Perceptron("cycle", batch_size=size, max_passes=6).fit(store(X.astype(dtype)), y)
    W, b, updated = naive(X, y, model.n_iter_, k, size=60 if size == "all" else size)
    assert np.array_equal(model.coef_, W)
    assert np.array_equal(model.intercept_, b)
    assert model.updates_ == len(updated)
    assert model.coef_.dtype == dtype


@pytest.mark.parametrize("order", ["cycle", "shuffle", "random"])
@pytest.mark.parametrize("size", [1, 8, "all"])
def test_weights_are_the_counted_sum_of_the_points(order, size):
    X, y = whole_numbers()
    model = Perceptron(order, batch_size=size, max_passes=20, random_state=3).fit(X, y)
    signed = model.alpha_ * (2 * y - 1)
    assert np.array_equal(model.coef_[0], signed @ X)
    assert model.intercept_[0] == signed.sum()
    assert model.updates_ == model.alpha_.sum()
    X, y = whole_numbers(4)
    model = Perceptron(order, batch_size=size, max_passes=20, random_state=3).fit(X, y)
    assert np.array_equal(model.coef_, model.alpha_.T @ X)
    assert np.array_equal(model.intercept_, model.alpha_.sum(axis=0))
    assert model.updates_ == model.alpha_.clip(0).sum()


def test_two_classes_through_the_rule_for_k():
    """Same updates; the smallest positive margin makes a tie a violation, as for two classes."""
    X, y = whole_numbers()
    two = Perceptron("cycle", max_passes=9).fit(X, y)
    rows, rule = as_rows(X), Rule(np.ones(2), 5e-324, 1.0)
    many = LinearLearner(rows, y, rule, 1, fresh_weights(2, rows, False), np.zeros((60, 2), int))
    for _ in range(two.n_iter_):
        many.sweep(np.arange(60))
    assert np.array_equal(many.weights.W, [-two.coef_[0], two.coef_[0]])
    assert np.array_equal(many.alpha[np.arange(60), y], two.alpha_)
    guess = (X @ many.weights.W.T + many.weights.b).argmax(axis=1)
    assert np.array_equal(guess, two.predict(X))


def test_same_weights_as_scikit_learn():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((500, 20))
    y = (X[:, 0] + 0.5 * rng.standard_normal(500) > 0).astype(int)
    ours = Perceptron("cycle", max_passes=7).fit(X, y)
    theirs = TheirPerceptron(max_iter=7, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("size", [1, 9])
def test_lazy_average_is_the_mean_of_all_weights(k, size):
    X, y = whole_numbers(k)
    model = Perceptron("cycle", average=True, batch_size=size, max_passes=4).fit(X, y)
    steps, total, last = 0, 0.0, None
    for passes in range(model.n_iter_):
        for stop in range(size, 60 + size, size):
            part = Perceptron("cycle", batch_size=size, max_passes=1)
            inner = X[stop - size : min(stop, 60)], y[stop - size : min(stop, 60)]
            classes = None if (passes, stop) != (0, size) else np.arange(k)
            last = (last or part).partial_fit(*inner, classes=classes)
            total = total + last.coef_
            steps += 1
    np.testing.assert_allclose(model.coef_, total / steps, rtol=1e-12, atol=1e-12)
    assert np.array_equal(model.last_coef_, last.coef_)


def test_margin_is_kept_by_every_point():
    X = np.array([[2.0, 0], [3, 1], [-2, 0], [-3, 1]])
    model = Perceptron(margin=5.0).fit(X, [1, 1, 0, 0])
    assert (np.array([1, 1, -1, -1]) * model.decision_function(X)).min() > 5.0
    three = Perceptron(margin=5.0).fit(np.eye(3), [0, 1, 2])
    F = np.sort(three.decision_function(np.eye(3)), axis=1)
    assert (F[:, -1] - F[:, -2]).min() > 5.0


def test_class_weight_scales_the_update():
    X, y = whole_numbers()
    model = Perceptron("cycle", class_weight={0: 3.0, 1: 0.5}, max_passes=5).fit(X, y)
    signed = model.alpha_ * np.where(y == 1, 0.5, -3.0)
    assert np.array_equal(model.coef_[0], signed @ X)
    balanced = Perceptron("cycle", class_weight="balanced", max_passes=5).fit(X, y)
    scale = 60 / (2 * np.bincount(y))[y]
    np.testing.assert_allclose(balanced.coef_[0], (balanced.alpha_ * (2 * y - 1) * scale) @ X)


@pytest.mark.parametrize("k", [2, 3])
def test_pocket_is_the_best_pass(k):
    X, y = whole_numbers(k)
    plain, pocket = (Perceptron(max_passes=40, pocket=p).fit(X, y) for p in (False, True))
    assert pocket.certificate_.wrong <= plain.certificate_.wrong
    assert pocket.certificate_.wrong == (pocket.predict(X) != y).sum()
    signed = pocket.alpha_ * (2 * y - 1) @ X if k == 2 else pocket.alpha_.T @ X
    assert np.array_equal(np.atleast_2d(signed), pocket.coef_)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("power", [-565, 531])
def test_products_that_underflow_or_overflow_lose_no_sign(k, power):
    """Rows of size 1e-170 or 1e160: the run of rows of size one, a power of two away."""
    X, y = make_blobs(30, 3, centers=k, random_state=3)
    X /= 16.0
    small = Perceptron("cycle", fit_intercept=False, max_passes=40)
    ordinary = clone(small).fit(X, y)
    extreme = small.fit(np.ldexp(X, power), y)
    assert extreme.updates_ == ordinary.updates_ > 0
    assert extreme.certificate_.wrong == ordinary.certificate_.wrong
    np.testing.assert_array_equal(extreme.coef_, np.ldexp(ordinary.coef_, power))
    np.testing.assert_array_equal(extreme.predict(np.ldexp(X, power)), ordinary.predict(X))


def test_random_state_determines_the_run():
    X, y = whole_numbers(3)
    for order in ("shuffle", "random"):
        runs = [Perceptron(order, max_passes=3, random_state=s).fit(X, y) for s in (1, 1, 2)]
        assert np.array_equal(runs[0].alpha_, runs[1].alpha_)
        assert not np.array_equal(runs[0].alpha_, runs[2].alpha_)


def test_loss_that_settles_stops_the_run():
    X, y = whole_numbers()
    model = Perceptron("cycle", batch_size="all", tol=0.2).fit(X, y)
    losses = [line.loss for line in model.history_]
    assert abs(losses[-1] - losses[-2]) <= 0.2 * max(losses[-2:])
    assert model.n_iter_ < 1000


def test_warm_start_goes_on():
    X, y = whole_numbers()
    model = Perceptron("cycle", max_passes=3, warm_start=True, average=True).fit(X, y).fit(X, y)
    once = Perceptron("cycle", max_passes=6, average=True).fit(X, y)
    assert np.array_equal(model.coef_, once.coef_)
    assert np.array_equal(model.alpha_, once.alpha_)
    assert model.updates_ == once.updates_
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:, :2], y)


def test_start_from_given_weights():
    X = np.array([[1.0], [-1.0]])
    assert Perceptron().fit(X, [1, 0], coef_init=[[7.0]]).updates_ == 0
    with pytest.raises(ValueError, match="coef_init must hold 1 finite"):
        Perceptron().fit(X, [1, 0], coef_init=[1.0, 2.0])


@pytest.mark.parametrize("k", [2, 3])
def test_stream_of_single_points_is_one_pass(k):
    X, y = whole_numbers(k)
    fitted = Perceptron("cycle", max_passes=1, average=True).fit(X, y)
    stream = Perceptron("cycle", average=True)
    for i in range(60):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.arange(k))
    np.testing.assert_allclose(stream.coef_, fitted.coef_, rtol=1e-12, atol=1e-12)
    assert stream.updates_ == fitted.updates_
    assert not hasattr(fitted.partial_fit(X, y), "certificate_")


def test_stream_names_the_unseen_label_and_stays_as_it_was():
    model = Perceptron()
    with pytest.raises(ValueError, match="first call"):
        model.partial_fit([[1.0]], ["a"])
    model.partial_fit([[1.0]], ["b"], classes=["a", "b"])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"'c'.*\['a', 'b'\]"):
        model.partial_fit([[1.0], [2.0]], ["a", "c"])
    with pytest.raises(ValueError, match="began with"):
        model.partial_fit([[1.0]], ["a"], classes=["a", "z"])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit([[1.0, 2.0]], ["a"])
    for bad in ([[np.nan]], np.array([[np.inf]])):
        with pytest.raises(ValueError, match=r"NaN|inf"):
            model.partial_fit(bad, np.array(["a"]))
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"order": "up"}, "order must be one of"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"batch_size": "some"}, "batch_size must be"),
        ({"learning_rate": 0}, "learning_rate must be"),
        ({"margin": -1}, "margin must be"),
        ({"max_passes": 0}, "max_passes must be"),
        ({"tol": -1.0}, "tol must be"),
        ({"pocket": True, "average": True}, "Choose one"),
        ({"class_weight": {0: -1.0, 1: 1.0}}, "class_weight must hold"),
    ],
)
def test_bad_parameters_change_nothing(wrong, words):
    X, y = whole_numbers()
    model = Perceptron(max_passes=2).fit(X, y).set_params(**wrong)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=words):
        model.fit(X[:, :1], y)
    assert pickle.dumps(model) == before


def test_trace_replays_the_run():
    for k, size in ((2, 1), (3, 1), (2, 16), (3, "all")):
        for store in (np.asarray, sparse.csr_matrix):
            X, y = whole_numbers(k)
            settings = {"order": "random", "batch_size": size, "max_passes": 4}
            model = Perceptron(trace=True, **settings).fit(store(X), y)
            updates = list(model.trace_)
            assert len(model.trace_) == model.updates_
            assert sum(len(step.points) for step in updates) == model.updates_
            for one, two in pairwise(updates):
                assert np.array_equal(one.w, two.old_w)
            assert np.array_equal(np.atleast_2d(updates[-1].w), model.coef_)
            assert np.array_equal(np.atleast_1d(updates[-1].b), model.intercept_)
            stepped = list(perceptron_steps(store(X), y, **settings))
            assert [s.point for s in stepped] == [s.point for s in updates]
            assert np.array_equal(stepped[-1].w, updates[-1].w)
            assert [s.loss for s in stepped] == [s.loss for s in updates]


def test_certificate_counts_and_explains():
    X, y = whole_numbers()
    with pytest.warns(ConvergenceWarning, match="still wrong"):
        model = Perceptron(max_passes=5, explain=True).fit(X, y)
    wrong = (model.predict(X) != y).sum()
    assert model.certificate_.wrong == wrong
    assert f"{wrong} of 60 training points still wrong" in str(model.certificate_)
    assert "proved not separable" in str(model.certificate_)
    proof = model.certificate_.separation
    assert abs((proof.weights * (2 * y - 1)) @ X).max() < 1e-9
    three = Perceptron(max_passes=5, explain=True).fit(*whole_numbers(3))
    assert not three.certificate_.separation.separable
    X[:, 0] += 20 * (2 * y - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Perceptron(explain=True).fit(X, y)
    assert model.certificate_.separates
    assert model.updates_ <= model.mistake_bound_.bound
    assert model.radius_ == pytest.approx(model.mistake_bound_.radius)


def test_no_bound_for_the_inseparable():
    with pytest.raises(NoMistakeBound, match="2 classes are not separable") as caught:
        mistake_bound([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert caught.value.proof.residual < 1e-9
    with pytest.raises(NoMistakeBound, match=r"3 classes are not separable.*difference"):
        mistake_bound([[0.0], [0.0], [1.0], [2.0]], [0, 1, 2, 2])


def test_codes_without_sorting():
    rng = np.random.default_rng(0)
    for y in (rng.integers(-5, 9, 99), rng.integers(0, 2, 9).astype(np.uint8),
              np.array([2**62, -(2**62), 2**62]), np.array(["b", "a", "b"])):  # fmt: skip
        ours, theirs = label_codes(y), np.unique(y, return_inverse=True)
        assert np.array_equal(ours[0], theirs[0])
        assert ours[0].dtype == theirs[0].dtype
        assert np.array_equal(ours[1], theirs[1])


def test_interrupt_keeps_the_state(monkeypatch):
    X, y = whole_numbers()
    sweep, calls = LinearLearner.sweep, []

    def interrupted(self, order):
        calls.append(1)
        if len(calls) == 4:
            _thread.interrupt_main()
        return sweep(self, order)

    monkeypatch.setattr(LinearLearner, "sweep", interrupted)
    with pytest.warns(ConvergenceWarning, match="warm_start=True"):
        model = Perceptron("cycle").fit(X, y)
    assert 3 <= model.n_iter_ <= 4
    assert np.array_equal(model.coef_[0], (model.alpha_ * (2 * y - 1)) @ X)
