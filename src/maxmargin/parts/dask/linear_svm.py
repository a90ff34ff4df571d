"""LinearSVM on Dask."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ...core.problem.class_losses import CLASS_LOSSES
from ...core.problem.losses import LOSSES
from ...core.solve.contract import Ending
from ...models.bias_column import fit_joined
from ...models.fitting import make_monitor, warn_unless_reached
from ...models.svm import joint as svm_joint
from ...models.svm import linear_svm as in_memory
from ...models.svm import reduced as svm_reduced
from ...models.validation import one_of, positive
from ..ones import OnesParts
from ..side_by_side import machines_at_once, solve_side_by_side
from ..solve.class_hinge import solve_class_hinge
from ..solve.class_tasks import ClassSpec
from ..solve.hinge import solve_hinge
from ..solve.hinge_tasks import BinarySpec
from ..solve.tasks import PartsSolution
from .common import OnDask
from .inputs import DaskData

# Rules by which all classes are one problem; the others are several of two classes.
JOINT = ("max", "sum")


def class_machine(model, k: int, seed: int = 0) -> ClassSpec:
    """The problem of k classes that the model's parameters ask for."""
    C = positive("C", model.C, infinite=True)
    loss = CLASS_LOSSES[model.multiclass, one_of("loss", model.loss, LOSSES)]
    return ClassSpec(C, loss, k, model._bias(), seed)


class LinearSVM(OnDask, in_memory.LinearSVM):
    """``maxmargin.LinearSVM`` on a cluster: the same parameters, optimum and certificate.

    At C = ∞ the few rows that decide the hard margin travel to the one who asks.  With
    ``warm_start=True`` rows and multipliers stay on the cluster after a fit, until the model is
    gone or is fitted to other data, and the next fit to the same collections goes on from them,
    with another ``C`` or ``tol`` too.
    """

    _goes_on = True

    def _fit_parts(self, data: DaskData) -> None:
        if self._bias_column:
            parts: Any = OnesParts(data.parts)
            fit_joined(self, lambda inner: inner._fit_parts(data._replace(parts=parts)), self._norm)
            return
        monitor = make_monitor(self)
        if len(data.classes) > 2 and self.multiclass in JOINT:
            self._fit_classes(data, monitor)
            return
        fits = self._fits(data, monitor)
        self.coef_ = np.stack([fit.w for fit in fits])
        self.intercept_ = np.array([fit.b for fit in fits])
        longest = float(np.linalg.norm(self.coef_, axis=1).max())
        self.margin_ = 1.0 / longest if longest > 0 else np.inf
        proofs = [fit.certificate for fit in fits]
        self.certificate_ = proofs[0] if len(proofs) == 1 else svm_reduced.together(self, proofs)
        hard = [(f.rows, f.alpha) for f in fits if f.rows is not None and f.alpha is not None]
        if hard:
            svm_reduced.keep_some(self, hard)
        self._note(monitor, fits[0])
        short = [fit.ending for fit in fits if fit.ending is not Ending.REACHED]
        self._ending = short[0] if short else Ending.REACHED

    def _norm(self, W: np.ndarray) -> float:
        return self._form().norm(W)

    def _note(self, monitor, fit: PartsSolution) -> None:
        self.history_, self.n_iter_ = monitor.history, max(1, monitor.n_iter)
        self.solver_, self.solver_reason_ = fit.solver, fit.why

    def _fit_classes(self, data: DaskData, monitor) -> None:
        """All classes in one problem."""
        one_of("solver", self.solver, ["auto"])
        machine = class_machine(self, len(data.classes), monitor.seed)
        fit = solve_class_hinge(data.parts, machine, monitor)
        self.coef_, self.intercept_ = fit.w, fit.b
        norm = float(np.sum(fit.w**2))
        self.margin_ = 1.0 / float(np.sqrt(2.0 * norm)) if norm > 0 else np.inf
        self.certificate_, self._ending = fit.certificate, fit.ending
        if fit.rows is not None and fit.alpha is not None:
            svm_joint.keep_some(self, fit.rows, fit.alpha)
        self._note(monitor, fit)

    def _fits(self, data: DaskData, monitor) -> list[PartsSolution]:
        C = positive("C", self.C, infinite=True)
        loss = LOSSES[one_of("loss", self.loss, LOSSES)]
        one_of("multiclass", self.multiclass, in_memory.MULTICLASS)
        one_of("solver", self.solver, ["auto"])
        solvers: dict[Hashable, Callable[..., PartsSolution]] = {}
        for duel in self._machines(len(data.classes)):
            machine = BinarySpec(C, loss, self._bias(), *duel, seed=monitor.seed)
            solvers[machine.key] = partial(solve_hinge, machine=machine)
        # All parts' answers come at the same time.
        at_once = machines_at_once(data.parts.n_features, data.parts.n_parts)
        return solve_side_by_side(data.parts, solvers, monitor, at_once)

    def _machines(self, k: int) -> list[tuple[int, int | None]]:
        if k == 2:
            return [(1, None)]
        if self.multiclass == "rest":
            return [(c, None) for c in range(k)]
        return list(combinations(range(k), 2))

    def _farewell(self) -> None:
        warn_unless_reached(self, self.__dict__.pop("_ending"), self.certificate_)
