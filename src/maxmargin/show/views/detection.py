"""What finding more of one class costs: the ROC curve, and precision against recall.

Rows are sorted by score and named, the surest first.  After each, the share of the class that was
found (recall), the share of the other class that was named by mistake, and the share of names that
were right (precision).  Areas are those of scikit-learn's ``roc_auc_score`` and
``average_precision_score``: of tied scores all are named at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..scene import Axis, Board, Line, Points, Scene

# Places of a curve that are drawn.
MAX_CURVE_POINTS = 400


@dataclass(frozen=True)
class Detection:
    """Curves of the rarer class ``label``; ``here`` is the place where the model decides."""

    label: str
    share: float
    recall: np.ndarray
    mistaken: np.ndarray
    precision: np.ndarray
    here: tuple[float, float, float]  # recall, mistaken, precision
    area: float
    average: float
    way: str

    def scene(self) -> Board:
        return Board((self._roc(), self._precision()))

    def words(self) -> str:
        return " ".join(scene.words for scene in self.scene().scenes)

    def _roc(self) -> Scene:
        ends, some = np.array([0.0, 1.0]), _some(len(self.recall))
        recall, mistaken, _ = self.here
        marks = (
            Line(ends, ends, "muted", "by chance", "dashed"),
            Line(self.mistaken[some], self.recall[some], "class 0", "rows left out"),
            Points(np.array([mistaken]), np.array([recall]), "bad", "this model", size=8),
        )
        words = (
            f"ROC curve of “{self.label}”: of two rows, one of each class, the right one has the "
            f"higher score in {self.area:.1%} of pairs ({self.way}); by chance 50 %."
        )
        axes = Axis("others named by mistake", (0.0, 1.0)), Axis("share found", (0.0, 1.0))
        return Scene(f"ROC, area {self.area:.3f}", *axes, marks, words)

    def _precision(self) -> Scene:
        ends, some = np.array([0.0, 1.0]), _some(len(self.recall))
        recall, _, precision = self.here
        shown = precision == precision  # a class that is never named has no precision
        at = np.array([recall] if shown else []), np.array([precision] if shown else [])
        marks = (
            Line(ends, np.full(2, self.share), "muted", "by chance", "dashed"),
            Line(self.recall[some], self.precision[some], "class 0", "rows left out"),
            Points(*at, "bad", "this model", size=8),
        )
        words = (
            f"Precision against recall of “{self.label}”: average precision {self.average:.1%}; "
            f"by chance {self.share:.1%}."
        )
        axes = Axis("share found", (0.0, 1.0)), Axis("right when named", (0.0, 1.0))
        return Scene(f"average precision {self.average:.3f}", *axes, marks, words)


def detection_view(scores: np.ndarray, codes: np.ndarray, labels, way: str) -> Detection:
    """Of scores of the second of two classes against the first; both must have rows."""
    rare = int(codes.mean() <= 0.5)
    scores, positive = (scores if rare else -scores), codes == rare
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.diff(scores[order], append=-np.inf) != 0)  # of tied scores
    found, named = np.cumsum(positive[order])[last], 1.0 + last
    recall = np.concatenate([[0.0], found / positive.sum()])
    mistaken = np.concatenate([[0.0], (named - found) / (~positive).sum()])
    precision = np.concatenate([[found[0] / named[0]], found / named])
    said = scores > 0 if rare else scores >= 0  # a tie goes to the first class
    right = float((said & positive).sum())
    here = (
        right / positive.sum(), float((said & ~positive).sum()) / (~positive).sum(),
        right / said.sum() if said.any() else np.nan,
    )  # fmt: skip
    area = float((np.diff(mistaken) * (recall[1:] + recall[:-1])).sum() / 2.0)
    average = float((np.diff(recall) * precision[1:]).sum())
    share = float(positive.mean())
    return Detection(
        str(labels[rare]), share, recall, mistaken, precision, here, area, average, way
    )


def _some(n: int) -> np.ndarray:
    return np.unique(np.linspace(0, n - 1, min(n, MAX_CURVE_POINTS)).astype(int))
