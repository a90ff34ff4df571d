"""Which plane is looked at.

Data with two features are their own plane.  With more, either two features, the others fixed,
or the *discriminant plane*: for two classes the direction w/‖w‖ of the score and, of all
directions at right angles to it, the one in which the data vary most.  Scores do not change
at right angles to w, so every point keeps its true distance to boundary and margins.  For
k classes it is spanned by the two directions in which the weights differ most: true for
three classes, whose differences span no more than a plane, and a shadow for more.  One feature
is drawn across; upwards every class has a lane, in which its points are spread out to be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from .model_adapter import ModelAdapter

Kind = Literal["auto", "features", "discriminant"]
# Weights that leave the plane by less than this, of their length, lie in it.
IN_PLANE_TOL = 1e-9
# An eigenvalue below this share of the largest is zero.
EIGENVALUE_ROUNDING = 1e-12
# Of the distance between two classes' lanes, how much points are spread over.
LANE_WIDTH_SHARE = 0.6
# Values of rows of the plane that are formed at a time.
PLANE_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True)
class Plane:
    """The points ``origin + u·axes[0] + v·axes[1]``; u and v are what the picture's axes show."""

    origin: np.ndarray
    axes: np.ndarray  # (2, d)
    labels: tuple[str, str]
    words: str
    true: bool  # every answer is a function of (u, v) alone
    metric: bool  # both axes have one unit: lengths in the picture are distances
    lanes: bool = False  # upwards there are only the lanes of the classes

    def embed(self, uv: np.ndarray) -> np.ndarray:
        """The rows at places of the plane."""
        return self.origin + uv @ self.axes

    def project(self, rows) -> np.ndarray:
        """The places of rows: where they fall at right angles on the plane."""
        back = np.linalg.pinv(self.axes)
        return np.asarray(rows @ back) - self.origin @ back

    def restrict(self, W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W x + b as a function of (u, v)."""
        return W @ self.axes.T, W @ self.origin + b


def places_of(rows, codes: np.ndarray, plane: Plane) -> np.ndarray:
    """Where the picture has the rows of a subject."""
    places = plane.project(rows)
    if plane.lanes:
        for c in np.unique(codes):
            some = np.flatnonzero(codes == c)
            # Multiples of the golden ratio, modulo 1: neighbours in the list are far apart.
            places[some, 1] = c + LANE_WIDTH_SHARE * (np.arange(len(some)) * 0.618034 % 1.0 - 0.5)
    return places


def answers_at(subject: ModelAdapter, plane: Plane, places: np.ndarray) -> np.ndarray:
    """The answers at places of the plane."""
    if subject.W is not None and subject.b is not None:
        U, t = plane.restrict(subject.W, subject.b)
        return places @ U.T + t
    rows = max(1, PLANE_BLOCK_VALUES // len(plane.origin))
    parts = [places[start : start + rows] for start in range(0, len(places), rows)]
    return np.concatenate([subject.answers(plane.embed(part)) for part in parts])


def choose_plane(
    subject: ModelAdapter,
    codes: np.ndarray,
    plane: Kind = "auto",
    features: Sequence[int | str] | None = None,
    fixed: dict | None = None,
) -> Plane:
    """The plane asked for; ``"auto"`` is the data's own, or else the discriminant one."""
    if plane not in ("auto", "features", "discriminant"):
        raise ValueError(
            f"plane must be 'auto', 'features' or 'discriminant', got plane={plane!r}."
        )
    width = subject.rows.shape[1]
    if width == 1:
        return _one_feature(subject)
    if plane == "discriminant" and not subject.linear:
        raise ValueError(
            f"The discriminant plane needs a model that is linear in the features, and "
            f"{subject.title} is not, here. Choose plane='features'."
        )
    if plane == "discriminant" and features is not None:
        raise ValueError("plane='discriminant' chooses its own directions: leave features out.")
    wants_features = plane == "features" or features is not None or width == 2
    if wants_features or not subject.linear:
        return features_plane(subject, codes, features, fixed)
    return discriminant_plane(subject)


def features_plane(subject: ModelAdapter, codes, features=None, fixed=None) -> Plane:
    """Two features, in their own units; all others are fixed at their means, or as told."""
    width = subject.rows.shape[1]
    how = ""
    if features is None:
        first, second = (0, 1) if width == 2 else _telling(subject, codes)
        how = "" if width == 2 else ", the two that tell the classes apart best one by one"
    else:
        first, second = _two(features, subject.names)
    fixed = {_place(name, subject.names): float(v) for name, v in (fixed or {}).items()}
    others = [j for j in range(width) if j not in (first, second)]
    origin = np.asarray(subject.rows.mean(axis=0)).ravel()
    for j, value in fixed.items():
        origin[j] = (value - subject.shift[j]) / subject.scale[j]
    axes = np.zeros((2, width))
    for row, j in enumerate((first, second)):
        axes[row, j] = 1.0 / subject.scale[j]
        origin[j] = -subject.shift[j] / subject.scale[j]
    words = f"The plane of {subject.names[first]} and {subject.names[second]}{how}."
    if others:
        words += f" {_held(subject, origin, others, fixed)}"
    return Plane(
        origin, axes, (subject.names[first], subject.names[second]), words,
        _spans(subject, axes), metric=False,
    )  # fmt: skip


def _one_feature(subject: ModelAdapter) -> Plane:
    origin, axes = -subject.shift / subject.scale, np.array([[1.0 / subject.scale[0]], [0.0]])
    words = f"Across, {subject.names[0]}, the only feature; upwards, a lane for every class."
    labels = (subject.names[0], "class, spread out to be seen")
    return Plane(origin, axes, labels, words, true=True, metric=False, lanes=True)


def _held(subject: ModelAdapter, origin, others: list[int], fixed: dict) -> str:
    """At which values the other features are fixed."""
    if len(others) > 6:
        kind = "their means" if not fixed else "their means or as asked"
        return f"The other {len(others)} features are fixed at {kind}."
    values = (origin * subject.scale + subject.shift)[others]
    size = abs(subject.rows[:, others]).max(axis=0)
    size = np.ravel(size.toarray() if sparse.issparse(size) else size) * subject.scale[others]
    values[np.abs(values) < IN_PLANE_TOL * size] = 0.0  # a mean that is zero but for rounding
    parts = [f"{subject.names[j]} = {value:.4g}" for j, value in zip(others, values, strict=True)]
    return f"Fixed{'' if fixed else ' at their means'}: {', '.join(parts)}."


def discriminant_plane(subject: ModelAdapter) -> Plane:
    """The two directions in which the answers change most; see the head of this file."""
    assert subject.W is not None
    assert subject.b is not None
    _, size, directions = np.linalg.svd(_contrasts(subject, subject.W), full_matrices=False)
    mean = np.asarray(subject.rows.mean(axis=0)).ravel()
    counts = (
        size[0] * np.sqrt(_variance(subject.rows, mean)) > IN_PLANE_TOL * np.abs(subject.b).max()
    )
    kept = int(np.sum(size > IN_PLANE_TOL * size[0])) if counts else 0
    axes = directions[: min(kept, 2)]
    while len(axes) < 2:
        axes = np.vstack([axes, _widest(subject.rows, mean, axes)])
    if len(subject.classes) == 2 and kept:
        axes[0] *= np.sign(axes[0] @ subject.W[0]) or 1.0
        norm = float(np.linalg.norm(subject.W[0]))
        origin = mean - axes[0] * float(subject.W[0] @ mean + subject.b[0]) / norm
        unit = " in scaled units" if subject.rescaled else ""
        labels = (f"distance to the boundary{unit}", "widest direction along the boundary")
        words = (
            "The discriminant plane: across, every point's true distance to the boundary"
            f"{unit}; upwards, the direction along the boundary in which the data vary most."
        )
        return Plane(origin, axes, labels, words, True, True)
    for row in range(2):
        axes[row] *= np.sign(axes[row][np.abs(axes[row]).argmax()])
    true = kept <= 2
    labels = ("first discriminant direction", "second discriminant direction")
    if kept == 0:
        labels = ("widest direction", "second widest direction")
    words = "The plane of the two directions in which the classes' weights differ most: " + (
        "they differ in no other, so every point is in the region of the class it is given."
        if true
        else "they differ in others too, so the regions are a section through the mean, and the "
        "points are projected on it."
    )
    if kept == 0:
        words = "The weights are zero: the plane in which the data vary most."
    return Plane(mean - (mean @ axes.T) @ axes, axes, labels, words, true, True)


def _contrasts(subject: ModelAdapter, W: np.ndarray) -> np.ndarray:
    """As many rows as there are answers, with the same inner products between columns as all
    contrasts of all classes, which are far more."""
    size, directions = np.linalg.eigh(sum(M.T @ M for M in subject.election.wins))
    size[size < EIGENVALUE_ROUNDING * size[-1]] = 0.0
    return np.sqrt(size)[:, None] * (directions.T @ W)


def _variance(rows, mean: np.ndarray) -> float:
    """Mean squared distance of the rows to their mean."""
    squares = rows.multiply(rows).sum() if sparse.issparse(rows) else np.sum(np.square(rows))
    return max(float(squares) / rows.shape[0] - float(mean @ mean), 0.0)


def _widest(rows, mean: np.ndarray, orthogonal_to: np.ndarray) -> np.ndarray:
    """The direction of largest variance at right angles to the (orthonormal) ones given."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    def across(v: np.ndarray) -> np.ndarray:
        return v - orthogonal_to.T @ (orthogonal_to @ v)

    def scatter(v: np.ndarray) -> np.ndarray:
        v = across(v.ravel())
        z = np.asarray(rows @ v) - mean @ v
        return across(np.asarray(rows.T @ z).ravel() - mean * z.sum())

    d = rows.shape[1]
    start = across(np.random.default_rng(0).standard_normal(d))
    start /= np.linalg.norm(start)
    if d > 2 and np.linalg.norm(scatter(start)) > 0.0:
        # Two digits would do for a picture; the first axis alone carries distances.
        operator = LinearOperator((d, d), matvec=scatter, dtype=np.float64)
        start = across(eigsh(operator, k=1, v0=start, tol=1e-6)[1][:, 0])
        start /= np.linalg.norm(start)
    return start * np.sign(start[np.abs(start).argmax()])


def _spans(subject: ModelAdapter, axes: np.ndarray) -> bool:
    """Whether the answers' contrasts change along the axes only."""
    if subject.W is None:
        return axes.shape[1] == 2
    contrasts = _contrasts(subject, subject.W)
    left = contrasts - contrasts @ np.linalg.pinv(axes) @ axes
    return bool(np.abs(left).max() <= IN_PLANE_TOL * max(np.abs(contrasts).max(), 1e-300))


def _telling(subject: ModelAdapter, codes) -> tuple[int, int]:
    """The two features with the largest ratio of variance between to within the classes."""
    from sklearn.feature_selection import f_classif

    with np.errstate(all="ignore"):
        rows = subject.rows if sparse.issparse(subject.rows) else np.asarray(subject.rows)
        ratio = np.nan_to_num(f_classif(rows, codes)[0], nan=-1.0)
    first, second = sorted(np.argsort(-ratio, kind="stable")[:2].tolist())
    return first, second


def _two(features, names: tuple[str, ...]) -> tuple[int, int]:
    places = [_place(feature, names) for feature in features]
    if len(places) != 2 or places[0] == places[1]:
        raise ValueError(f"features must be two different features, got {list(features)!r}.")
    return places[0], places[1]


def _place(feature, names: tuple[str, ...]) -> int:
    if isinstance(feature, str):
        if feature in names:
            return names.index(feature)
    elif -len(names) <= int(feature) < len(names):
        return int(feature) % len(names)
    shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise ValueError(f"There is no feature {feature!r}; there are {shown}.")
