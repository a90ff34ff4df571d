"""LinearSVM on Dask."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..estimators import linear_svm as in_memory
from ..estimators.fitting import make_watch, warn_unless_reached
from ..estimators.svm_reduced import together
from ..estimators.validation import one_of, positive
from ..parts.hinge import HingeFit, solve_hinge
from ..parts.hinge_tasks import Machine
from ..problem.losses import LOSSES
from ..solve.contract import Ending
from .common import OnDask
from .inputs import Data


class LinearSVM(OnDask, in_memory.LinearSVM):
    """``maxmargin.LinearSVM`` on a cluster: the same parameters, optimum and certificate.

    Two classes, and more with ``multiclass="rest"`` or ``"pairs"``.  C must be finite.
    Multipliers are kept with the parts for the time of a fit, so ``warm_start`` does nothing;
    ``c_path`` goes on from one C to the next.
    """

    def _fit_parts(self, data: Data) -> None:
        watch = make_watch(self)
        fits = self._fits(data, watch)
        self.coef_ = np.stack([fit.w for fit in fits])
        self.intercept_ = np.array([fit.b for fit in fits])
        longest = float(np.linalg.norm(self.coef_, axis=1).max())
        self.margin_ = 1.0 / longest if longest > 0 else np.inf
        proofs = [fit.certificate for fit in fits]
        self.certificate_ = proofs[0] if len(proofs) == 1 else together(self, proofs)
        self.history_, self.n_iter_ = watch.history, max(1, watch.n_iter)
        self.solver_, self.solver_reason_ = fits[0].solver, fits[0].why
        short = [fit.ending for fit in fits if fit.ending is not Ending.REACHED]
        self._ending = short[0] if short else Ending.REACHED

    def _fits(self, data: Data, watch) -> list[HingeFit]:
        C = positive("C", self.C, infinite=True)
        loss = LOSSES[one_of("loss", self.loss, LOSSES)]
        one_of("multiclass", self.multiclass, in_memory.MULTICLASS)
        one_of("solver", self.solver, ["auto"])
        fits = []
        for positive_class, negative in self._machines(len(data.classes)):
            machine = Machine(C, loss, self._bias(), positive_class, negative, seed=watch.seed)
            fits.append(solve_hinge(data.parts, machine, watch))
            if fits[-1].ending is Ending.INTERRUPTED and len(data.classes) > 2:
                raise KeyboardInterrupt
        return fits

    def _machines(self, k: int) -> list[tuple[int, int | None]]:
        if k == 2:
            return [(1, None)]
        if self.multiclass == "rest":
            return [(c, None) for c in range(k)]
        if self.multiclass == "pairs":
            return list(combinations(range(k), 2))
        raise ValueError(
            f"multiclass={self.multiclass!r} has no method over parts yet, and y holds {k} "
            "classes. Use multiclass='rest' or 'pairs' here, LogisticRegression of "
            "maxmargin.spread for one model of all classes, or LinearSVM on one machine."
        )

    def _farewell(self) -> None:
        warn_unless_reached(self, self.__dict__.pop("_ending"), self.certificate_)
