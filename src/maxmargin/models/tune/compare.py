"""compare: the methods of the lectures side by side, each tuned inside nested cross-validation.

Every method sees the same outer folds; whatever it chooses (C, alpha) it chooses inside the
training part of each.  The difference to the best is judged over the folds by the corrected
resampled t-test [Nadeau & Bengio 2003], for folds share training rows.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, check_cv

from ...core.certify.separability import NotSeparableError
from ...core.types import ArrayLike, MatrixLike
from ..registry import METHODS, Method, Shape
from ..separate import separability
from ..validation import EstimatorStandIn, check_training
from .candidates import CANDIDATE_BASES, CandidateBasis, chosen, make, pipeline
from .records import as_frame, as_html, as_text

Record = dict[str, Any]

# A difference with a smaller p-value is called one.
SIGNIFICANCE_LEVEL = 0.05
# Values up to which separability is decided.
MAX_SEPARABILITY_VALUES = 2e6


@dataclass
class Comparison:
    """What ``compare`` found: one row per method and basis, best first.

    ``p_value`` is that of the difference to the best row; ``folds`` holds the accuracy of every
    fold, in the same order as ``rows``.
    """

    rows: list[Record] = field(default_factory=list)
    folds: list[np.ndarray] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def best(self) -> Record:
        return self.rows[0]

    @property
    def recommended(self) -> Record:
        """The simplest, then the most accurate, of all that are as good as the best.

        That is: not significantly worse, and within one standard error of it.
        """
        best = self.best
        good = [
            row
            for row in self.rows
            if not row["p_value"] < SIGNIFICANCE_LEVEL
            and row["accuracy"]
            >= best["accuracy"] - max(best["standard_error"], row["standard_error"])
        ]
        return min(good, key=_simplicity)

    @property
    def recommendation(self) -> str:
        """What to do, in a sentence or two."""
        row, best = self.recommended, self.best
        name = _name(row)
        text = f"Use {name}: accuracy {row['accuracy']:.3f} ± {row['standard_error']:.3f}"
        if row is best:
            text += ", the highest of all"
        else:
            text += (
                f". {_name(best)} has {best['accuracy']:.3f}, which these folds do not tell from "
                f"it (p = {row['p_value']:.2f}), and is less simple"
            )
        worse = sum(row["p_value"] < SIGNIFICANCE_LEVEL for row in self.rows)
        text += f". {worse} of {len(self.rows)} are significantly worse than the best."
        return text + " The comparison was interrupted." * self.interrupted

    def table(self) -> str:
        return as_text(self.rows) if self.rows else "nothing compared"

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        return as_frame(self.rows)

    def __str__(self) -> str:
        if not self.rows:
            return self.table()
        notes = "".join(f"\n{note}" for note in self.skipped)
        return f"{self.table()}\n\n{self.recommendation}{notes}"

    def _repr_html_(self) -> str:
        return as_html(self.rows, self.recommendation) if self.rows else "nothing compared"


def compare(
    X: MatrixLike,
    y: ArrayLike,
    methods: Any = "all",
    bases: Any = "all",
    *,
    cv: Any = 5,
    inner_cv: Any = 3,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
    on_row: Callable[[Record], None] | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compare methods and bases by nested cross-validation; Ctrl-C keeps what is done.

    Parameters
    ----------
    X, y : training points and labels, as every classifier takes them
    methods : "all", names, a dictionary, or (name, estimator) pairs of your own
        Known: svm, svm-sum, svm-rest, svm-pairs, logistic, perceptron, least-squares, fisher,
        quadratic, linear-unit, kernel-svm, kernel-ridge, kernel-perceptron.  "all" takes those
        that suit the data.
    bases : "all", names, or (name, transformer) pairs of your own
        Known: "as given", polar, quadratic, radial.  Kernel methods and your own estimators
        take the features as given.
    cv, inner_cv : outer and inner folds, a number or a scikit-learn splitter
    on_row : called with every row as it is finished
    verbose : 1 prints every row as it is finished; at a terminal this is the default

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X, y, methods=["svm", "fisher"], bases=["as given"])
    >>> [row["method"] for row in result.rows if row["accuracy"] > 0.9]
    ['fisher', 'svm']
    """
    X, classes, codes = check_training(EstimatorStandIn(), X, y)
    y = classes[codes]
    sparse = not isinstance(X, np.ndarray)
    shape = Shape(X.shape[0], X.shape[1], len(classes), sparse)
    splitter = check_cv(cv, y, classifier=True)
    if isinstance(splitter, StratifiedKFold) and not splitter.shuffle:
        splitter = StratifiedKFold(splitter.n_splits, shuffle=True, random_state=random_state)
    splits = list(splitter.split(X, y, groups))
    result, done = Comparison(), []
    try:
        for name, basis_name, model in _candidates(X, shape, methods, bases, inner_cv):
            try:
                row, scores = _judge(name, basis_name, model, X, y, splits)
            except (ValueError, ArithmeticError, NotSeparableError) as error:
                result.skipped.append(f"{name} ({basis_name}) was left out: {error}")
                continue
            done.append((row, scores))
            _tell(row, verbose, on_row)
    except KeyboardInterrupt:
        if not done:
            raise
        result.interrupted = True
    if not done:
        raise ValueError("Nothing could be compared: " + " ".join(result.skipped))
    _rank(result, done, splits, len(y))
    _add_separability(result, X, y, bases, shape)
    return result


