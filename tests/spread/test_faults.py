"""What goes wrong on a cluster: lost workers, bad values, rows that do not match."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import dask.array as da
import numpy as np
import pytest

import maxmargin
from maxmargin import spread as on_dask
from maxmargin.spread import dask_parts
from tests.spread.helpers import clouds, spread


@pytest.mark.parametrize("forget", [10, 1000])  # from copies of memories, or from the data on
def test_a_worker_killed_in_the_middle_does_not_change_the_answer(client, monkeypatch, forget):
    X, y = clouds(200, 3)
    killed = []
    ask = dask_parts.DaskParts.ask

    def watched(self, task, *told):
        if self.traffic.rounds == 15:
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        yield from ask(self, task, *told)

    monkeypatch.setattr(dask_parts.DaskParts, "ask", watched)
    monkeypatch.setattr(dask_parts, "FORGET", forget)
    model = on_dask.LinearSVM(tol=1e-4).fit(*spread(X, y, [50, 120]))
    assert killed
    assert model.certificate_.holds(1e-4)
    exact = maxmargin.LinearSVM(tol=1e-6).fit(X, y).certificate_.primal
    assert model.certificate_.primal == pytest.approx(exact, rel=1.1e-4)


def test_a_client_that_comes_back(cluster):
    import distributed

    X, y = clouds()
    model = on_dask.LogisticRegression(tol=1e-3, warm_start=True)
    steps = []
    for _ in range(2):
        with distributed.Client(cluster.scheduler_address) as client:
            client.wait_for_workers(1)
            steps.append(model.fit(*spread(X, y, [100])).n_iter_)
            assert model.certificate_.holds(1e-3)
    assert steps[1] <= steps[0]


def test_traffic_grows_with_columns_not_with_rows(client):
    largest = {}
    for n, d in ((60, 600), (180, 600), (60, 1200)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d)) / np.sqrt(d)
        y = (X[:, 0] > 0).astype(int)
        model = on_dask.LinearSVM(C=0.1, tol=1e-2).fit(*spread(X, y, [n // 2]))
        assert model.traffic_.parts == 2
        largest[n, d] = model.traffic_.largest_sent + model.traffic_.largest_received
    assert largest[180, 600] == largest[60, 600]
    assert 1.8 < largest[60, 1200] / largest[60, 600] < 2.2
    assert largest[60, 600] < 8 * 600 * 6  # a few vectors as long as w


def test_bad_values_are_named_with_their_partition(client):
    X, y = clouds()
    X[130, 2] = np.nan
    with pytest.raises(ValueError, match=r"Partition 1 of X holds NaN.*row 30"):
        on_dask.LinearSVM().fit(*spread(X, y, [100]))


def test_rows_that_do_not_match(client):
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


def test_refusals_say_what_to_do(client):
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


def test_without_a_client_a_local_cluster_is_made_and_closed():
    code = (
        "from tests.spread.helpers import clouds, spread\n"
        "from maxmargin.spread import LinearSVM\n"
        "import distributed\n"
        "model = LinearSVM(tol=1e-3).fit(*spread(*clouds(), [100]))\n"
        "print(model.where_)\n"
        "try:\n    distributed.get_client()\nexcept ValueError:\n    print('closed')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "started for this fit and closed after it" in found.stdout
    assert "closed" in found.stdout.splitlines()[-1]


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"maxmargin\[dask\]"):
        on_dask.LinearSVM().fit(np.zeros((2, 2)), [0, 1])
