"""A perceptron's run, replayed update by update, and its count against R²/γ².

With W* of margin γ and every ‖x‖ ≤ R, t updates at rate η from W = 0 leave

    f² η² t² γ²  ≤  ‖W_t‖²  ≤  f² η² t R²          f = 1 for two classes, √2 for k,

a parabola below and a line above, which meet at t = R²/γ²: there every run has ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np
from scipy import sparse

from ...core.certify.mistakes import MistakeBound, NoMistakeBound, proof_in_words
from ...core.rows.rows import DenseRows, shape
from ...core.solve.perceptron.updates import violations
from ...core.types import ArrayLike, MatrixLike
from ...models.perceptron.mistake_bound import mistake_bound
from ...models.perceptron.perceptron import Perceptron
from ...models.perceptron.steps import Update, perceptron_steps
from ...models.validation import EstimatorStandIn, check_training
from ..display import Display
from ..geometry.crossing import crossing
from ..geometry.model_adapter import column_names
from ..scene import Axis, Board, Line, Mark, Points, Scene
from .boundary import class_points, similar, window_around

# Updates kept: enough for every picture, and a stepper's slider stays usable.
MAX_KEPT_UPDATES = 2000
# Values of X held as a dense matrix to score all points after every update.
MAX_DENSE_VALUES = 20_000_000
# Frames of a board when the caller does not choose.
BOARD_FRAMES = 5


@dataclass(frozen=True)
class PerceptronRun:
    """Every state of a run: ``W[t]``, ``b[t]`` after t updates, ``points[t-1]`` their cause.

    ``wrong[t]`` points are misclassified then.  ``bound`` is None where no theorem applies, and
    ``no_bound`` says why.  ``ending`` says why there are no more updates.
    """

    X: np.ndarray  # (n, d)
    codes: np.ndarray  # (n,)
    classes: tuple[str, ...]
    features: tuple[str, ...]
    W: np.ndarray  # (t + 1, 1 or k, d)
    b: np.ndarray  # (t + 1, 1 or k)
    points: tuple[np.ndarray, ...]  # t
    wrong: np.ndarray  # (t + 1,)
    margin: float
    rate: float
    bound: MistakeBound | None
    no_bound: str
    ending: str
    shown: Sequence[int] | None = None

    def __len__(self) -> int:
        """The number of updates; there is one frame more."""
        return len(self.points)

    @property
    def made(self) -> np.ndarray:
        """Updates made before each frame, points of a batch counted one by one, as the theorem
        counts them."""
        return np.concatenate([[0], np.cumsum([len(batch) for batch in self.points], dtype=int)])

    @property
    def squared_norm(self) -> np.ndarray:
        """‖W_t‖² with the biases, after 0, 1, … updates."""
        return (self.W**2).sum(axis=(1, 2)) + (self.b**2).sum(axis=1)

    @property
    def unit(self) -> float:
        """f η: the length of an update by a point of length one."""
        return self.rate * (1.0 if len(self.classes) == 2 else np.sqrt(2.0))

    def scores(self, t: int, points=slice(None)) -> np.ndarray:
        """(m, 1) or (m, k): scores of the points with the weights after t updates."""
        return self.X[points] @ self.W[t].T + self.b[t]

    def why(self, t: int) -> str:
        """Why update t was made and what it changed, in words."""
        if t == 0:
            return (
                "Before the first update every weight is 0 and so is every score: the first "
                "point that needs an update gets it."
            )
        batch = self.points[t - 1]
        text = self._why_batch(t) if len(batch) > 1 else self._why_one(t, int(batch[0]))
        text += f" {self.wrong[t]} of {len(self.X)} points are misclassified after it."
        if self.bound is not None:
            text += f" The theorem allows {self.bound.bound:.4g} updates: {self.made[t]} made."
        return text

    def _why_one(self, t: int, i: int) -> str:
        F = self.scores(t - 1, [i])
        name, at = self.classes[self.codes[i]], _numbers(self.X[i])
        head = f"Update {t}: point {i} at {at} is of class {name}"
        if F.shape[1] == 1:
            sign = 1 if self.codes[i] == 1 else -1
            w, b = self.W[t][0], float(self.b[t][0])
            return (
                f"{head} (y = {sign:+d}), and its score w·x + b = {F[0, 0]:.4g} gives "
                f"y(w·x + b) = {sign * F[0, 0]:.4g} ≤ {self.margin:g}. So w becomes "
                f"w {'+' if sign > 0 else '−'} {_rate(self.rate)}x = {_numbers(w)} and b becomes "
                f"{b:.4g}."
            )
        _, rival, _ = violations(F, self.codes[[i]], self.margin)
        other = self.classes[int(rival[0])]
        return (
            f"{head} with score {F[0, self.codes[i]]:.4g}, and class {other} has "
            f"{F[0, int(rival[0])]:.4g}. So the weights of {name} gain {_rate(self.rate)}x and "
            f"those of {other} lose it."
        )

    def _why_batch(self, t: int) -> str:
        return (
            f"Update {t}: {len(self.points[t - 1])} points of one batch are on the wrong side of "
            "the weights it began with. All of them are added to their class at once."
        )

    def frame(self, t: int) -> Scene:
        """The points and the boundary after update t, with the boundary before it (dashed) and
        the point that caused it (ringed)."""
        t = range(len(self) + 1)[t]
        batch = self.points[t - 1] if t else np.empty(0, dtype=int)
        title = f"after {t} of {len(self)} updates: {self.wrong[t]} wrong"
        draw = self._plane if self.X.shape[1] == 2 else self._strip
        x, y, marks, equal = draw(t, batch)
        boundary = marks[-1]
        hidden = t > 0 and isinstance(boundary, Line) and not np.isfinite(boundary.x).any()
        words = self.why(t) + " The boundary is outside the picture." * hidden
        return Scene(title, x, y, tuple(marks), words, equal=equal)

    def _plane(self, t: int, batch) -> tuple[Axis, Axis, list[Mark], bool]:
        window = window_around(self.X)
        marks = class_points(self.X, self.codes, self.classes)
        if len(batch):
            old = crossing(self.W[t - 1], self.b[t - 1], window)
            marks.append(Line(*old, "muted", "boundary before", "dashed"))
            marks.append(_ring(self.X[batch, 0], self.X[batch, 1]))
        if t:
            new = crossing(self.W[t], self.b[t], window)
            marks.append(Line(*new, "ink", "boundary", width=2.0))
        left, right, bottom, top = window
        x, y = Axis(self.features[0], (left, right)), Axis(self.features[1], (bottom, top))
        return x, y, marks, similar((right - left, top - bottom))

    def _strip(self, t: int, batch) -> tuple[Axis, Axis, list[Mark], bool]:
        """More than two features: how far every point is on its right side."""
        lead = self._leads(t)
        number = np.arange(len(lead), dtype=float)
        marks = class_points(np.column_stack([lead, number]), self.codes, self.classes)
        if len(batch):
            marks.append(_ring(lead[batch], number[batch]))
        edges = np.array([-0.5, len(lead) - 0.5])
        marks.append(Line(np.zeros(2), edges, "ink", "boundary", width=2.0))
        x = Axis("distance to the boundary, positive on the right side")
        return x, Axis("training point", tuple(edges)), marks, False

    def _leads(self, t: int) -> np.ndarray:
        """The margin of every point as the theorem measures it: over f‖(W, b)‖."""
        _, _, shortfall = violations(self.scores(t), self.codes, self.margin)
        length = np.sqrt(self.squared_norm[t]) * self.unit / self.rate
        return (self.margin - shortfall) / (length if length > 0 else 1.0)

    def norms(self) -> Scene:
        """‖W_t‖² between what the proof promises and what it allows."""
        t = self.made[1:].astype(float)
        squared = self.squared_norm[1:]
        marks: list[Mark] = []
        if self.bound is not None:
            T, R, gamma = self.bound.bound, self.bound.radius, self.bound.margin
            reach = np.array([1.0, max(T, 1.0)])
            marks += [
                Line(reach, self.unit**2 * reach * R**2, "class 1", "at most tR²", "dashed"),
                Line(reach, (self.unit * reach * gamma) ** 2, "class 2", "at least t²γ²", "dashed"),
                Line(np.full(2, T), self._height(T), "bad", f"R²/γ² = {T:.4g}", "dotted"),
            ]
        own = "‖w‖² of this run"
        marks.append(Line(t, squared, "class 0", own, width=2.0))
        if len(t):
            told = (f"after {self.made[-1]} updates ‖w‖² = {squared[-1]:.4g}",)
            marks.append(Points(t[-1:], squared[-1:], "class 0", own, size=7, names=told))
        most = f" of at most {self.bound.bound:.4g}" if self.bound else ", no bound"
        x, y = Axis("updates t", log=True), Axis("‖w‖², the bias included", log=True)
        return Scene(f"{self.made[-1]} updates{most}", x, y, tuple(marks), self.words())

    def _height(self, T: float) -> np.ndarray:
        """From the lowest promise to where the two bounds meet."""
        bound = self.bound
        assert bound is not None
        return self.unit**2 * np.array([bound.margin**2, T * bound.radius**2])

    def errors(self) -> Scene:
        """Misclassified points after every update."""
        t = self.made.astype(float)
        wrong = self.wrong.astype(float)
        line = Line(t, wrong, "class 1", "misclassified points")
        words = (
            f"{self.wrong[-1]} of {len(self.X)} points misclassified after {self.made[-1]} updates."
        )
        axes = Axis("updates t"), Axis("misclassified points", (0.0, max(wrong.max() * 1.05, 1.0)))
        return Scene("errors after every update", *axes, (line,), words, legend=False)

    def words(self) -> str:
        """The run in a few sentences."""
        text = (
            f"The perceptron made {self.made[-1]} updates on {len(self.X)} points: {self.ending}, "
            f"with {self.wrong[-1]} points misclassified."
        )
        if self.bound is None:
            return f"{text} {self.no_bound}"
        most, R, gamma = self.bound.bound, self.bound.radius, self.bound.margin
        return (
            f"{text} No run can need more than R²/γ² = {most:.4g} (R = {R:.4g}, γ = {gamma:.4g}); "
            f"this one took {self.made[-1] / most:.2%} of that."
        )

    def scene(self) -> Board:
        """The frames ``shown``, or a few, more of them early; last, the norms and their bounds."""
        updates = self.shown
        if updates is None:
            shares = np.linspace(0, 1, BOARD_FRAMES) ** 2
            updates = sorted({round(len(self) * share) for share in shares})
        frames = [replace(self.frame(t), legend=False) for t in updates]
        frames[-1] = replace(frames[-1], legend=True)  # once will do: it is the same on all
        return Board((*frames, self.norms()), columns=min(3, len(frames) + 1))


def _numbers(values) -> str:
    shown = ", ".join(f"{v:.3g}" for v in values[:4])
    return f"({shown}{', …' if len(values) > 4 else ''})"


def _rate(rate: float) -> str:
    return "" if rate == 1.0 else f"{rate:g}·"


def _ring(x, y) -> Points:
    return Points(x, y, "bad", "the cause of this update", size=11.0, hollow=True)


def perceptron_run(
    X, y, *, most=MAX_KEPT_UPDATES, feature_names=None, **parameters
) -> PerceptronRun:
    """The run of ``Perceptron(**parameters)`` on X (n, d) and y, up to ``most`` updates."""
    parameters.pop("trace", None)
    model = Perceptron(**parameters)
    names = column_names(model, X, feature_names)
    X, classes, codes = check_training(EstimatorStandIn(), X, y)
    updates = perceptron_steps(X, classes[codes], **parameters)
    return _run(_first(updates, most), model, _dense(X), codes, classes, names)


def run_of(model: Perceptron, *, most=MAX_KEPT_UPDATES, feature_names=None) -> PerceptronRun:
    """The run that ``Perceptron(trace=True).fit(X, y)`` recorded."""
    trace = getattr(model, "trace_", None)
    if trace is None:
        raise ValueError(
            f"This {type(model).__name__} has no recorded run: fit it with trace=True, or use "
            "PerceptronRunDisplay.from_data."
        )
    if np.any(trace.start_W) or np.any(trace.start_b):
        raise ValueError(
            "This run did not begin at w = 0 (warm_start or coef_init), so it cannot be replayed "
            "from there. Fit it once without them."
        )
    rows = trace.rows
    X = rows.X if isinstance(rows, DenseRows) else sparse.csr_matrix(
        (rows.data, rows.indices, rows.indptr), shape=shape(rows)
    )  # fmt: skip
    kept, names = _first(iter(trace), most), column_names(model, X, feature_names)
    return _run(kept, model, _dense(X), trace.codes, model.classes_, names)


def _first(updates: Iterator[Update], most: int) -> tuple[list[Update], bool]:
    """The first updates, and whether there are more."""
    return list(islice(updates, most)), next(updates, None) is not None


def _dense(X) -> np.ndarray:
    if not sparse.issparse(X):
        return np.asarray(X, dtype=np.float64)
    n, d = X.shape
    if n * d > MAX_DENSE_VALUES:
        raise ValueError(
            f"A perceptron's run is drawn from a dense copy of X, here {n} × {d}; its limit is "
            f"{MAX_DENSE_VALUES:,} values. Take a sample of the rows, or fewer columns."
        )
    return X.toarray().astype(np.float64)


def _run(kept: tuple[list[Update], bool], model, X, codes, classes, names) -> PerceptronRun:
    updates, more = kept
    height = 1 if len(classes) == 2 else len(classes)
    W = np.zeros((len(updates) + 1, height, X.shape[1]))
    b = np.zeros((len(updates) + 1, height))
    for t, update in enumerate(updates, 1):
        W[t], b[t] = update.w, update.b
    wrong = np.array([_mistakes(X @ w.T + c, codes) for w, c in zip(W, b, strict=True)])
    violating, _, _ = violations(X @ W[-1].T + b[-1], codes, model.margin)
    ending = (
        f"only the first {len(updates)} are shown" if more
        else f"it was stopped after {model.max_passes} passes" if violating.any()
        else "no point needs another"
    )  # fmt: skip
    bound, why = _bound(model, X, classes[codes])
    return PerceptronRun(
        X, codes, tuple(map(str, classes)), names, W, b,
        tuple(update.points for update in updates), wrong, float(model.margin),
        float(model.learning_rate), bound, why, ending,
    )  # fmt: skip


def _mistakes(F: np.ndarray, codes: np.ndarray) -> int:
    said = (F[:, 0] > 0).astype(int) if F.shape[1] == 1 else F.argmax(axis=1)
    return int((said != codes).sum())


def _bound(model, X, y) -> tuple[MistakeBound | None, str]:
    """R²/γ², or why it does not apply."""
    if model.margin != 0 or model.batch_size != 1 or model.class_weight is not None:
        return None, (
            "The bound R²/γ² is for one point at a time with margin 0 and equal rates, "
            "which this run does not have."
        )
    try:
        return mistake_bound(X, y, fit_intercept=model.fit_intercept), ""
    except NoMistakeBound as error:
        return None, (
            "There is no bound, and a perceptron never ends by itself: the classes are "
            f"{proof_in_words(error.proof, error.classes)}."
        )
    except (ValueError, RuntimeError) as error:
        return None, f"The bound is not known: {error}"


class PerceptronRunDisplay(Display):
    """A perceptron's run: chosen updates, and ‖w‖² between the bounds that meet at R²/γ².

    ``view`` is a ``PerceptronRun``: ``view.frame(t)`` is the picture after update t and
    ``view.why(t)`` says why it was made.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import PerceptronRunDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[y < 2][:, [1, 3]], y[y < 2]
    >>> run = PerceptronRunDisplay.from_data(X, y, random_state=3).view
    >>> print(len(run), "updates of at most", round(run.bound.bound))
    21 updates of at most 242
    """

    view: PerceptronRun

    @classmethod
    def from_data(
        cls,
        X: MatrixLike,
        y: ArrayLike,
        *,
        updates: Any = None,
        most: int = MAX_KEPT_UPDATES,
        feature_names: Any = None,
        ax: Any = None,
        **parameters: Any,
    ) -> Self:
        """Run ``Perceptron(**parameters)`` on X and y; ``updates`` are the frames to draw."""
        run = perceptron_run(X, y, most=most, feature_names=feature_names, **parameters)
        return cls.of(replace(run, shown=updates), ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        updates: Any = None,
        most: int = MAX_KEPT_UPDATES,
        feature_names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Replay the run recorded by ``Perceptron(trace=True)``."""
        run = run_of(estimator, most=most, feature_names=feature_names)
        return cls.of(replace(run, shown=updates), ax)
