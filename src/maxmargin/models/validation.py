"""What comes in through the door: arrays, labels, weights and parameters, checked once.

scikit-learn's own validation does the heavy lifting (frames, feature names, finiteness);
what is added here says what was asked, what was found and what to do next.
"""

from __future__ import annotations

from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from ..core.rows.rows import as_rows, repeats
from .device.tensors import refuse_tensors
from .labels import label_codes, two_codes

FLOAT_DTYPES = [np.float64, np.float32]
INDEX_DTYPES = [np.int32, np.int64]
# Kinds of labels that are classes whatever they hold: whole numbers, truth values, words.
SURE_KINDS = "iubU"
ROW_CHECKS = {"accept_sparse": "csr", "dtype": FLOAT_DTYPES, "accept_large_sparse": True}


MAX_FLOAT = float(np.finfo(np.float64).max)
# Weights up to here have squares and sums that are finite, times any C that makes sense, too.
MAX_WEIGHT = 1e100
# Tables of up to so many values are copied row by row if they are not so already (8 MB at most).
MAX_TURNED_VALUES = 1 << 20
# Numbers of entries and columns below this fit 32-bit indices.
MAX_NARROW = 1 << 31
# Sums of squares of such values, and their reciprocals, are numbers.
MIN_SCALE, MAX_SCALE = 1e-140, 1e140


class EstimatorStandIn(BaseEstimator):
    """Stands in for an estimator where a plain function validates its data."""


@contextmanager
def all_or_nothing(estimator):
    """Undo what a failed fit has changed: an estimator is fitted, or as it was before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_rows(estimator, X, *, reset: bool, **other):
    """X as a float32/float64 array or CSR matrix with feature names noted or compared.

    ``other`` settings of scikit-learn's validation take the place of ours.
    """
    known = None if reset or "feature_names_in_" in vars(estimator) else estimator
    unasked = other == {"ensure_all_finite": False}
    plain = _plain_table(X) if unasked else not other and (_plain(X) or _plain_sparse(X))
    if plain and X.shape[1] == getattr(known, "n_features_in_", -1):
        return canonical(X)
    refuse_masked(X=X)
    refuse_tensors(type(estimator).__name__, X)
    return canonical(validate_data(estimator, X, reset=reset, **(ROW_CHECKS | other)))


def check_training(estimator, X, y, **other):
    """X as in ``check_rows``, the sorted classes, and each label's index among them."""
    if not other and (_plain(X) or _plain_sparse(X)) and _plain_labels(y, X.shape[0]):
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    else:
        refuse_masked(X=X, y=y)
        refuse_tensors(type(estimator).__name__, X)
        X, y = validate_data(estimator, X, y, **(ROW_CHECKS | other))
        if y.dtype.kind not in SURE_KINDS:
            check_classification_targets(y)
    return canonical(X), *check_classes(estimator, y)


def check_classes(estimator, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes, at least two, and each label's index among them."""
    classes, codes = label_codes(y)
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least two classes, but y holds only one class: "
            f"{classes[0]}. Check that the target column is right and that the training "
            "part contains examples of every class."
        )
    return classes, codes


def _plain(X) -> bool:
    """Whether X is a matrix of finite floats: validation, a fifth of a small fit, would return it
    as it is.  What is not, or not surely, goes through validation, which knows what to say."""
    if not _plain_table(X):
        return False
    if get_config()["assume_finite"]:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def _plain_table(X) -> bool:
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in FLOAT_DTYPES


def _plain_sparse(X) -> bool:
    """The same of CSR, with indices that SciPy has checked when it was made."""
    if type(X) not in (sparse.csr_matrix, sparse.csr_array) or X.ndim != 2 or 0 in X.shape:
        return False
    plain = type(X.data) is np.ndarray and X.data.dtype in FLOAT_DTYPES
    if not plain or X.indices.dtype != X.indptr.dtype or X.indices.dtype not in INDEX_DTYPES:
        return False
    if get_config()["assume_finite"]:
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.data.sum()))


def _plain_labels(y, rows: int) -> bool:
    sure = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in SURE_KINDS
    return sure and len(y) == rows


def refuse_masked(**given) -> None:
    """Values that NumPy's masks hide would be used as if they were there."""
    for name, values in given.items():
        if isinstance(values, np.ma.MaskedArray) and (hidden := np.ma.count_masked(values)):
            raise ValueError(
                f"{name} has {hidden} masked values, which are missing. Fill them in, as with "
                f"{name}.filled(value), or leave their rows out."
            )


def check_scale(X) -> None:
    """Refuse rows whose squares leave the range of numbers: no margin can be told of them."""
    values = X.data if sparse.issparse(X) else X
    largest = max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0
    if largest > 0 and not MIN_SCALE <= largest <= MAX_SCALE:
        raise ValueError(
            f"The largest value of X is {largest:.1e} in size; the squares of such values leave "
            "the range of floating-point numbers, and so would any margin. Scale the features "
            f"first: X / {largest:.0e}."
        )


