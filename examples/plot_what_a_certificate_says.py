"""
What a certificate says
=======================

A fit returns a proof of how far it can be from the optimum: a lower bound on the objective that no
weights whatsoever can undercut.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin import BoundaryDisplay, LinearSVM, verify

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
svm = LinearSVM(C=1.0).fit(X, y)
proof = svm.certificate_
print(proof)
assert proof.dual <= proof.primal
assert proof.relative_gap < 1e-6

# %%
# It is recomputed from the data, so it can be checked by whoever has them; other data tell
# another truth.

assert verify(svm, X, y).holds(1e-6)
other = verify(svm, X[:300], y[:300])
print(f"on the first 300 rows: {other.relative_gap:.0%} above the optimum there")
assert not other.holds(1e-2)

# %%
# Thirty features in a plane: across, the true distance to the boundary.

BoundaryDisplay.from_estimator(svm, X, y)
