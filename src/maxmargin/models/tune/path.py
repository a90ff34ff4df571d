"""c_path: the same model for ever larger C, each fit starting from the last.

    min over w, b    ½‖w‖² + C Σ s_i ℓ(y_i (w·x_i + b))

Along the path ‖w‖ grows, the sum of losses falls, and the margin narrows; each can be missed by
no more than the certified gaps.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_classifier

from ...core.solve.threads import one_blas_thread
from ...core.types import ArrayLike, MatrixLike
from ..notebook import curve_svg, paragraph
from ..reduction.fit_all import interrupts
from ..svm.linear_svm import LinearSVM
from ..validation import check_weights
from .checked_data import CheckedData, checked
from .grid import DEFAULT_GRID_SIZE, check_cs, steps_from
from .path_extrapolation import PathExtrapolation
from .records import Record, as_frame, as_html, as_text
from .trivial import safe_c, trivial_until

# Columns of the table, and what ``support_kind_`` calls them.
SUPPORT_COLUMNS = {"on_margin": "margin", "inside": "inside", "misclassified": "misclassified"}
# Values that "auto" tries at most: fifteen powers of ten.
MAX_AUTO_CS = 31
# "auto" ends when the weights moved less than this, relative to their length, twice.
WEIGHT_CHANGE_TOL = 1e-4
# A multiplier this near to C is at it.
AT_CAP_SHARE = 1.0 - 1e-9


@dataclass
class CPath:
    """What ``c_path`` found: one row, and one model, for every C.

    ``rows`` are plain dictionaries; ``models`` are the fitted estimators in the same order, so
    ``path.models[3].coef_`` are the weights at ``path.Cs[3]``.  ``trivial_until`` is the C up to
    which the hinge's solution only grows in proportion to C (None where that is not known), and
    ``ending`` says why the path ends where it does.
    """

    rows: list[Record] = field(default_factory=list)
    models: list = field(default_factory=list)
    trivial_until: float | None = None
    ending: str = ""
    hard_margin: bool = False

    @property
    def Cs(self) -> np.ndarray:
        return np.array([row["C"] for row in self.rows])

    @property
    def coefs(self) -> list[np.ndarray]:
        return [model.coef_ for model in self.models]

    @property
    def intercepts(self) -> list[np.ndarray | None]:
        """None for models that have no bias."""
        return [getattr(model, "intercept_", None) for model in self.models]

    @property
    def best(self) -> Any:
        """The model with the lowest training error, at the smallest C that has it.

        To choose a C for new data use cross-validation: ``LinearSVMCV``.
        """
        errors = [row["training_error"] for row in self.rows]
        return self.models[int(np.argmin(np.array(errors, dtype=np.float64)))]

    def column(self, name: str) -> np.ndarray:
        """One column of the table."""
        return np.array([row[name] for row in self.rows])

    def table(self) -> str:
        return as_text(self.rows)

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        return as_frame(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"{self.table()}\n{self._notes()}"

    def _repr_html_(self) -> str:
        ends = f"C = {self.Cs[0]:.3g}", f"C = {self.Cs[-1]:.3g}"
        errors = np.array(self.column("training_error"), dtype=float)
        picture = curve_svg(self.Cs, errors, "training error", ends)
        return paragraph(self._notes()) + picture + as_html(self.rows, "the path of C")

    def _notes(self) -> str:
        notes = [self.ending]
        if self.trivial_until is not None:
            notes.insert(0, f"w grows in proportion to C up to C = {self.trivial_until:.4g}.")
        return " ".join(notes)


def c_path(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    Cs: ArrayLike | int = "auto",
    sample_weight: ArrayLike | None = None,
    *,
    stop: Any = True,
    fit_params: Mapping | None = None,
) -> CPath:
    """Fit ``estimator`` along increasing C, each fit starting from the last.

    Parameters
    ----------
    estimator : any estimator with ``C`` and ``warm_start``; it is cloned, not changed
    X, y : what its ``fit`` takes
    Cs : "auto", a number of values from 1e-3 to 1e3, or a list
        "auto" takes two values per power of ten.  For the hinge it begins below the C at which
        the solution leaves its trivial form, which is computed; for other losses where C is so
        small that no margin has moved by more than about one; and it ends where nothing changes
        any more.
    sample_weight : (n,) or None
    stop : bool, default=True
        End as soon as no larger C can change the model: on separable data once no multiplier
        is at C, for then the hard margin is reached.
    fit_params : further arguments of ``fit``, such as ``groups`` of a ranker

    Ctrl-C ends the path early; what is done is kept and ``ending`` says so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVM, c_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = c_path(LinearSVM(), X[:100, [1, 3]], y[:100])
    >>> print(path.ending)
    The hard margin is reached: no multiplier is at C = 10, so larger C change nothing.
    >>> len(path.models) == len(path.Cs) == len(path.column("n_support"))
    True
    """
    _refuse_unless_warm(estimator)
    given = dict(fit_params or {})
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    path, model = CPath(), clone(estimator).set_params(warm_start=True)
    known = is_classifier(estimator) and hasattr(estimator, "class_weight")
    data = checked(model, X, y, sample_weight) if known else None
    grid, auto = _grid(estimator, data, Cs, path)
    path.ending = f"The grid ends at C = {grid[-1]:.4g}."
    try:
        with one_blas_thread(), config_context(assume_finite=True):
            for fitted, seconds in _follow(model, grid, X, y, data, given):
                path.rows.append(_row(fitted, _error(fitted, X, y, data, given), seconds))
                path.models.append(fitted)
                if stop and (why := _nothing_changes(path, auto)):
                    path.ending = why
                    break
    except KeyboardInterrupt:
        if not path.rows:
            raise
        path.ending = f"Interrupted from the keyboard after C = {path.rows[-1]['C']:.4g}."
        warnings.warn(f"c_path: {path.ending}", stacklevel=2)
    return path


def _refuse_unless_warm(estimator) -> None:
    names = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if missing := [name for name in ("C", "warm_start") if name not in names]:
        raise TypeError(
            f"c_path needs an estimator with the parameters C and warm_start, but "
            f"{type(estimator).__name__} has no {' and no '.join(missing)}. "
            "Use LinearSVM, LogisticRegression or a ranker; of a pipeline, its last step on "
            "transformed X."
        )


def _grid(estimator, data: CheckedData | None, Cs, path: CPath) -> tuple[np.ndarray, bool]:
    """The values of C, and whether they were left to us; C₁ is noted on the way."""
    auto = isinstance(Cs, str)
    if auto and Cs != "auto":
        raise ValueError(f"Cs must be 'auto', a number of values or a list, got Cs={Cs!r}.")
    if not auto:
        return check_cs(Cs), False
    if data is None:
        return check_cs(DEFAULT_GRID_SIZE), False
    X, codes = data.X, data.codes
    weight = check_weights(estimator, X, codes, data.classes, data.weight, estimator.class_weight)
    if isinstance(estimator, LinearSVM) and estimator.loss == "hinge":
        C = path.trivial_until = trivial_until(estimator, X, codes, weight)
        C = C * (1.0 - 1e-6) if np.isfinite(C) else 1.0
    else:
        C = safe_c(X, codes, weight)
    return steps_from(C, MAX_AUTO_CS), True


def _follow(
    model, grid, X, y, data: CheckedData | None, given: dict
) -> Iterator[tuple[Any, float]]:
    """Fit at every C in turn; yields a model of its own and the seconds it took."""
    foresight = PathExtrapolation()
    for C in grid:
        began = time.perf_counter()
        foresight.prepare(model, float(C))
        with interrupts() as pressed:
            if data is None:
                model.fit(X, y, **given)
            else:
                data.fit(model, foresight.memory)
        if pressed:  # the fit has kept its best, which is not what was asked for
            raise KeyboardInterrupt
        foresight.remember(model)
        # Later fits replace arrays, they do not write into them: a shallow copy will do.
        yield copy(model), time.perf_counter() - began


def _error(model, X, y, data: CheckedData | None, given: dict) -> float:
    """The share of rows, or of preferences, that the model gets wrong."""
    if data is None:
        return 1.0 - float(model.score(X, y, **given))
    if len(data.classes) == 2 and hasattr(model, "slack_") and model.class_weight is None:
        # The fit has scored these rows.  A score of 0, a slack of 1, says the first class.
        wrong = np.where(data.codes == 1, model.slack_ >= 1.0, model.slack_ > 1.0)
    else:
        wrong = model.predict(X) != data.y
    return float(np.average(wrong, weights=data.weight))


def _row(model, error: float, seconds: float) -> Record:
    norm = float(np.linalg.norm(model.coef_))
    kinds = getattr(model, "support_kind_", None)
    counts = {
        name: None if kinds is None else int((kinds == kind).sum())
        for name, kind in SUPPORT_COLUMNS.items()
    }
    certificate = model.certificate_
    return {
        "C": float(model.C),
        "training_error": error,
        "n_support": None if kinds is None else len(kinds),
        **counts,
        "norm": norm,
        "margin": float(getattr(model, "margin_", 1.0 / norm if norm > 0 else np.inf)),
        "objective": float(certificate.primal),
        "gap": float(certificate.relative_gap),
        "seconds": seconds,
        "iterations": int(model.n_iter_),
        "solver": model.solver_,
    }


def _nothing_changes(path: CPath, auto: bool) -> str:
    """Why no larger C can bring another model, or an empty string."""
    model = path.models[-1]
    if _below_c(model):
        path.hard_margin = True
        return (
            f"The hard margin is reached: no multiplier is at C = {model.C:.4g}, "
            "so larger C change nothing."
        )
    if not auto or len(path) < 3:
        return ""
    last, before, first = (m.coef_ for m in path.models[:-4:-1])
    still = WEIGHT_CHANGE_TOL * np.linalg.norm(last)
    if np.linalg.norm(last - before) <= still and np.linalg.norm(before - first) <= still:
        return f"The weights no longer change from C = {path.rows[-3]['C']:.4g} on."
    return ""


def _below_c(model) -> bool:
    """Whether every multiplier is below its cap and no row has slack: then the hinge is solved
    without slack, and the cap never mattered."""
    if getattr(model, "loss", "hinge") != "hinge" or not hasattr(model, "alpha_"):
        return False
    if not hasattr(model, "slack_") or model.slack_.max() > 1e-3 or not model.alpha_.any():
        return False
    alpha = model.alpha_
    joint = alpha.ndim == 2 and getattr(model, "multiclass", "") == "max"
    heaviest = alpha.sum(axis=1) if joint else alpha
    return bool(heaviest.max() < AT_CAP_SHARE * model.C)
