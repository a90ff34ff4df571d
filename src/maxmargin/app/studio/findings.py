"""What is said beside the picture: margin, violations, support vectors, and what is proved."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.certify.separability import Separation
from .each import each_point, measures
from .methods import UNKNOWN_LABEL
from .task import StudioTask

# A slack below this is the rounding of a point on the margin.
SLACK_ROUNDING = 1e-6
# Most seconds of a fit.  Whoever drags a point would rather have an answer with its gap.
MAX_FIT_SECONDS = 2.0
# A hard margin that hardly exists takes a third of a second: while the point moves it is not
# waited for.  Other fits end in time, and are the same while the point moves and after.
MAX_HURRIED_SECONDS = 0.05
# Closed forms have no tolerance of their own; theirs is that of the iterative solvers.
CLOSED_FORM_TOL = 1e-6


def findings(model: Any, task: StudioTask) -> dict:
    """Numbers and certificate of a fitted model."""
    last = model[-1] if hasattr(model, "steps") else model
    said = model.predict(task.X)
    undecided = int((said == UNKNOWN_LABEL).sum())
    return {
        "points": len(task.X),
        "errors": int((said != task.codes).sum()) - undecided,
        "undecided": undecided if hasattr(last, "unknown") else None,
        "margin": _margin(last),
        "violations": _violations(last),
        "support": _support(last),
        "kinds": _kinds(last, len(task.X)),
        "updates": _plain(getattr(last, "updates_", None)),
        "bound": _bound(last),
        "equation": _equation(model, task),
        "weights": _weights(model),
        "measures": measures(model, task),
        "each": each_point(model, task),
        "certificate": _certificate(last, task.hurry),
    }


def inseparable(proof: Separation, task: StudioTask) -> dict:
    """The answer of a hard margin that does not exist: the proof, in words."""
    used = 0 if proof.weights is None else int(np.count_nonzero(proof.weights))
    if proof.classes == 2:
        words = (
            f"{used} ringed points, weighted by the size of their rings, have the same mean in "
            "both classes, and no line has it on both sides. Allow slack, or choose other "
            "features or a kernel."
        )
    else:
        words = (
            f"Weights of {used} pairs of a ringed point and a wrong class cancel in all "
            f"{proof.classes} classes: no scores have every point right by a margin. Allow slack, "
            "or choose other features or a kernel."
        )
    verdict = f"Proved: no separator · residual {_exponent(proof.residual)}"
    nothing = dict.fromkeys(
        ("errors", "undecided", "margin", "violations", "support", "kinds", "updates", "bound",
         "equation", "weights", "measures", "each")
    )  # fmt: skip
    certificate = {"verdict": verdict, "words": words, "proved": True, "gap": None}
    return nothing | {"points": len(task.X), "certificate": certificate}


def _exponent(value: float | None) -> str:
    """A gap as it is read: 0, or two digits and a power of ten; ∞ where nothing is proved."""
    if value is None or not np.isfinite(value):
        return "∞"
    return f"{value:.1e}".replace("e-0", "e−").replace("e-", "e−") if value else "0"


def _plain(value: Any) -> Any:
    """A number that JSON has, or None."""
    if value is None or not np.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value


def _margin(last: Any) -> float | None:
    return _plain(getattr(last, "margin_", None))


def _violations(last: Any) -> int | None:
    """Points with slack: inside the margin or on the wrong side."""
    machines = getattr(last, "estimators_", [last])
    if not all(hasattr(machine, "slack_") for machine in machines):
        return None
    return int(sum((machine.slack_ > SLACK_ROUNDING).sum() for machine in machines))


def _support(last: Any) -> dict[str, int] | None:
    """How many support vectors of each kind; of several machines, those of all together."""
    machines = getattr(last, "estimators_", [last])
    if not all(hasattr(machine, "support_kind_") for machine in machines):
        return None
    kinds = np.concatenate([machine.support_kind_ for machine in machines])
    return {kind: int((kinds == kind).sum()) for kind in ("margin", "inside", "misclassified")}


def _kinds(last: Any, n: int) -> list[str] | None:
    """What each point is to the model, for those who hear the picture instead of seeing it."""
    if not hasattr(last, "support_kind_"):
        return None
    kinds = [""] * n
    for point, kind in zip(last.support_.tolist(), last.support_kind_.tolist(), strict=True):
        kinds[point] = kind
    return kinds


def _bound(last: Any) -> float | None:
    found = getattr(last, "mistake_bound_", None)
    return None if found is None or last.margin != 0 else _plain(found.bound)


def _equation(model: Any, task: StudioTask) -> dict | None:
    """w and b of a line, to the last bit."""
    if hasattr(model, "steps") or not hasattr(model, "coef_") or len(task.present) != 2:
        return None
    return {"w": np.ravel(model.coef_).tolist(), "b": float(np.ravel(model.intercept_)[0])}


def _weights(model: Any) -> dict | None:
    """W and b of a model that is linear in the points themselves, for the page to write down."""
    if hasattr(model, "steps") or not hasattr(model, "coef_"):
        return None
    return {"W": np.atleast_2d(model.coef_).tolist(), "b": np.ravel(model.intercept_).tolist()}


def _certificate(last: Any, hurry: bool) -> dict:
    """What is proved: a verdict in a few words, the certificate's own, and the gap."""
    if hasattr(last, "certificates_"):
        return _of_many(last.certificates_, last.estimator.tol, hurry)
    proof = last.certificate_
    if hasattr(proof, "separates"):
        return _of_run(proof)
    proved = proof.holds(getattr(last, "tol", CLOSED_FORM_TOL))
    return {
        "verdict": f"{_verdict(proved, hurry)} · relative gap {_exponent(proof.relative_gap)}",
        "words": f"{proof}", "proved": proved, "gap": _plain(proof.relative_gap),
    }  # fmt: skip


def _verdict(proved: bool, hurry: bool) -> str:
    if proved:
        return "Proved"
    return "Not proved" + (" yet" if hurry else f" in the {MAX_FIT_SECONDS:g} s a fit may take")


def _of_many(proofs: list, tol: float, hurry: bool) -> dict:
    """Of several machines the worst."""
    worst = max(proofs, key=lambda proof: proof.relative_gap)
    proved, gap = worst.holds(tol), _exponent(worst.relative_gap)
    return {
        "verdict": f"{_verdict(proved, hurry)} · worst relative gap {gap}",
        "words": f"{len(proofs)} machines, each with its own proof; the least sure: {worst}",
        "proved": proved, "gap": _plain(worst.relative_gap),
    }  # fmt: skip


def _of_run(proof: Any) -> dict:
    """A perceptron has no optimum to be near: either nothing is wrong, or one knows why not."""
    many = "point is" if proof.wrong == 1 else "points are"
    verdict = "All points are right" if proof.separates else f"{proof.wrong} {many} still wrong"
    return {"verdict": verdict, "words": f"{proof}", "proved": proof.separates, "gap": None}
