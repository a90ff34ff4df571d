"""compare: the methods of the lectures side by side, each tuned inside nested cross-validation.

Every method sees the same outer folds; whatever it chooses (C, alpha) it chooses inside the
training part of each, C by the score that methods are ranked by.  The difference to the best is
judged over the folds by the corrected resampled t-test [Nadeau & Bengio 2003], for folds share
training rows.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, check_cv

from ...core.certify.separability import NotSeparableError
from ...core.types import ArrayLike, MatrixLike
from ..deadline import OutOfTimeError, clock, deadline, time_left
from ..registry import METHODS, Method, Shape
from ..separate import separability
from ..validation import EstimatorStandIn, check_training, positive
from .candidates import CANDIDATE_BASES, CandidateBasis, chosen, make, pipeline
from .comparison import Comparison, Record, name_of, rank
from .scoring import accuracy, constant_score, in_words, name_of_score, scorer_of

# Values up to which separability is decided.
MAX_SEPARABILITY_VALUES = 2e6


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
    max_seconds: float = np.inf,
    scoring: str | Callable | None = None,
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
    max_seconds : of all of it; methods that need more than their share are left out, and said so
    scoring : None for accuracy, the name of a scorer or a callable, as scikit-learn knows them
        What methods are ranked by, and choose their C by: "balanced_accuracy" where a class is
        rare.  The rows then have a column of this name besides the accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X, y, methods=["svm", "fisher"], bases=["as given"])
    >>> [row["method"] for row in result.rows if row["accuracy"] > 0.9]
    ['fisher', 'svm']
    """
    work = Comparing(
        X, y, methods, bases, cv=cv, inner_cv=inner_cv, groups=groups, random_state=random_state,
        on_row=on_row, verbose=verbose, max_seconds=max_seconds, scoring=scoring,
    )  # fmt: skip
    try:
        work.run()
    except KeyboardInterrupt:
        if not work.done:
            raise
    return work.result()


