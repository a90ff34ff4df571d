"""Comparison: what ``compare`` found, best first, with the significance of every difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student

from ..notebook import paragraph, scores_svg
from .records import as_frame, as_html, as_text
from .scoring import in_words

Record = dict[str, Any]

# A difference with a smaller p-value is called one.
SIGNIFICANCE_LEVEL = 0.05
# Standard errors by which the best of several must be above a score to be clearly so.
CLEARLY = 2.0


@dataclass
class Comparison:
    """What ``compare`` found: one row per method and basis, best first.

    Best is the row with the highest ``score``, which names a column: the accuracy unless another
    was asked for.  ``p_value`` is that of the difference to the best row; ``folds`` holds the score
    of every fold, in the same order as ``rows``; ``constant`` is the score of always giving the
    commonest answer, where that is known.
    """

    rows: list[Record] = field(default_factory=list)
    folds: list[np.ndarray] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    interrupted: bool = False
    score: str = "accuracy"
    constant: float | None = None

    @property
    def best(self) -> Record:
        return self.rows[0]

    @property
    def recommended(self) -> Record:
        """The simplest, then the one with the highest score, of all that are as good as the best.

        That is: not significantly worse, and within one standard error of it.
        """
        best = self.best
        good = [
            row
            for row in self.rows
            if not row["p_value"] < SIGNIFICANCE_LEVEL
            and row[self.score]
            >= best[self.score] - max(best["standard_error"], row["standard_error"])
        ]
        return min(good, key=lambda row: _simplicity(row, self.score))

    @property
    def recommendation(self) -> str:
        """What to do, in a sentence or two."""
        row, best = self.recommended, self.best
        name = name_of(row)
        reached = f"{in_words(self.score)} {row[self.score]:.3f} ± {row['standard_error']:.3f}"
        text = f"Use {name}: {reached}"
        room = CLEARLY * best["standard_error"]
        if self.constant is not None and best[self.score] - room <= self.constant:
            clearly = "clearly " if best[self.score] > self.constant else ""
            text = (
                f"No method is {clearly}better than always giving the commonest answer, of which "
                f"the {in_words(self.score)} is {self.constant:.3f}. The best is {name}: {reached}"
            )
        if row is best:
            text += ", the highest of all"
        else:
            text += (
                f". {name_of(best)} has {best[self.score]:.3f}, which these folds do not tell from "
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
        if not self.rows:
            return "nothing compared"
        score, error = (
            np.array([row[name] for row in self.rows], dtype=float)
            for name in (self.score, "standard_error")
        )
        names = [name_of(row) for row in self.rows]
        title = f"{in_words(self.score)} on rows left out"
        picture = scores_svg(names, score, error, f"{title}, with standard errors")
        return paragraph(self.recommendation) + picture + as_html(self.rows, title)


def rank(result: Comparison, done: list, splits, n: int) -> None:
    """Best first, with the significance of every difference to the best."""
    done.sort(key=lambda pair: (-pair[0][result.score], pair[0]["fit_seconds"]))
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


def _simplicity(row: Record, score: str) -> tuple:
    """Fewer ideas first: no kernel, no change of basis; then the score, then speed."""
    method, basis = str(row["method"]), str(row["basis"])
    kernel, changed = method.startswith("kernel"), basis != "as given"
    return kernel, changed, -row[score], row["fit_seconds"]


def name_of(row: Record) -> str:
    basis = "" if row["basis"] == "as given" else f" on the {row['basis']} basis"
    return f"{row['method']}{basis}"