def canonical(X):
    """Rows side by side where they are small; CSR with unrepeated indices of one width, 32 bits
    where these suffice (a gather by them takes half the time); a copy only where it is not so.

    Kernels are compiled for every layout they meet: a small table of columns, as pandas hands
    it over, is sooner turned than compiled for.
    """
    if not sparse.issparse(X):
        return np.ascontiguousarray(X) if X.size <= MAX_TURNED_VALUES else X
    width = np.int32 if max(X.nnz, X.shape[1]) < MAX_NARROW else np.int64
    if not X.indices.dtype == X.indptr.dtype == width:
        X = sparse.csr_matrix((X.data, X.indices.astype(width), X.indptr.astype(width)), X.shape)
    if not X.has_canonical_format and repeats(as_rows(X)):
        X = X.copy()
        X.sum_duplicates()
    return X


def check_weights(estimator, X, codes, classes, sample_weight, class_weight):
    """One weight per example, or None when all are one."""
    weight = check_sample_weight(X, sample_weight)
    if class_weight is not None:
        labels = classes[codes]
        by_class = check_class_weight(class_weight, classes, labels)
        weight = by_class[codes] if weight is None else weight * by_class[codes]
        refuse_huge("sample_weight times class_weight", weight)
    if weight is not None:
        _refuse_missing_class(estimator, weight, codes, classes)
    return weight


def check_sample_weight(X, sample_weight):
    """Weights of at least zero, or None."""
    if sample_weight is None:
        return None
    refuse_masked(sample_weight=sample_weight)
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if weight.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative, but entry {int(weight.argmin())} is "
            f"{weight.min():g}. Use 0 to leave an example out."
        )
    refuse_huge("sample_weight", weight)
    return weight


def refuse_huge(name: str, weight: np.ndarray) -> None:
    """Refuse weights whose squares, or products with C, are no numbers any more."""
    if weight.size and not weight.max() <= MAX_WEIGHT:
        raise ValueError(
            f"{name} must be at most {MAX_WEIGHT:g}, but entry {int(weight.argmax())} is "
            f"{weight.max():g}. Divide all weights by it, and multiply C instead."
        )


def check_class_weight(class_weight, classes, labels) -> np.ndarray:
    """One finite, non-negative weight per class."""
    by_class = compute_class_weight(class_weight, classes=classes, y=labels)
    if not (np.isfinite(by_class).all() and by_class.min() >= 0):
        given = dict(zip(classes.tolist(), by_class.tolist(), strict=True))
        raise ValueError(f"class_weight must hold finite weights of at least 0, got {given}.")
    refuse_huge("class_weight", by_class)
    return by_class


def _refuse_missing_class(estimator, weight, codes, classes) -> None:
    for code, label in enumerate(classes):
        if not weight[codes == code].max() > 0:
            raise ValueError(
                f"{type(estimator).__name__} needs at least two classes, and an example with "
                f"positive weight of each, but every example of class {label} has weight 0. "
                "Give it a positive weight or remove the class from y."
            )


def positive(name: str, value, *, infinite: bool = False) -> float:
    """A number above zero, ``inf`` only where it means something."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not (0 < value < MAX_FLOAT or (infinite and value == np.inf)):
        allowed = "a positive number or inf" if infinite else "a positive, finite number"
        raise ValueError(f"{name} must be {allowed}, got {name}={value!r}.")
    return float(value)


def at_least_zero(name: str, value) -> float:
    """A finite number that is not negative."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 <= value < MAX_FLOAT:
        raise ValueError(f"{name} must be a finite number of at least 0, got {name}={value!r}.")
    return float(value)


def check_alphas(alphas) -> np.ndarray:
    """A list of ridges to try."""
    values = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if (
        values.ndim != 1
        or len(values) == 0
        or not (np.isfinite(values).all() and values.min() >= 0)
    ):
        raise ValueError(
            f"alphas must be a list of finite numbers of at least 0, got alphas={alphas!r}."
        )
    return values


def check_known(estimator, X, y, sample_weight, **other):
    """X, codes and weights of data for a fitted classifier, whose classes they may use."""
    X = check_rows(estimator, X, reset=False, **other)
    if not (type(y) is np.ndarray and y.ndim == 1):
        y = column_or_1d(y, warn=True)
    if len(y) != X.shape[0]:
        raise ValueError(f"There are {X.shape[0]} rows in X but {len(y)} labels in y.")
    classes = estimator.classes_
    codes = two_codes(y, classes)
    if codes is None:
        codes = _known_codes(y, classes)
    by_class = getattr(estimator, "class_weight", None)
    return X, codes, check_weights(estimator, X, codes, classes, sample_weight, by_class)


def _known_codes(y: np.ndarray, classes) -> np.ndarray:
    there, places = label_codes(y)
    unknown = np.setdiff1d(there, classes)
    if len(unknown):
        raise ValueError(
            f"There are labels the model does not know: {unknown[:5].tolist()}. "
            f"It was fitted on {classes.tolist()}."
        )
    return places if len(there) == len(classes) else np.searchsorted(classes, there)[places]


def count(name: str, value) -> int:
    """A whole number of at least one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {name}={value!r}.")
    return int(value)


def one_of(name: str, value, allowed) -> str:
    """One of the listed words."""
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {names}, got {name}={value!r}.")
    return value