class Comparing:
    """A comparison under way: what is done, what it is at, and what is there if it ends now.

    ``run`` does all of it; another thread may look at ``progress`` meanwhile, and take the
    ``result`` of what is done at any time.
    """

    def __init__(
        self, X, y, methods="all", bases="all", *, cv: Any = 5, inner_cv: Any = 3, groups=None,
        random_state: Any = 0, on_row: Callable[[Record], None] | None = None, verbose: int = 0,
        max_seconds: float = np.inf, scoring: Any = None,
    ):  # fmt: skip
        self.X, classes, codes = check_training(EstimatorStandIn(), X, y)
        self.y, self.bases = classes[codes], bases
        self.shape = Shape(
            self.X.shape[0], self.X.shape[1], len(classes), not isinstance(self.X, np.ndarray)
        )
        splitter = check_cv(cv, self.y, classifier=True)
        if isinstance(splitter, StratifiedKFold) and not splitter.shuffle:
            splitter = StratifiedKFold(splitter.n_splits, shuffle=True, random_state=random_state)
        self.splits = list(splitter.split(self.X, self.y, groups))
        self.scorer, self.score = scorer_of(scoring), name_of_score(scoring)
        self.candidates = list(_candidates(self.X, self.shape, methods, bases, inner_cv, scoring))
        self.max_seconds = positive("max_seconds", max_seconds, infinite=True)
        if np.isfinite(self.max_seconds):  # what is there soon is there in any case
            self.candidates.sort(key=_cost)
        self.on_row, self.verbose = on_row, verbose
        self.done: list[tuple[Record, np.ndarray]] = []
        self.skipped: list[str] = []
        self.tried = self.folds = 0
        self.whole = False
        self.began = clock()

    def run(self) -> None:
        """Every candidate in turn; with a deadline each has an equal share of what is left."""
        self.began = clock()
        with deadline(self.max_seconds):
            for tried, (name, basis, model) in enumerate(self.candidates):
                self.tried, self.folds = tried, 0
                share = time_left() / (len(self.candidates) - tried)
                with deadline(share):
                    self._try(name, basis, model, share)
            self.tried += 1
        self.whole = True

    def _try(self, name: str, basis: str, model, share: float) -> None:
        try:
            row, scores = self._judge(name, basis, model)
        except OutOfTimeError:
            self.skipped.append(
                f"{name} ({basis}) was left out: it took longer than its share of the time, "
                f"{share:.3g} s of {self.max_seconds:.3g} s"
            )
        except (ValueError, ArithmeticError, NotSeparableError) as error:
            self.skipped.append(f"{name} ({basis}) was left out: {error}")
        else:
            self.done.append((row, scores))
            _tell(row, self.score, self.verbose, self.on_row)

    def _judge(self, name: str, basis: str, model) -> tuple[Record, np.ndarray]:
        """Fit and score on every outer fold."""
        X, y, scorer = self.X, self.y, self.scorer
        right, scores, fitting, predicting = [], [], [], []
        losses: list[float | None] = []
        sizes: list[float | None] = []
        gaps: list[float | None] = []
        for train, test in self._folds():
            fold = clone(model)
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what was not reached is told by the gap
                fold.fit(X[train], y[train])
            fitting.append(time.perf_counter() - began)
            began = time.perf_counter()
            predicted = fold.predict(X[test])
            predicting.append(time.perf_counter() - began)
            right.append(float(np.mean(predicted == y[test])))
            scores.append(
                right[-1] if scorer is accuracy else float(scorer(fold, X[test], y[test]))
            )
            final = fold[-1]
            losses.append(_log_loss(fold, X[test], y[test]))
            sizes.append(_size(final))
            gaps.append(_gap(final))
        return {
            "method": name,
            "basis": basis,
            self.score: float(np.mean(scores)),
            "standard_error": float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
            "p_value": 1.0,
            **({} if scorer is accuracy else {"accuracy": float(np.mean(right))}),
            "log_loss": _mean(losses),
            "fit_seconds": float(np.mean(fitting)),
            "predict_seconds": float(np.mean(predicting)),
            "size": None if (size := _mean(sizes)) is None else round(size),
            "gap": None if None in gaps else max(gap for gap in gaps if gap is not None),
            "separable": None,
        }, np.array(scores)

    def _folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The outer folds; none is begun, and none counts, when the time is over."""
        for fold, split in enumerate(self.splits):
            self.folds = fold
            yield split
            if time_left() <= 0.0:
                raise OutOfTimeError("the time is over")

    @property
    def progress(self) -> str:
        """Where it stands, and how long the rest takes if all take as long as those so far."""
        seconds = clock() - self.began
        share = (self.tried + self.folds / len(self.splits)) / len(self.candidates)
        left = (
            f"about {seconds * (1.0 / share - 1.0):.0f} s left" if share > 0 else "no estimate yet"
        )
        return f"{seconds:.0f} s, {left}: {self.tried} of {len(self.candidates)} done, at {self.at}"

    @property
    def at(self) -> str:
        """The method and the fold that are being fitted."""
        name = self.candidates[min(self.tried, len(self.candidates) - 1)][0]
        return f"{name}, fold {self.folds + 1} of {len(self.splits)}"

    def result(self) -> Comparison:
        """What is there now; ``interrupted`` where that is not all."""
        result, done = Comparison(skipped=list(self.skipped), score=self.score), list(self.done)
        result.interrupted = not self.whole
        if not done:
            raise ValueError("Nothing could be compared: " + " ".join(result.skipped))
        result.constant = constant_score(self.score, self.y)
        rank(result, done, self.splits, len(self.y))
        if self.whole:
            _add_separability(result, self.X, self.y, self.bases, self.shape)
        return result


def _cost(candidate: tuple[str, str, Any]) -> int:
    """Closed forms before searches, and kernels last."""
    name, _, model = candidate
    searches = hasattr(model[-1], "Cs") if hasattr(model, "steps") else True
    return 2 if name.startswith("kernel") else int(searches)


def _candidates(X, shape: Shape, methods, bases, folds, scoring):
    """(method, basis, estimator): simple ones first."""
    known = chosen(methods, METHODS, "methods", shape)
    changes = chosen(bases, CANDIDATE_BASES, "bases", shape)
    first = next(iter(changes))
    for basis_name, change in changes.items():
        for name, method in known.items():
            linear = isinstance(method, Method) and method.linear
            if not linear and basis_name != first:
                continue
            own = (
                make(method, folds, shape, scoring) if isinstance(method, Method) else clone(method)
            )
            basis = change.make() if isinstance(change, CandidateBasis) else change
            shown = basis_name if linear else "as given"
            yield name, shown, pipeline(own, basis if linear else None, X)


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


def _tell(row: Record, score: str, verbose: int, on_row) -> None:
    if on_row is not None:
        on_row(row)
    if verbose > 0 or (on_row is None and sys.stderr.isatty()):
        print(
            f"[maxmargin] {name_of(row):<28} {in_words(score)} {row[score]:.3f} ± "
            f"{row['standard_error']:.3f}  fit {row['fit_seconds']:.2f} s",
            file=sys.stderr,
            flush=True,
        )
