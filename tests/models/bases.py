"""Data of k classes, and small classifiers of two that show what a meta-estimator does."""

import os
import signal
import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from maxmargin import OneVsOne, OneVsRest

BOTH = [OneVsRest, OneVsOne]


def blobs(k=4, n=120, spread=2.0, seed=0):
    return make_blobs(n, 2, centers=k, cluster_std=spread, random_state=seed)


class Centroid(ClassifierMixin, BaseEstimator):
    """The nearer of two means; can do nothing but predict."""

    def fit(self, X, y):
        self.means_ = np.array([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
        return self

    def predict(self, X):
        return ((X[:, None, :] - self.means_) ** 2).sum(axis=2).argmin(axis=1)


class Moody(Centroid):
    """Warns, fails or is interrupted when its second class is at the right place."""

    def __init__(self, mood="warn", threshold=-np.inf):
        self.mood = mood
        self.threshold = threshold

    def fit(self, X, y):
        if X[y == 1, 0].mean() > self.threshold:
            if self.mood == "warn":
                warnings.warn("I am not sure", ConvergenceWarning, stacklevel=1)
            elif self.mood == "interrupt":
                try:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(1)
                except KeyboardInterrupt:
                    pass  # keeps its best model, as LinearSVM does
            else:
                raise {"fail": ValueError("no such thing"), "break": OSError(5, "disk")}[self.mood]
        return super().fit(X, y)
