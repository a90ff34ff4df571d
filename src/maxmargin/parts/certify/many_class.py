"""The certificate of a fit of k classes over parts: feasible multipliers, good biases, and sums.

As for two classes nothing is taken from a solver, and multipliers never leave their part.  What
their repair needs to know of them are sums as large as k × k: the flow between classes and the
room there is to move it (``core/certify/circulation.py``).
"""

from __future__ import annotations

import numpy as np

from ...core.certify.certificate import Certificate
from ...core.certify.circulation import (
    MAX_REPAIR_MOVES,
    RESIDUAL_ROUNDING,
    balancing_factors,
    flow_between,
    into_domain,
    move,
    potential,
    rescale,
    room_to_move,
)
from ...core.certify.conclude import (
    SHARPEST,
    as_sharp_as_needed,
    conclude,
    first_that_proves,
    norms_of,
)
from ...core.certify.multiclass import class_tally, residual
from ...core.problem.class_losses import hinge_rates
from ...core.problem.multiclass import MulticlassProblem, summary
from ...core.rows.class_products import score_chunks
from ...core.solve.many_class.class_shift import answers, newton_step
from ..parts import Parts
from ..solve.many_class.ascent import add_losses
from ..solve.many_class.tasks import ClassSpec, ClassState, points_of
from ..solve.tasks import ask, ask_total
from .two_class import method_of

# Newton's steps for the biases, and the shares of each at which the primal is looked at.
MAX_BIAS_STEPS = 6
BIAS_STEP_LENGTHS = np.array([1.0, 0.5, 0.25, 0.1, 0.03, 0.01])
# Steps that lower the losses by less than this share of them are the last.
MIN_LOSS_DECREASE = 1e-10


def certify_class_parts(
    parts: Parts,
    spec: ClassSpec,
    W: np.ndarray,
    b: np.ndarray,
    mean: np.ndarray,
    tol: float = SHARPEST,
) -> Certificate:
    """The proof for (W, b) and the parts' multipliers.

    ``mean`` is a place among the rows, ``tol`` the gap to be proved: see ``core.certify``.
    """

    def prove(sharp: bool) -> Certificate:
        found = ask_total(parts, _tally, spec, W, b, mean, sharp)
        about = summary(spec.loss, spec.k, spec.bias, found.rows, W.shape[1])
        norms = norms_of(W, found.w, found.rounding.w)
        return conclude(found, norms, b, spec.bias, about, method=method_of(parts, sharp))

    return as_sharp_as_needed(prove, tol)


def _tally(problem: MulticlassProblem, state: ClassState, W, b, mean, sharp: bool):
    return state, class_tally(problem, W, b, state.beta, place=mean, sharp=sharp)


def prove_class_parts(
    parts: Parts,
    spec: ClassSpec,
    W: np.ndarray,
    b: np.ndarray,
    mean: np.ndarray,
    tol: float = SHARPEST,
) -> Certificate:
    """The proof of (W, b) with the parts' multipliers, or with none where these prove more."""

    def without() -> Certificate:
        ask_total(parts, set_none, spec)
        return certify_class_parts(parts, spec, W, b, mean, tol)

    return first_that_proves(lambda: certify_class_parts(parts, spec, W, b, mean, tol), without)


# --- feasible multipliers ---------------------------------------------------------------


def repair_class_parts(parts: Parts, spec: ClassSpec) -> None:
    """Multipliers in their domain with Σα = 0 over all parts, as ``repair_classes`` makes them."""
    r, laplacian, mass = ask_total(parts, _tidy, spec)
    if not spec.bias or mass == 0.0:
        return
    for _ in range(MAX_REPAIR_MOVES):
        if np.abs(r).max() <= RESIDUAL_ROUNDING * mass:
            return
        moved = ask_total(parts, _try, spec, potential(laplacian, r))
        if not np.abs(moved[0]).sum() < 0.5 * np.abs(r).sum():
            break
        ask_total(parts, _take, spec)
        r, laplacian, mass = moved
    factors = balancing_factors(ask_total(parts, _flow, spec))
    over = max(ask(parts, _scale, spec, factors))
    if over > 1.0:
        ask_total(parts, _shrink, spec, over)


def _free(problem: MulticlassProblem, beta: np.ndarray):
    return residual(problem, beta), room_to_move(problem, beta), float(beta.sum())


def _tidy(problem: MulticlassProblem, state: ClassState):
    beta = state.beta.copy()
    beta[np.arange(len(beta)), problem.y] = 0.0
    into_domain(problem, beta)
    return state._replace(beta=beta), _free(problem, beta)


def _try(problem: MulticlassProblem, state: ClassState, level):
    trial = state.beta.copy()
    move(problem, trial, level)
    return state._replace(trial=trial), _free(problem, trial)


def _take(problem: MulticlassProblem, state: ClassState):
    assert state.trial is not None
    return state._replace(beta=state.trial, trial=None), 0


def _flow(problem: MulticlassProblem, state: ClassState):
    return state._replace(trial=None), flow_between(problem, state.beta)


def _scale(problem: MulticlassProblem, state: ClassState, factors):
    beta = state.beta.copy()
    over = rescale(problem, beta, factors)
    return state._replace(beta=beta), over


def _shrink(problem: MulticlassProblem, state: ClassState, over: float):
    return state._replace(beta=state.beta / over), 0


def set_none(problem: MulticlassProblem, state: ClassState):
    """No multipliers at all: a dual of zero, where others prove less."""
    return state._replace(beta=np.zeros_like(state.beta)), 0


# --- biases -----------------------------------------------------------------------------


def better_biases(parts: Parts, spec: ClassSpec, W, b) -> np.ndarray:
    """Biases with smaller losses for weights W: Newton's steps in k unknowns, by sums."""
    losses = float(ask_total(parts, _keep_scores, spec, W, b)[0])
    for _ in range(MAX_BIAS_STEPS):
        slope, curvature = ask_total(parts, _newton_terms, spec, b)
        step = newton_step(slope, curvature)
        if not 0.5 * float(slope @ step) > MIN_LOSS_DECREASE * losses:
            break
        tried = b + BIAS_STEP_LENGTHS[:, None] * step
        found = ask_total(parts, _losses_at, spec, tried)
        best = int(found.argmin())
        if not found[best] < losses * (1.0 - MIN_LOSS_DECREASE):
            break
        b, losses = tried[best], float(found[best])
    ask_total(parts, _drop_scores, spec)
    return b - b.mean()


def _keep_scores(problem: MulticlassProblem, state: ClassState, W, b):
    f = np.empty((len(problem.y), problem.k))
    for part, some in score_chunks(problem.rows, W):
        f[part] = some
    state = state._replace(scores=f)
    return state, _losses_at(problem, state, b[None])[1]


def _newton_terms(problem: MulticlassProblem, state: ClassState, b):
    points = points_of(problem, state, 0.0)
    points["q"] = np.maximum(points["q"], np.finfo(float).tiny)
    rates = hinge_rates(problem.loss)
    return state, answers(rates, points, problem.k, state.beta, state.scores, b)


def _losses_at(problem: MulticlassProblem, state: ClassState, biases):
    out = np.zeros((1, len(biases)))
    rates = hinge_rates(problem.loss)
    f = state.scores
    add_losses(rates, problem.y, problem.c, f, f, np.ones((1, 2)), biases, out)
    return state, out[0]


def _drop_scores(problem: MulticlassProblem, state: ClassState):
    return state._replace(scores=None), 0
