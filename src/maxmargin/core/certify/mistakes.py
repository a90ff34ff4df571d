"""What is proved about a perceptron: its errors, and the bound R²/γ² on its updates.

Let W* separate the data with margin γ and let every ‖x‖ ≤ R (x with a 1 appended when there
is a bias).  From W = 0, with learning rate η and t updates made,

    claim 1    W*·W_t ≥ f η t γ ‖W*‖        every update adds at least this much
    claim 2    ‖W_t‖² ≤ f² η² t R²          every updated point was on the wrong side
    claim 3    W*·W_t ≤ ‖W*‖ ‖W_t‖          Cauchy–Schwarz

with f = 1 for two classes and √2 for k, where  margin(W) = min (w_ℓ·x − w_z·x) / (√2 ‖W‖).
Together  t ≤ R²/γ².  (One point at a time, margin 0: the points of a batch were wrong for the
weights the batch began with, not for those they are added to.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .certificate import Certificate
from .exported import Exported
from .separability import NotSeparableError, Separation

# Relative rounding forgiven when a claim, which can hold with equality, is checked.
CLAIM_ROUNDING = 1e-9


@dataclass(frozen=True)
class PerceptronCertificate(Exported):
    """What the kept weights do on the training points, recomputed from the data.

    ``wrong`` points are misclassified; ``violating`` ones would still be updated (on the
    hyperplane, or within the margin asked for).  ``separation`` is the proof, asked for with
    ``explain=True``, that a separator exists or that none does.
    """

    points: int
    wrong: int
    violating: int
    loss: float
    updates: int
    passes: int
    ending: str
    oscillates: bool = False
    separation: Separation | None = None
    classes: int = 2
    can_explain: bool = True

    @property
    def separates(self) -> bool:
        """Whether the kept weights classify every training point correctly."""
        return self.wrong == 0

    def __str__(self) -> str:
        effort = f"{_many(self.updates, 'update')} in {_many(self.passes, 'pass')}"
        if self.wrong == 0:
            text = f"all {self.points} training points right after {effort}"
            if self.violating:
                text += f"; {self.violating} still violate the rule"
        else:
            text = f"{self.wrong} of {self.points} training points still wrong after {effort}"
        text += f" ({self.ending})"
        if self.oscillates:
            text += "; the loss oscillates"
        if self.separation is not None:
            text += f"; proved {proof_in_words(self.separation, self.classes)}"
        elif self.wrong:
            text += "; whether a separator exists is not known"
            text += " (explain=True finds out)" if self.can_explain else ""
        return text


def proof_in_words(proof: Separation, classes: int) -> str:
    """The proof for two classes as it prints itself; for k it speaks of difference vectors."""
    if proof.separable or classes == 2 or proof.weights is None:
        return str(proof)
    return (
        f"not separable: a weighted mean of {int(np.count_nonzero(proof.weights))} difference "
        f"vectors x ⊗ (e_ℓ − e_z) is zero (residual {proof.residual:.1e})"
    )


def _many(number: int, noun: str) -> str:
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number} {noun if number == 1 else plural}"


@dataclass(frozen=True)
class MistakeBound:
    """R, γ and R²/γ²: no run with one point at a time can need more updates.

    ``margin`` is that of ``w`` and ``b``, so the bound is proved by them alone; that no
    other separator has a margin above ``margin_at_most`` is proved by ``certificate``.
    For k classes ``w`` is (k, d) and ``b`` is (k,).
    """

    radius: float
    margin: float
    margin_at_most: float
    w: np.ndarray
    b: np.ndarray | float
    certificate: Certificate

    @property
    def bound(self) -> float:
        return (self.radius / self.margin) ** 2

    def __str__(self) -> str:
        return (
            f"at most {self.bound:.6g} updates: R = {self.radius:.6g}, γ = {self.margin:.6g} "
            f"(no separator has more than {self.margin_at_most:.6g})"
        )

    def claims(self, trace: Iterable, learning_rate: float = 1.0) -> Claims:
        """The proof's three claims after every update of a recorded run."""
        return check_claims(trace, self, learning_rate)


@dataclass(frozen=True)
class Claims:
    """Both sides of every claim, after 1, 2, … t updates."""

    progress: np.ndarray  # W*·W_t
    promised: np.ndarray  # f η t γ ‖W*‖
    squared_norm: np.ndarray  # ‖W_t‖²
    allowed: np.ndarray  # f² η² t R²
    ceiling: np.ndarray  # ‖W*‖ ‖W_t‖

    @property
    def first(self) -> bool:
        return _at_most(self.promised, self.progress)

    @property
    def second(self) -> bool:
        return _at_most(self.squared_norm, self.allowed)

    @property
    def third(self) -> bool:
        return _at_most(self.progress, self.ceiling)

    def __bool__(self) -> bool:
        return self.first and self.second and self.third


class NoMistakeBound(NotSeparableError):
    """A mistake bound was asked for on data that no W separates; ``proof`` says why."""

    def __init__(self, proof: Separation, classes: int):
        self.proof = proof
        ValueError.__init__(
            self,
            f"mistake_bound needs data that some weights separate, but the {classes} classes are "
            f"{proof_in_words(proof, classes)}. A perceptron never stops on them by itself: "
            "limit max_passes and use pocket=True or average=True. The weights of the proof are "
            "in this error's `proof.weights`.",
        )
        self.classes = classes

    def __reduce__(self):
        return type(self), (self.proof, self.classes)


def check_claims(trace: Iterable, bound: MistakeBound, learning_rate: float = 1.0) -> Claims:
    """Replay the updates of a margin-0 run from W = 0 and evaluate the three claims."""
    star = _flat(bound.w, bound.b)
    length = float(np.linalg.norm(star))
    factor = 1.0 if bound.w.ndim == 1 else np.sqrt(2.0)
    t, count, progress, norms = 0, [], [], []
    for update in trace:
        W = _flat(update.w, update.b)
        t += len(update.points)
        count.append(t)
        progress.append(float(star @ W))
        norms.append(float(W @ W))
    T, squared = np.array(count, dtype=float), np.array(norms)
    unit = factor * learning_rate
    return Claims(
        progress=np.array(progress),
        promised=unit * T * bound.margin * length,
        squared_norm=squared,
        allowed=unit**2 * T * bound.radius**2,
        ceiling=length * np.sqrt(squared),
    )


def _flat(W, b) -> np.ndarray:
    return np.concatenate([np.ravel(W), np.ravel(b)]).astype(np.float64)


def _at_most(small: np.ndarray, large: np.ndarray) -> bool:
    slack = CLAIM_ROUNDING * np.maximum(np.abs(small), np.abs(large))
    return bool(np.all(small <= large + slack))
