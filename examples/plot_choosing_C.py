"""
Choosing C
==========

Thirteen values, five folds, one warm path for each; the smallest C that is as good as the best,
within a standard error, is marked too.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from maxmargin import CrossValidationDisplay, LinearSVMCV

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
search = LinearSVMCV(cv=5).fit(X, y)
print(f"C = {search.C_:g}: {search.score(X, y):.1%} of the training rows right")
assert search.scores_.shape == (5, 13)
assert search.certificate_.holds(1e-6)
CrossValidationDisplay.from_estimator(search)
