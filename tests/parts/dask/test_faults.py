"""What goes wrong on a cluster: lost workers, bad values, rows that do not match."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest

import maxmargin
from maxmargin import spread as on_dask
from maxmargin.parts.dask import cluster_wait as patience
from maxmargin.parts.dask.cluster_wait import ClusterLost
from tests.parts.dask.helpers import Deadly, at_question, clouds, spread


@pytest.mark.parametrize(
    ("name", "parameters", "k", "question"),
    [
        ("LinearSVM", {"tol": 1e-3}, 2, 7),
        ("LinearSVM", {"tol": 1e-2, "C": 0.1}, 3, 5),
        pytest.param(
            "LinearSVM", {"tol": 1e-2, "C": 0.1, "multiclass": "rest"}, 3, 5, marks=pytest.mark.slow
        ),
        ("LogisticRegression", {"tol": 1e-4}, 3, 2),
        pytest.param("LeastSquaresClassifier", {}, 3, 2, marks=pytest.mark.slow),
    ],
)
def test_a_worker_that_dies_in_the_middle_does_not_change_the_answer(
    client, monkeypatch, tmp_path, name, parameters, k, question
):
    X, y = clouds(120, 3, k=k)
    marker = tmp_path / "died"
    at_question(monkeypatch, question, lambda parts, task: Deadly(task, marker))
    model = getattr(on_dask, name)(**parameters).fit(*spread(X, y, [50, 90]))
    assert marker.exists()
    tol = parameters.get("tol", 1e-8)
    assert model.certificate_.holds(tol)
    exact = getattr(maxmargin, name)(**{**parameters, "tol": 1e-6} if "tol" in parameters else {})
    exact.fit(X, y)
    if name == "LeastSquaresClassifier":
        assert model.coef_ == pytest.approx(exact.coef_, rel=1e-8, abs=1e-10)
    else:
        assert model.certificate_.primal == pytest.approx(exact.certificate_.primal, rel=1.1 * tol)


def test_a_cluster_without_workers_is_told_of(monkeypatch):
    import distributed

    monkeypatch.setattr(patience, "MAX_WAIT", 0.05)
    DX, Dy = spread(*clouds(), [100])
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        distributed.Client(empty) as client,
    ):
        model = on_dask.LinearSVM()
        with pytest.raises(ClusterLost, match=r"no worker for 0\.05 seconds"):
            model.fit(DX, Dy)
        assert not hasattr(model, "classes_")
        # All lost after the rows were spread out: the question stays without an answer.
        with pytest.raises(ClusterLost, match="no worker"):
            patience.gather(client, [client.submit(int, 1)])


def test_errors_of_dask_that_mean_a_lost_cluster_say_what_to_do():
    from asyncio import CancelledError

    from distributed import KilledWorker

    with pytest.raises(ClusterLost, match="smaller partitions"), patience.in_words():
        raise KilledWorker("_run", SimpleNamespace(address="tcp://nowhere"), 3)
    with pytest.raises(ClusterLost, match="start the fit afresh"), patience.in_words():
        raise CancelledError


def test_a_client_that_comes_back(threads):
    import distributed

    X, y = clouds()
    model = on_dask.LogisticRegression(tol=1e-3, warm_start=True)
    steps = []
    for _ in range(2):
        with distributed.Client(threads.scheduler_address) as client:
            client.wait_for_workers(1)
            steps.append(model.fit(*spread(X, y, [100])).n_iter_)
            assert model.certificate_.holds(1e-3)
    assert steps[1] <= steps[0]


def test_traffic_grows_with_columns_not_with_rows(near):
    largest = {}
    for n, d in ((60, 600), (180, 600), (60, 1200)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d)) / np.sqrt(d)
        y = (X[:, 0] > 0).astype(int)
        model = on_dask.LinearSVM(C=0.1, tol=1e-2).fit(*spread(X, y, [n // 2]))
        assert model.traffic_.parts == 2
        largest[n, d] = model.traffic_.largest_received
        # Vectors as long as w; multipliers of rows near their margin, of which all are here.
        assert model.traffic_.largest_sent < 8 * (6 * d + n)
    assert largest[180, 600] == largest[60, 600]
    assert 1.8 < largest[60, 1200] / largest[60, 600] < 2.2
    assert largest[60, 600] < 8 * 600 * 6


def test_bad_values_are_named_with_their_partition(near):
    X, y = clouds()
    X[130, 2] = np.nan
    with pytest.raises(ValueError, match=r"Partition 1 of X holds NaN.*row 30"):
        on_dask.LinearSVM().fit(*spread(X, y, [100]))


def test_rows_that_do_not_match(near):
    X, y = clouds()
    DX, Dy = spread(X, y, [100])
    other = da.from_array(y, chunks=70)
    model = on_dask.LeastSquaresClassifier().fit(DX, other)  # cut again, as sizes are known
    assert model.coef_ == pytest.approx(on_dask.LeastSquaresClassifier().fit(DX, Dy).coef_)
    with pytest.raises(ValueError, match="X has 240 rows, but y has 100"):
        on_dask.LinearSVM().fit(DX, Dy[:100])
    unknown, _ = spread(X, y, [100], unknown=True)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        on_dask.LinearSVM().fit(unknown, y)


def test_refusals_say_what_to_do(near):
    X, y = clouds(k=3)
    DX, Dy = spread(X, y, [100])
    with pytest.raises(TypeError, match=r"maxmargin\.LinearSVM"):
        on_dask.LinearSVM().fit(X, y)
    with pytest.raises(ValueError, match="multiclass"):
        on_dask.LinearSVM(multiclass="most").fit(DX, Dy)
    model = on_dask.LinearSVM()
    with pytest.raises(ValueError, match="only one class"):
        model.fit(DX, da.full(240, "elm", chunks=(DX.chunks[0],)))
    assert not hasattr(model, "classes_")


def test_without_a_client_a_local_cluster_is_made_and_closed(monkeypatch):
    import distributed

    with pytest.raises(ValueError, match="No global client"):
        distributed.get_client()
    made = []

    class Noted(distributed.LocalCluster):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            made.append(self)

    monkeypatch.setattr(distributed, "LocalCluster", Noted)
    model = on_dask.LeastSquaresClassifier().fit(*spread(*clouds(), [100]))
    assert "started for this fit and closed after it" in model.where_
    assert [cluster.status for cluster in made] == [distributed.Status.closed]
    with pytest.raises(ValueError, match="No global client"):
        distributed.get_client()


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"maxmargin\[dask\]"):
        on_dask.LinearSVM().fit(np.zeros((2, 2)), [0, 1])
