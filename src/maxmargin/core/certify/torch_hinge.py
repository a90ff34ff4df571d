"""The certificate of hinge losses on torch rows.

    primal = ½‖W‖² + C Σ ω ℓ(Wᵀx̃ + b),     dual = C Σ ω Σβ − ½‖W_β‖²,     W_β = −C Σ x̃ Rᵀ

The multipliers are the probabilities of a smooth loss at scores of other weights, V and v: any are
as good as others, for whatever they are, they lie in their box.  As in ``torch_smooth.py`` those of
a few uncertain rows are tilted until Σ R = 0, and sums are in float64, of products in float64.  A
hinge is moved by no more than |δs_c| + |δs_y| ≤ √2 γ_d ‖x_i‖ ‖W‖.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from ..problem.torch_hinges import Hinges
from ..problem.torch_problem import TorchProblem
from ..rows.torch_rows import Precision
from .certificate import Certificate
from .torch_smooth import Balanced, Sums, certificates, joined

Weights = tuple[torch.Tensor, torch.Tensor]


class Tilt(NamedTuple):
    """Changes of the multipliers of some rows, by column of R, without their weights."""

    rows: torch.Tensor
    change: torch.Tensor


def hinge_losses(problem: TorchProblem, W, b, precision: Precision) -> torch.Tensor:
    """Σ ω ℓ by problem, in one pass."""
    design, outputs = problem.design, problem.outputs
    assert isinstance(outputs, Hinges)
    shift, operand = b - design.mu @ W, design.rows.operand(W, precision)
    total = design.zeros(outputs.problems)
    with design.rows.width(precision):
        for part, block in design.rows.chunks(outputs.k, precision):
            S = design.rows.scores(block, operand, outputs.k)
            S += shift.to(S.dtype)
            loss = outputs.slacks(S, part)
            share = design.share(part, loss.dtype)
            total += (loss if share is None else loss * share).sum(0, dtype=torch.float64)
    return total


def blame(problem: TorchProblem, sums: Sums) -> torch.Tensor:
    """Σ ω Σβ by problem: of a joint problem ‖R‖₁ counts it twice, for y and for the others."""
    return 0.5 * sums.mass if problem.outputs.joint else sums.mass


def prove_hinges(
    problem: TorchProblem, weights: Weights, place: Weights, sums: Sums, uncertain: torch.Tensor
) -> tuple[Certificate, list[Certificate], Tilt | None]:
    """The certificate of weights with the multipliers of a place, of which ``sums`` are exact;
    those of every problem; and how the multipliers were tilted."""
    W, b = weights
    found, tilt = _balanced(problem, *place, sums, uncertain)
    weight = problem.design.weight
    lengths = problem.design.lengths
    moment = 2.0 * (lengths.sum() if weight is None else weight.double() @ lengths)
    loss = hinge_losses(problem, W, b, Precision.EXACT)
    told = sums._replace(loss=loss, conjugate=found.conjugate, moment=moment.expand_as(loss))
    proofs = certificates(problem, W, b, told, found)
    return joined(proofs, problem), proofs, tilt


def _balanced(problem: TorchProblem, V, v, sums: Sums, uncertain) -> tuple[Balanced, Tilt | None]:
    """Multipliers with Σ R = 0, by tilting the rows named; as they were where that fails."""
    design, outputs = problem.design, problem.outputs
    assert isinstance(outputs, Hinges)
    given = Balanced(-blame(problem, sums), sums.G, sums.r)
    if not problem.bias:
        return given, None
    X = design.rows.exact(uncertain) - design.mu
    P = outputs.probabilities(X @ V + v, uncertain)
    share = None if design.weight is None else design.weight[uncertain, None].double()
    D = outputs.tilted(P, share, sums.r, uncertain)
    if D is None:
        return given, None
    change = outputs.blame(P, uncertain) - outputs.blame(P + D, uncertain)
    wide = D if share is None else D * share
    change = change if share is None else change * share
    found = Balanced(given.conjugate + change.sum(0), sums.G + X.T @ wide, sums.r + wide.sum(0))
    return found, Tilt(uncertain, D)


class RowFacts(NamedTuple):
    """Of every row, over all its problems: slacks, added and worst, and multipliers by unit of
    cost, added and least."""

    slack: torch.Tensor
    worst: torch.Tensor
    beta: torch.Tensor
    least: torch.Tensor


def row_facts(problem: TorchProblem, weights: Weights, place: Weights, tilt: Tilt | None):
    """What there is to be told of rows, in one exact pass."""
    design, outputs = problem.design, problem.outputs
    assert isinstance(outputs, Hinges)
    both = [
        (b - design.mu @ W, design.rows.operand(W, Precision.EXACT)) for W, b in (weights, place)
    ]
    facts = RowFacts(*design.zeros(4, design.rows.n))
    for part, block in design.rows.chunks(outputs.k, Precision.EXACT):
        S, Z = (design.rows.scores(block, V, outputs.k) + shift for shift, V in both)
        slack, beta = outputs.slacks(S, part), outputs.blame(outputs.probabilities(Z, part), part)
        told = slack.sum(1), slack.amax(1), beta.sum(1), beta.amin(1)
        for whole, some in zip(facts, told, strict=True):
            whole[part] = some
    if tilt is not None and outputs.problems == 1:
        Z = (design.rows.exact(tilt.rows) - design.mu) @ place[0] + place[1]
        beta = outputs.blame(outputs.probabilities(Z, tilt.rows) + tilt.change, tilt.rows)[:, 0]
        facts.beta[tilt.rows] = facts.least[tilt.rows] = beta
    return facts
