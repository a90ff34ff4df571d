"""Where scikit-learn converges (``tol=1e-8``), rows that no fit has seen are predicted alike.

``python -m benchmarks.accelerate_same`` states the figure for more models and real data.
"""

import pytest
from benchmarks.accelerate_same import TOL, compared
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

pytestmark = pytest.mark.usefixtures("fresh_patch")


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(tol=TOL, max_iter=100_000),
        LogisticRegression(tol=TOL, max_iter=10_000),
        SVC(kernel="linear", tol=TOL),
    ],
    ids=str,
)
def test_rows_are_predicted_alike(model):
    X, y = make_classification(1000, 8, flip_y=0.1, random_state=0)
    assert compared(model, X, y) == {
        "rows": 500,
        "changed": 0,
        "converged": True,
        "by_maxmargin": True,
    }


@pytest.mark.slow
def test_digits_are_predicted_alike():
    X, y = load_digits(return_X_y=True)
    found = compared(LinearSVC(tol=TOL, max_iter=100_000), X / 16.0, y)
    assert found["changed"] == 0
    assert found["by_maxmargin"]
