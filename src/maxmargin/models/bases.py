"""Changes of basis φ: what is not separable by a plane may be after x ↦ φ(x).

scikit-learn transformers that know the names of what they make, so that a coefficient of a
pipeline can be read: ``x0^2`` or ``r``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ..core.kernels.kernels import Kernel, resolve_gamma
from ..core.types import ArrayLike, MatrixLike

FLOAT_DTYPES = (np.float64, np.float32)
# Part of the machine's memory that a basis may take: a fit holds more than its features.
BASIS_MEMORY_SHARE = 0.5


def _physical_memory() -> float:
    """Bytes of memory the machine has; infinite where it does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return np.inf


class _Basis(TransformerMixin, BaseEstimator):
    """A basis learns the number and names of the columns, and ``_learn`` whatever else."""

    _sparse = False

    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Note the columns of X, and what the basis takes from the data."""
        X = validate_data(self, X, dtype=FLOAT_DTYPES, accept_sparse=self._sparse and "csr")
        self._learn(X)
        return self

    def transform(self, X: MatrixLike) -> np.ndarray:
        """φ(x) of every row."""
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, dtype=FLOAT_DTYPES, accept_sparse=self._sparse and "csr"
        )
        return self._phi(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """A name for every column of φ."""
        check_is_fitted(self, "n_features_in_")
        return np.asarray(self._names(_check_feature_names_in(self, input_features)), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _learn(self, X) -> None:
        """Nothing, by default."""

    def _phi(self, X):
        raise NotImplementedError

    def _names(self, names) -> list[str]:
        raise NotImplementedError

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class PolarBasis(_Basis):
    """Distance from a centre and angles: circles become planes.

    Two columns become (r, θ) with θ in (−π, π]; d columns hyperspherical coordinates r,
    φ1 … φ(d−2) in [0, π] and θ, with x0 = r cos φ1, x1 = r sin φ1 cos φ2 and so on.

    Parameters
    ----------
    center : "origin", "mean" or array-like of d numbers, default="origin"

    Examples
    --------
    >>> from maxmargin import PolarBasis
    >>> polar = PolarBasis().fit([[3.0, 4.0]])
    >>> polar.get_feature_names_out().tolist(), polar.transform([[0.0, 2.0]]).round(4).tolist()
    (['r', 'theta'], [[2.0, 1.5708]])
    """

    def __init__(self, center: Any = "origin"):
        self.center = center

    def _learn(self, X) -> None:
        d = X.shape[1]
        if d < 2:
            raise ValueError(
                "PolarBasis needs at least two columns to have an angle between, got 1 feature(s). "
                "For one column use QuadraticBasis, whose x² tells inside from outside."
            )
        if isinstance(self.center, str):
            if self.center not in ("origin", "mean"):
                raise ValueError(
                    f"center must be 'origin', 'mean' or {d} numbers, got center={self.center!r}."
                )
            self.center_ = np.zeros(d) if self.center == "origin" else X.mean(axis=0)
            return
        center = np.asarray(self.center, dtype=np.float64)
        if center.shape != (d,) or not np.isfinite(center).all():
            raise ValueError(f"center must be {d} finite numbers, got center={self.center!r}.")
        self.center_ = center

    def _phi(self, X):
        Z = X - self.center_.astype(X.dtype) + 0.0  # +0.0: of −0.0 the angle would be −π
        # √(x_j² + … + x_{d−1}²) for every j, from the last column backwards, without overflow.
        tail = np.abs(Z)
        for j in range(Z.shape[1] - 2, -1, -1):
            tail[:, j] = np.hypot(tail[:, j], tail[:, j + 1])
        out = np.empty_like(Z)
        out[:, 0] = tail[:, 0]
        for j in range(Z.shape[1] - 2):
            out[:, j + 1] = np.arctan2(tail[:, j + 1], Z[:, j])
        out[:, -1] = np.arctan2(Z[:, -1], Z[:, -2])
        return out

    def _names(self, names) -> list[str]:
        return ["r", *(f"phi{j}" for j in range(1, len(names) - 1)), "theta"]


class PolynomialBasis(_Basis):
    """All products of at most ``degree`` columns (scikit-learn's ``PolynomialFeatures``).

    Parameters
    ----------
    degree : int, default=3
    interaction_only : bool, default=False
        Leave out powers of a single column.
    bias : bool, default=False
        Add the constant column; our linear models have a bias of their own.

    Examples
    --------
    >>> from maxmargin import PolynomialBasis
    >>> PolynomialBasis(degree=2).fit([[1.0, 2.0]]).get_feature_names_out().tolist()
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """

    _sparse = True

    def __init__(self, degree: int = 3, *, interaction_only: bool = False, bias: bool = False):
        self.degree = degree
        self.interaction_only = interaction_only
        self.bias = bias

    def _learn(self, X) -> None:
        self._features = PolynomialFeatures(
            self._degree(), interaction_only=self.interaction_only, include_bias=self.bias
        ).fit(X)

    def _degree(self) -> int:
        return self.degree

    def _phi(self, X):
        self._check_memory(X)
        return self._features.transform(X)

    def _check_memory(self, X) -> None:
        """Columns grow like dᵖ: refuse them before they are made, for a kernel needs none."""
        rows, columns = X.shape[0], self._features.n_output_features_
        size = 0 if sparse.issparse(X) else rows * columns * X.dtype.itemsize
        if size > BASIS_MEMORY_SHARE * _physical_memory():
            raise MemoryError(
                f"{type(self).__name__} of degree {self._degree()} would make {columns:,} columns "
                f"of {X.shape[1]}, {size / 1e9:.1f} GB for {rows:,} rows. The same boundaries "
                f"without these columns: KernelSVM(kernel='poly', degree={self._degree()}), whose "
                "matrix has rows × rows values whatever the degree; or lower the degree."
            )

    def _names(self, names):
        return self._features.get_feature_names_out(names)


class QuadraticBasis(PolynomialBasis):
    """Columns, their squares and products: conics become planes, (x, x²) for one column.

    Parameters
    ----------
    interaction_only, bias : as for ``PolynomialBasis``

    Examples
    --------
    >>> from maxmargin import QuadraticBasis
    >>> QuadraticBasis().fit_transform([[-3.0], [0.5]]).tolist()
    [[-3.0, 9.0], [0.5, 0.25]]
    """

    def __init__(self, *, interaction_only: bool = False, bias: bool = False):
        self.interaction_only = interaction_only
        self.bias = bias

    def _degree(self) -> int:
        return 2


class RadialBasis(_Basis):
    """Gaussian bumps exp(−γ‖x − c‖²) around centres c.

    Parameters
    ----------
    centers : int or array-like (m, d), default=50
        A number chooses as many rows of the data: the first at random, then always the row
        farthest from those chosen.  Where there are fewer different rows, those.
    gamma : float, "scale" or "auto", default="scale"
        As for the kernels: 1/(d · variance of X) for "scale", 1/d for "auto".
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    centers_ : (m, d);  gamma_ : float

    Examples
    --------
    >>> from maxmargin import RadialBasis
    >>> bumps = RadialBasis([[0.0, 0.0], [1.0, 0.0]], gamma=1.0).fit([[0.0, 1.0]])
    >>> bumps.transform([[0.0, 0.0]]).round(4).tolist(), bumps.get_feature_names_out().tolist()
    ([[1.0, 0.3679]], ['radial0', 'radial1'])
    """

    _sparse = True

    def __init__(
        self,
        centers: Any = 50,
        *,
        gamma: float | str = "scale",
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.centers = centers
        self.gamma = gamma
        self.random_state = random_state

    def _learn(self, X) -> None:
        self.gamma_ = resolve_gamma(X, self.gamma)
        self.centers_ = self._spread_out(X) if np.ndim(self.centers) == 0 else self._given(X)

    def _given(self, X) -> np.ndarray:
        centers = np.asarray(self.centers, dtype=np.float64)
        if centers.ndim != 2 or centers.shape[1] != X.shape[1] or not np.isfinite(centers).all():
            raise ValueError(
                f"centers must be finite, of shape (m, {X.shape[1]}) for data of {X.shape[1]} "
                f"columns, got shape {centers.shape}."
            )
        return centers

    def _spread_out(self, X) -> np.ndarray:
        """Farthest-point choice: no part of the data is far from every centre."""
        m = self.centers
        if not isinstance(m, int | np.integer) or isinstance(m, bool) or m < 1:
            raise ValueError(
                "centers must be a whole number of at least 1 or an (m, d) array, got "
                f"centers={m!r}."
            )
        chosen = [int(check_random_state(self.random_state).randint(X.shape[0]))]
        nearest = self._squares(X, X[chosen])
        while len(chosen) < m and nearest.max() > 0:
            chosen.append(int(nearest.argmax()))
            nearest = np.minimum(nearest, self._squares(X, X[chosen[-1:]]))
        rows = X[chosen]
        return (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64)

    @staticmethod
    def _squares(X, row) -> np.ndarray:
        """−log of the bump with γ = 1: the squared distance of every row to this one."""
        if sparse.issparse(X):
            z = row.toarray().astype(np.float64)[0]
            squares = np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
            return np.maximum(squares - 2.0 * (X @ z) + z @ z, 0.0)
        Z = X - row
        return np.einsum("ij,ij->i", Z, Z, dtype=np.float64)

    def _phi(self, X):
        values = Kernel("rbf", gamma=self.gamma_)(X, self.centers_)
        return values.astype(X.dtype, copy=False)

    def _names(self, names) -> list[str]:
        return [f"radial{j}" for j in range(len(self.centers_))]


class FunctionBasis(_Basis):
    """Any function φ of the whole array, (n, d) to (n, m).

    Parameters
    ----------
    phi : callable or None, default=None
        None leaves the data as they are.
    names : list of str or None, default=None
        Names of the columns φ makes; default ``phi0``, ``phi1``, …, or the names of the input
        where φ is None.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import FunctionBasis
    >>> basis = FunctionBasis(lambda X: np.column_stack([X, np.sin(X)]), names=["x", "sin x"])
    >>> basis.fit_transform([[0.0], [1.0]]).round(3).tolist()
    [[0.0, 0.0], [1.0, 0.841]]
    """

    def __init__(self, phi: Callable | None = None, names: Any = None):
        self.phi = phi
        self.names = names

    def _learn(self, X) -> None:
        if self.phi is not None and not callable(self.phi):
            raise ValueError(f"phi must be a function of an (n, d) array, got phi={self.phi!r}.")
        self._width = self._phi(X).shape[1]
        if self.names is not None and len(self.names) != self._width:
            raise ValueError(
                f"names must name the {self._width} columns phi makes, got {len(self.names)} names."
            )

    def _phi(self, X):
        if self.phi is None:
            return X
        Z = np.asarray(self.phi(X))
        if Z.ndim != 2 or Z.shape[0] != X.shape[0]:
            raise ValueError(
                f"phi must map an array of shape {X.shape} to one with as many rows and any number "
                f"of columns, got shape {Z.shape}. Use np.column_stack for single columns."
            )
        if not np.isfinite(Z).all():
            raise ValueError("phi returned values that are not finite numbers.")
        return Z

    def _names(self, names):
        if self.names is not None:
            return list(self.names)
        return names if self.phi is None else [f"phi{j}" for j in range(self._width)]