def _candidates(X, shape: Shape, methods, bases, folds):
    """(method, basis, estimator): simple ones first."""
    known = chosen(methods, METHODS, "methods", shape)
    changes = chosen(bases, CANDIDATE_BASES, "bases", shape)
    first = next(iter(changes))
    for basis_name, change in changes.items():
        for name, method in known.items():
            linear = isinstance(method, Method) and method.linear
            if not linear and basis_name != first:
                continue
            own = make(method, folds, shape) if isinstance(method, Method) else clone(method)
            basis = change.make() if isinstance(change, CandidateBasis) else change
            shown = basis_name if linear else "as given"
            yield name, shown, pipeline(own, basis if linear else None, X)


def _judge(name: str, basis: str, model, X, y, splits) -> tuple[Record, np.ndarray]:
    """Fit and score on every outer fold."""
    scores, fitting, predicting = [], [], []
    losses: list[float | None] = []
    sizes: list[float | None] = []
    gaps: list[float | None] = []
    for train, test in splits:
        fold = clone(model)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what was not reached is told by the gap
            fold.fit(X[train], y[train])
        fitting.append(time.perf_counter() - began)
        began = time.perf_counter()
        predicted = fold.predict(X[test])
        predicting.append(time.perf_counter() - began)
        scores.append(float(np.mean(predicted == y[test])))
        final = fold[-1]
        losses.append(_log_loss(fold, X[test], y[test]))
        sizes.append(_size(final))
        gaps.append(_gap(final))
    accuracy = np.array(scores)
    return {
        "method": name,
        "basis": basis,
        "accuracy": float(accuracy.mean()),
        "standard_error": float(accuracy.std(ddof=1) / np.sqrt(len(accuracy))),
        "p_value": 1.0,
        "log_loss": _mean(losses),
        "fit_seconds": float(np.mean(fitting)),
        "predict_seconds": float(np.mean(predicting)),
        "size": None if (size := _mean(sizes)) is None else round(size),
        "gap": None if None in gaps else max(gap for gap in gaps if gap is not None),
        "separable": None,
    }, accuracy


def _log_loss(model, X, y) -> float | None:
    if not hasattr(model, "predict_proba"):
        return None
    try:
        return float(log_loss(y, model.predict_proba(X), labels=model[-1].classes_))
    except (AttributeError, ValueError):
        return None


def _size(model) -> int | None:
    """Support vectors where they carry the model, else its numbers."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "support_") and not hasattr(model, "coef_"):
        return len(model.support_)
    for name in ("coef_", "dual_coef_"):
        if hasattr(model, name):
            biases = np.size(getattr(model, "intercept_", ()))
            return int(np.size(getattr(model, name))) + int(biases)
    return None


def _gap(model) -> float | None:
    """The certified relative gap, or the residual of a closed form."""
    certificate = getattr(model, "certificate_", None)
    for name in ("relative_gap", "relative_residual"):
        if hasattr(certificate, name):
            return float(getattr(certificate, name))
    return None


def _mean(values: list[float | None]) -> float | None:
    return None if None in values else float(np.mean(np.array(values, dtype=np.float64)))


def _rank(result: Comparison, done: list, splits, n: int) -> None:
    """Best first, with the significance of every difference to the best."""
    done.sort(key=lambda pair: (-pair[0]["accuracy"], pair[0]["fit_seconds"]))
    share = float(np.mean([len(test) / len(train) for train, test in splits]))
    best = done[0][1]
    for row, scores in done:
        row["p_value"] = p_value(best - scores, share)
        result.rows.append(row)
        result.folds.append(scores)


def p_value(differences: np.ndarray, share: float) -> float:
    """Two-sided, of paired differences over k folds whose test part is ``share`` of the rest.

    Folds share training rows, so the variance of their mean is (1/k + share) times their own.
    """
    k, mean = len(differences), float(np.mean(differences))
    if mean == 0.0 or k < 2:
        return 1.0
    deviation = float(np.std(differences, ddof=1))
    if deviation == 0.0:
        return 0.0
    return float(2.0 * student.sf(abs(mean) / (deviation * np.sqrt(1.0 / k + share)), k - 1))


def _simplicity(row: Record) -> tuple:
    """Fewer ideas first: no kernel, no change of basis; then accuracy, then speed."""
    method, basis = str(row["method"]), str(row["basis"])
    kernel, changed = method.startswith("kernel"), basis != "as given"
    return kernel, changed, -row["accuracy"], row["fit_seconds"]


def _name(row: Record) -> str:
    basis = "" if row["basis"] == "as given" else f" on the {row['basis']} basis"
    return f"{row['method']}{basis}"


def _add_separability(result: Comparison, X, y, bases, shape: Shape) -> None:
    """Whether all rows are separable in each basis: the same for every linear method on it."""
    changes = chosen(bases, CANDIDATE_BASES, "bases", shape)
    answers: dict[str, bool | None] = {}
    for row in result.rows:
        name = str(row["basis"])
        if str(row["method"]).startswith("kernel") or name not in changes:
            continue
        if name not in answers:
            answers[name] = _separable(changes[name], X, y)
        row["separable"] = answers[name]


def _separable(change, X, y) -> bool | None:
    basis = change.make() if isinstance(change, CandidateBasis) else change
    try:
        Z = pipeline("passthrough", basis, X).fit_transform(X, y)
        if Z.shape[0] * Z.shape[1] > MAX_SEPARABILITY_VALUES:
            return None
        return bool(separability(Z, y).separable)
    except (ValueError, ArithmeticError, RuntimeError):
        return None


def _tell(row: Record, verbose: int, on_row) -> None:
    if on_row is not None:
        on_row(row)
    if verbose > 0 or (on_row is None and sys.stderr.isatty()):
        print(
            f"[maxmargin] {_name(row):<28} accuracy {row['accuracy']:.3f} ± "
            f"{row['standard_error']:.3f}  fit {row['fit_seconds']:.2f} s",
            file=sys.stderr,
            flush=True,
        )
