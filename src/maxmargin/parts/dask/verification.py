"""Recompute a certificate where the data are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.problem.losses import LOSSES
from ...core.problem.problem import Bias
from ...models.bias_column import prove_joined
from ...models.svm.reduced import together
from ...models.validation import positive
from ..certify import many_class as class_proof
from ..certify.smooth import certify_smooth
from ..certify.two_class import from_margins, prove_parts, repair_parts
from ..ones import OnesParts
from ..solve import class_tasks
from ..solve.hard_margin import verify_hard
from ..solve.hinge_tasks import BinarySpec, begin
from ..solve.smooth import Asked
from ..solve.tasks import ask_total
from .inputs import DaskData, spread_out
from .linear_svm import JOINT, class_machine
from .optional_dask import some_client


def verify(model: Any, X, y, sample_weight=None) -> Certificate:
    """The certificate of a fitted LinearSVM or LogisticRegression on a Dask collection.

    Multipliers are rebuilt from the margins, so that nothing is taken from the fit but the
    weights: for the hinge this proves less than ``certificate_`` does.  At C = ∞ the rows nearest
    to their margin are solved again, which proves as much.
    """
    with some_client() as (client, _):
        data = spread_out(model, client, X, y, sample_weight)
        if hasattr(model, "multiclass"):
            return _svm(model, data)
        if not hasattr(model, "C"):
            raise TypeError(
                "spread.verify recomputes the gap of a LinearSVM or a LogisticRegression, got "
                f"{type(model).__name__}. Closed forms carry their proof in certificate_."
            )
        bias = Bias.FREE if model.fit_intercept else Bias.NONE
        asked = Asked(len(data.classes), positive("C", model.C), bias)
        mean = ask_total(data.parts, begin, BinarySpec(1.0, LOSSES["hinge"])).sum_x / data.n
        return certify_smooth(data.parts, asked, model.coef_, model.intercept_, 1e-9, mean)[1]


def _svm(model, data: DaskData) -> Certificate:
    if model._bias_column:
        parts: Any = OnesParts(data.parts)
        return prove_joined(model, lambda inner: _svm(inner, data._replace(parts=parts)))
    if len(data.classes) > 2 and model.multiclass in JOINT:
        return _classes(model, data)
    proofs = []
    for q, (first, second) in enumerate(model._machines(len(data.classes))):
        machine = BinarySpec(float(model.C), LOSSES[model.loss], model._bias(), first, second)
        parts, w, b = data.parts.fork(), model.coef_[q], float(model.intercept_[q])
        if np.isinf(machine.C):
            proofs.append(verify_hard(parts, machine, w, b, model.tol))
            continue
        census = ask_total(parts, begin, machine)
        mean = census.sum_x / max(1, census.alive)
        ask_total(parts, from_margins, machine, w, b)
        repair_parts(parts, machine)
        proofs.append(prove_parts(parts, machine, w, b, mean))
    return proofs[0] if len(proofs) == 1 else together(model, proofs)


def _classes(model, data: DaskData) -> Certificate:
    parts, machine = data.parts.fork(), class_machine(model, len(data.classes))
    W, b = model.coef_, model.intercept_
    if np.isinf(machine.C):
        return verify_hard(parts, machine, W, b, model.tol)
    census = ask_total(parts, class_tasks.count, machine)
    mean = census.sum_x / max(1, census.alive)
    ask_total(parts, class_tasks.begin, machine, mean)
    ask_total(parts, class_proof.from_margins, machine, W, b)
    class_proof.repair_class_parts(parts, machine)
    return class_proof.prove_class_parts(parts, machine, W, b, mean)
