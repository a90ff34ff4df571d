"""
A change of basis, or a kernel
==============================

Circles that no line separates: straight in polar coordinates, and in the space of a kernel.
"""

from sklearn.datasets import make_circles
from sklearn.pipeline import make_pipeline

from maxmargin import BasisDisplay, BoundaryDisplay, KernelSVM, LinearSVM, PolarBasis, separability

X, y = make_circles(150, factor=0.4, noise=0.05, random_state=0)
assert not separability(X, y).separable
polar = make_pipeline(PolarBasis(), LinearSVM(C=1.0)).fit(X, y)
assert polar.score(X, y) == 1.0
BasisDisplay.from_estimator(polar, X, y)

# %%
# The kernel machine never forms its basis, and is proved all the same.

kernel = KernelSVM(C=1.0).fit(X, y)
assert kernel.certificate_.holds(1e-6)
assert kernel.score(X, y) == 1.0
BoundaryDisplay.from_estimator(kernel, X, y)
