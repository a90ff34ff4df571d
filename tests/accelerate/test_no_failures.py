"""No fit of the benchmark's models ends by an exception of ours, which would be a silent fall-back.

``benchmarks.accelerate`` itself stops at one; this is the same on few rows, two and three classes,
dense and sparse.
"""

import numpy as np
import pytest
from benchmarks.accelerate_cases import MADE, REAL, describe
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV

from maxmargin import accelerate
from maxmargin.accelerate.case import STOPPED

pytestmark = pytest.mark.usefixtures("fresh_patch")
MODELS = {
    describe(model): model
    for _, models in (MADE | REAL).values()
    for model in models
    if not isinstance(model, GridSearchCV)
}
X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "rows",
    [np.asarray, pytest.param(sparse.csr_matrix, marks=pytest.mark.slow)],
    ids=["dense", "sparse"],
)
@pytest.mark.filterwarnings("ignore")
def test_no_fit_ends_by_an_exception(name, rows):
    model = MODELS[name]
    if rows is not np.asarray and isinstance(model, LinearDiscriminantAnalysis):
        pytest.skip("discriminants are of dense rows")
    with accelerate.accelerated(load="now", compare=True):
        for some in (slice(50, None), slice(None)):
            classes = len(np.unique(Y[some]))
            if getattr(model, "solver", "") != "liblinear" or classes == 2:
                clone(model).fit(rows(X[some]), Y[some])
    fits = accelerate.fits()
    assert fits
    assert [fit.why for fit in fits if STOPPED in fit.why] == []


def test_a_judge_that_fails_is_told(monkeypatch):
    from sklearn.svm import LinearSVC

    from maxmargin.accelerate.linear_svc import LinearSVCCase

    def fail(case, value):
        raise RuntimeError("no")

    monkeypatch.setattr(LinearSVCCase, "predict", fail)
    with accelerate.accelerated(load="now", compare=True):
        LinearSVC().fit(X, Y)
    assert accelerate.fits()[0].why.endswith(f"; its judge {STOPPED} RuntimeError: no")
