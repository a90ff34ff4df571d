"""LogisticRegression on Dask: quasi-Newton steps by sums, with a model of the Hessian shared."""

from __future__ import annotations

import numpy as np

from ...core.problem.problem import Bias
from ...core.solve.contract import Ending, settled
from ...models.fitting import make_monitor, warn_unless_reached
from ...models.regression import logistic_regression as in_memory
from ...models.validation import one_of, positive
from ..certify.smooth import certify_smooth
from ..solve.smooth import Asked, Smooth, solve_smooth
from .common import OnDask
from .inputs import DaskData
from .sample import draw


def _search(data: DaskData, asked: Asked, monitor, sample, start) -> Smooth:
    """The optimum, or what was reached before Ctrl-C."""
    reached = start

    def note(W, b) -> None:
        nonlocal reached
        reached = W, b

    try:
        return solve_smooth(data.parts, asked, monitor, sample, start, note)
    except KeyboardInterrupt:
        if reached is None:
            raise
        mean = np.asarray(sample.X.mean(axis=0)).ravel()
        return Smooth(reached[0], reached[1], Ending.INTERRUPTED, mean)


class LogisticRegression(OnDask, in_memory.LogisticRegression):
    """``maxmargin.LogisticRegression`` on a cluster: the same optimum and certificate.

    A sample of the rows of bounded size is fetched once: its optimum is the start, its Hessian
    the model that all steps share.
    """

    def _fit_parts(self, data: DaskData) -> None:
        monitor = make_monitor(self)
        C = positive("C", self.C)
        one_of("solver", self.solver, ["auto"])
        monitor.solver = "newton"
        bias = Bias.FREE if self.fit_intercept else Bias.NONE
        asked = Asked(len(data.classes), C, bias)
        sample = draw(data, monitor.seed)
        start = self._warm(asked, data.parts.n_features)
        found = _search(data, asked, monitor, sample, start)
        b, proof = certify_smooth(data.parts, asked, found.W, found.b, monitor.tol, found.mu)
        self.coef_, self.intercept_, self.certificate_ = found.W, b, proof
        self.history_, self.n_iter_ = monitor.history, max(1, monitor.n_iter)
        self.solver_ = "newton"
        self.solver_reason_ = f"a model of the Hessian from {len(sample.y)} rows"
        self._ending = settled(found.ending, proof, monitor.tol)

    def _warm(self, asked: Asked, d: int):
        """The present solution, if one is to be continued and has the right shape."""
        known = getattr(self, "coef_", np.empty(0))
        if not self.warm_start or np.shape(known) != (asked.columns, d):
            return None
        return self.coef_, self.intercept_

    def _farewell(self) -> None:
        warn_unless_reached(self, self.__dict__.pop("_ending"), self.certificate_)

    def predict_proba(self, X):
        return self._lazily(super().predict_proba, X)

    def predict_log_proba(self, X):
        return self._lazily(super().predict_log_proba, X)
