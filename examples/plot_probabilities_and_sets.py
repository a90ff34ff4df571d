"""
Probabilities and sets
======================

Calibrated on scores of rows that a fit had not seen; where classes cannot be told apart, a set says
so.
"""

from sklearn.datasets import make_blobs

from maxmargin import ChancesDisplay, LinearSVM

X, y = make_blobs(2000, centers=[[0, 0], [2, 1], [1, 2]], random_state=0)
train, test = slice(0, 200), slice(200, None)
svm = LinearSVM(probability=True).fit(X[train], y[train])
P = svm.predict_proba(X[test])
assert (P.argmax(axis=1) == svm.predict(X[test])).all()  # never contradicts the label

sets = svm.predict_set(X[test], alpha=0.1)
covered = sets[range(1800), y[test]].mean()
print(f"{covered:.1%} of the sets hold the true class, {sets.sum(axis=1).mean():.2f} classes each")
assert 0.87 < covered < 0.95

# %%
# What probabilities were learned from which scores:

ChancesDisplay.from_estimator(svm)
