"""Labels, columns and weights as tables on a cluster have them."""

from __future__ import annotations

import warnings

import dask.array as da
import numpy as np
import pytest

from maxmargin import spread as on_dask
from maxmargin.parts.dask.inputs import labels, numbers
from tests.parts.dask.helpers import clouds, spread

pandas = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

COLUMNS = ["a", "b", "c", "d"]


def table(**more):
    X, y = clouds(60)
    codes = (y == "elm").astype(int)
    frame = pandas.DataFrame(X, columns=COLUMNS).assign(
        words=y,
        kinds=pandas.Categorical(y),
        whole=pandas.array(codes, dtype="Int64"),
        truth=pandas.array(codes == 1, dtype="boolean"),
        **{name: make(X) for name, make in more.items()},
    )
    return frame, dd.from_pandas(frame, npartitions=3)


@pytest.mark.parametrize(
    ("column", "classes"),
    [
        ("words", ["ash", "elm"]),
        ("kinds", ["ash", "elm"]),
        ("whole", [0, 1]),
        ("truth", [False, True]),
    ],
)
def test_labels_of_every_kind_and_no_warnings_of_their_types(near, column, classes):
    frame, lazy = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = on_dask.LeastSquaresClassifier().fit(lazy[COLUMNS], lazy[column])
        right = model.score(lazy[COLUMNS], lazy[column])
    assert model.classes_.tolist() == classes
    assert right == np.mean(model.predict(frame[COLUMNS]) == frame[column].to_numpy())


def test_columns_of_pandas_own_types_are_numbers(near):
    frame, lazy = table(e=lambda X: pandas.array(np.round(X[:, 0]).astype(int), dtype="Int64"))
    model = on_dask.LeastSquaresClassifier().fit(lazy[[*COLUMNS, "e"]], lazy["words"])
    plain = frame[[*COLUMNS, "e"]].astype(float)
    assert model.predict(lazy[[*COLUMNS, "e"]]).compute().tolist() == model.predict(plain).tolist()


def test_objects_become_what_they_are():
    assert labels(np.array([1, 2], dtype=object)).dtype == np.int64
    assert labels(np.array([True, False], dtype=object)).dtype == bool
    assert labels(np.array(["x", "y"], dtype=object)).dtype == object
    assert labels(np.array([1, "y"], dtype=object)).dtype == object
    found = numbers(np.array([[1, 2.5], [pandas.NA, None]], dtype=object))
    assert np.array_equal(found, [[1.0, 2.5], [np.nan, np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"words": lambda X: np.where(X[:, 0] > 1e9, "ash", None)}, "0 of y has no label"),
        ({"a": lambda X: ["one"] * len(X)}, "0 of X holds what is no number.*get_dummies"),
        ({"a": lambda X: pandas.array([None, *X[1:, 0]], dtype="Float64")}, "NaN.* row 0"),
    ],
)  # fmt: skip
def test_what_is_missing_or_no_number_is_told_once(near, capfd, change, complaint):
    frame, _ = table()
    X = frame[COLUMNS].to_numpy()
    for column, make in change.items():
        frame[column] = make(X)
    lazy = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(ValueError, match=complaint):
        on_dask.LinearSVM().fit(lazy[COLUMNS], lazy["words"])
    assert "Compute Failed" not in capfd.readouterr().err  # which a worker would say of an error


def test_labels_in_memory_need_rows_that_are_counted(near):
    frame, lazy = table()
    with pytest.raises(ValueError, match=r"to_dask_array\(lengths=True\)"):
        on_dask.LinearSVM().fit(lazy[COLUMNS], frame["words"])
    counted = lazy[COLUMNS].to_dask_array(lengths=True)
    model = on_dask.LeastSquaresClassifier().fit(counted, frame["words"])
    assert model.coef_ == pytest.approx(
        on_dask.LeastSquaresClassifier().fit(lazy[COLUMNS], lazy["words"]).coef_
    )


def test_columns_are_compared_when_the_collection_comes_not_when_it_is_computed(near):
    _, lazy = table()
    model = on_dask.LeastSquaresClassifier().fit(lazy[COLUMNS], lazy["words"])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(lazy[COLUMNS[::-1]])
    with pytest.raises(ValueError, match="X has 3 features, but LeastSquaresClassifier"):
        model.predict(da.zeros((6, 3)))
    with pytest.raises(ValueError, match="feature names should match"):
        model.score(lazy[COLUMNS[::-1]], lazy["words"])


def test_weights_are_repetitions(near):
    X, y = clouds(40)
    times = np.arange(40) % 3
    DX, Dy = spread(X, y, [15])
    weighed = on_dask.LeastSquaresClassifier()
    weighed.fit(DX, Dy, sample_weight=da.from_array(times, chunks=25))
    again = np.repeat(np.arange(40), times)
    repeated = on_dask.LeastSquaresClassifier().fit(*spread(X[again], y[again], [20]))
    assert weighed.coef_ == pytest.approx(repeated.coef_)
    with_weights = weighed.score(DX, Dy, sample_weight=times.astype(float))
    assert with_weights == pytest.approx(weighed.score(X[again], y[again]))
