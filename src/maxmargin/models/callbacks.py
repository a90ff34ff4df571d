"""scikit-learn's callbacks (1.9 and later): they are told when a fit begins, steps and ends.

A step is a pair of bounds, as in ``history_``; a callback that asks for a stop ends the fit with
the best model so far, its gap and a warning, as Ctrl-C does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from sklearn.utils.metaestimators import available_if

from ..core.solve.contract import Ending, Monitor, OutOfBudget

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9 has none

    class CallbackSupportMixin:  # type: ignore[no-redef]
        pass

    def with_callbacks(method: Callable) -> Callable:
        return method


def _has_callbacks(model: Any) -> bool:
    """A search fits others, who know of no callbacks of its."""
    return hasattr(CallbackSupportMixin, "set_callbacks") and not hasattr(model, "_tuned")


class WatchedFit(CallbackSupportMixin):
    """An estimator whose ``fit`` is ``watched``."""

    @available_if(_has_callbacks)
    def set_callbacks(self, *callbacks: Any) -> Any:
        """Callbacks of scikit-learn's that are told of every step of ``fit``; none takes them off.

        Parameters
        ----------
        *callbacks : instances that follow scikit-learn's ``FitCallback`` protocol
        """
        return super().set_callbacks(*callbacks)


def watched(fit: Callable) -> Callable:
    """Tell the callbacks of an estimator, if it has some, when its ``fit`` begins and ends."""

    @wraps(fit)
    def run(self, X, y, sample_weight=None):
        if not hasattr(self, "_skl_callbacks"):
            return fit(self, X, y, sample_weight)
        return told(self, X, y, sample_weight)

    @with_callbacks
    def told(self, X, y, sample_weight):
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=given)
        fit(self, X, y, sample_weight)
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=given)
        return self

    return run


@dataclass
class CallbackMonitor(Monitor):
    """A monitor that tells an estimator's callbacks of every step."""

    estimator: Any = None

    def record(self, primal: float, dual: float) -> bool:
        reached = super().record(primal, dual)
        step = self.estimator._callback_fit_ctx.subcontext(task_name="step")
        step.call_on_fit_task_begin(estimator=self.estimator)
        if step.call_on_fit_task_end(estimator=self.estimator) and not reached:
            raise OutOfBudget(Ending.INTERRUPTED)
        return reached


def telling(monitor: Monitor, estimator: Any) -> Monitor:
    """The same monitor; one that tells the callbacks, where a fit has some."""
    if not hasattr(estimator, "_callback_fit_ctx"):
        return monitor
    return CallbackMonitor(**vars(monitor), estimator=estimator)
