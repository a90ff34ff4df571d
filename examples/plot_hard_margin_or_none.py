"""
A hard margin, or the proof that there is none
==============================================

With C = ∞ no point may enter the street. Where no line separates, weights on the points of both
classes prove it: their weighted means are the same point.
"""

import numpy as np
from sklearn.datasets import load_iris

from maxmargin import BoundaryDisplay, LinearSVM, NotSeparableError

X, y = load_iris(return_X_y=True)
X, y = X[:100, [1, 3]], y[:100]
hard = LinearSVM(C=np.inf).fit(X, y)
assert round(hard.margin_, 3) == 0.291
assert len(hard.support_) == 3
BoundaryDisplay.from_estimator(hard, X, y)

# %%
# One versicolor amid the setosas, and no line is left.

X2, y2 = np.vstack([X, [[3.4, 0.2]]]), np.append(y, 1)
try:
    LinearSVM(C=np.inf).fit(X2, y2)
except NotSeparableError as error:
    weights = error.proof.weights
    print(error)
meet = [weights[y2 == c] @ X2[y2 == c] for c in (0, 1)]
assert np.allclose(*meet)

# %%
# A price for slack brings a line back.

BoundaryDisplay.from_estimator(LinearSVM(C=1.0).fit(X2, y2), X2, y2)
