"""
What nobody claims
==================

Yes-or-no questions, put together, leave some points to nobody or to several classes; one problem
for all classes does not.
"""

from sklearn.datasets import make_blobs

from maxmargin import BoundaryDisplay, LinearSVM, OneVsOne, OneVsRest, UnknownRegionsDisplay

X, y = make_blobs(90, centers=3, random_state=1)
rest, duels = (kind(LinearSVM(), unknown=-1).fit(X, y) for kind in (OneVsRest, OneVsOne))
UnknownRegionsDisplay.from_estimators([rest, duels], X, y)

# %%
# All classes at once:

joint = LinearSVM().fit(X, y)
assert joint.certificate_.holds(1e-6)
assert set(joint.predict(X)) == {0, 1, 2}
BoundaryDisplay.from_estimator(joint, X, y)
