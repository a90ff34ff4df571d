"""Sums over torch rows, and the certificate of smooth losses made of them.

    primal = ½‖W‖² + C Σ ω ℓ,    dual = −½‖W_p‖² − C Σ ω f*(p),    W_p = −C Σ x̃ Rᵀ,   R = ω (p − t)

p are the model's own probabilities.  A free bias asks for Σ R = 0, which they obey but nearly; so
the probabilities of a few uncertain rows are tilted, p + (∇²f) δ, until they do: to first order
that costs nothing, whatever it costs is counted, and no row leaves its box.

Sums are in float64, of products in float64; what rounding can have done to them is bounded by

    |δ s_i| ≤ γ_d ‖x_i‖ ‖W‖,     ‖δ W_p‖ ≤ C γ_chunk Σ ‖x_i‖ ‖R_i‖,     γ_m = m u / (1 − m u)

in any order of summation (``rounding.py``); δs moves a loss and a conjugate by ‖R_i‖₁ |δs| at most,
to first order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch

from ..problem.torch_problem import TorchProblem
from ..rows.torch_design import TorchDesign
from ..rows.torch_rows import EXACT_CHUNK_VALUES, Precision, product
from .certificate import Certificate
from .conclude import Norms, Tally, conclude, sum_of
from .rounding import UNIT, Rounding, gamma, squared_length_error

# Rows whose probabilities are tilted: so many in all, or so many per class.
MIN_TILTED_ROWS, TILTED_ROWS_PER_CLASS = 4096, 8
# Errors of exp, log and the sums of a row, in units of float64's roundoff.
FUNCTION_ERRORS = 32.0


class Sums(NamedTuple):
    """What a pass over all rows adds up, by problem; G = Σ x̃ Rᵀ and r = Σ R by column.

    ``mass`` is Σ ‖R‖₁ and ``moment`` Σ ‖x‖ ‖R‖₁, by which rounding counts.
    """

    loss: torch.Tensor
    conjugate: torch.Tensor
    mass: torch.Tensor
    moment: torch.Tensor
    G: torch.Tensor
    r: torch.Tensor


class Evaluation(NamedTuple):
    """One look at all rows: of which problem, with which weights and biases, and how exactly."""

    problem: TorchProblem
    operand: tuple[torch.Tensor, float]
    shift: torch.Tensor
    precision: Precision


def add_up(problem: TorchProblem, W, b, precision: Precision, Q: torch.Tensor) -> Sums:
    """One pass at (W, b); Q (n, k) is filled with what curvature needs of every row."""
    design, outputs = problem.design, problem.outputs
    rows, k = design.rows, outputs.k
    asked = Evaluation(problem, rows.operand(W, precision), b - design.mu @ W, precision)
    G, r = design.zeros(rows.d, k), design.zeros(k)
    told = design.zeros(4, outputs.problems)
    fused = outputs.kernels(rows.device) if asked.operand[1] == 1.0 else None
    look = _look if fused is None else _fused_look
    with rows.width(precision):
        for part, block in rows.chunks(k, precision):
            R, some, sums = look(asked, part, block, Q[part])
            told += some
            r += sums
            G += design.combine(block, R, precision)
    loss, conjugate, mass, moment = told
    return Sums(loss, conjugate, mass, moment, G - torch.outer(design.mu, r), r)


def _look(asked: Evaluation, part: slice, block, Q):
    """Residuals of a chunk and what is told of its rows, by problem; its Σ R."""
    design, outputs = asked.problem.design, asked.problem.outputs
    S = design.rows.scores(block, asked.operand, outputs.k)
    S += asked.shift.to(S.dtype)
    look = outputs.look(S, part, design.share(part, S.dtype))
    Q.copy_(look.Q)
    mass = outputs.gather(look.R.abs().sum(0, dtype=torch.float64))
    moment = outputs.gather((design.lengths[part].to(S.dtype) @ look.R.abs()).double())
    told = torch.stack([look.loss, look.conjugate, mass, moment])
    return look.R, told, look.R.sum(0, dtype=torch.float64)


def _fused_look(asked: Evaluation, part: slice, block, Q):
    """The same in one pass over the scores."""
    design, outputs = asked.problem.design, asked.problem.outputs
    S = product(block, asked.operand[0])
    share = design.share(part, S.dtype)
    width = torch.float64 if S.dtype is torch.float64 else design.rows.dtype
    y, shift = outputs.y[part], asked.shift.to(S.dtype)
    kernels = outputs.kernels(design.rows.device)
    parts = asked.precision.residual_parts if design.rows.narrow else 1
    R, rows = kernels.fused_look(S, shift, y, share, Q, width, parts, outputs.margin)
    loss, conjugate, wrong = rows.double()
    moment = 2.0 * (wrong @ design.lengths[part])
    told = torch.stack([loss.sum(), conjugate.sum(), 2.0 * wrong.sum(), moment])[:, None]
    sums = R.sum(0, dtype=S.dtype).double()
    return R, told, sums.view(-1, outputs.k).sum(0)


class Balanced(NamedTuple):
    """Sums of feasible multipliers; r is what rounding left."""

    conjugate: torch.Tensor
    G: torch.Tensor
    r: torch.Tensor


def balance(problem: TorchProblem, W, b, sums: Sums, uncertain: torch.Tensor) -> Balanced:
    """Multipliers with Σ R = 0, by tilting the rows named; as they were where that fails."""
    design, outputs = problem.design, problem.outputs
    given = Balanced(sums.conjugate, sums.G, sums.r)
    if not problem.bias:
        return given
    X = design.rows.exact(uncertain) - design.mu
    P = outputs.probabilities(X @ W + b, uncertain)
    share = None if design.weight is None else design.weight[uncertain, None].double()
    D = outputs.tilted(P, share, sums.r, uncertain)
    if D is None:
        return given
    change = outputs.conjugate(P + D) - outputs.conjugate(P)
    if share is not None:
        D, change = D * share, change * share
    return Balanced(sums.conjugate + change.sum(0), sums.G + X.T @ D, sums.r + D.sum(0))


def uncertain_rows(problem: TorchProblem, Q: torch.Tensor) -> torch.Tensor:
    """The rows that can be tilted most, some of every class or column."""
    design, outputs = problem.design, problem.outputs
    n, k = Q.shape
    if n <= max(MIN_TILTED_ROWS, TILTED_ROWS_PER_CLASS * k):
        return torch.arange(n, device=Q.device)
    each = max(TILTED_ROWS_PER_CLASS, MIN_TILTED_ROWS // k)
    if not outputs.joint:
        return _top_of_columns(design, Q, each)
    uncertainty = torch.cat([outputs.uncertainty(some) for some in Q.split(design.rows.chunk)])
    if design.weight is not None:
        uncertainty = uncertainty * design.weight
    y = outputs.y
    by_class = torch.argsort(y.double() - uncertainty.double().clamp(0.0, 0.999))
    first = torch.searchsorted(y[by_class], torch.arange(k, device=y.device))
    place = torch.arange(n, device=y.device) - first[y[by_class]]
    return by_class[place < each]


def _top_of_columns(design: TorchDesign, Q: torch.Tensor, each: int) -> torch.Tensor:
    """The rows of the largest entries of every column, a chunk at a time."""
    found: torch.Tensor | None = None
    for start in range(0, len(Q), design.rows.chunk):
        part = slice(start, start + design.rows.chunk)
        index = _top(design, Q, torch.arange(start, min(len(Q), part.stop), device=Q.device), each)
        found = index if found is None else _top(design, Q, torch.cat([found, index]), each)
    assert found is not None
    return found


def _top(design: TorchDesign, Q: torch.Tensor, index: torch.Tensor, each: int) -> torch.Tensor:
    """Of the rows named those of the largest entries of every column, each once."""
    some = Q[index]
    if design.weight is not None:
        some = some * design.weight[index, None].to(some.dtype)
    return index[some.topk(min(each, len(index)), dim=0).indices.flatten().unique()].unique()


def certificates(problem: TorchProblem, W, b, sums: Sums, found: Balanced) -> list[Certificate]:
    """The certificate of every problem."""
    gather, C = problem.outputs.gather, problem.price
    lengths, dual_lengths = W.square().sum(0), C**2 * found.G.square().sum(0)
    apart = (W + C * found.G).square().sum(0)
    columns = [gather(each).tolist() for each in (lengths, dual_lengths, apart)]
    numbers = [(C * each).tolist() for each in (sums.loss, found.conjugate, sums.mass)]
    joint = problem.outputs.joint
    r = [(C * found.r).cpu().numpy()] if joint else (C * found.r).tolist()
    bounds, price = _rounding(problem, W, sums), _price(problem)
    largest = float(b.abs().max()) if b.numel() else 0.0
    told = problem.summary(), _method(problem)
    proofs = []
    for j in range(problem.outputs.problems):
        length, dual_length, distance = (column[j] for column in columns)
        loss, conjugate, mass = (column[j] for column in numbers)
        tally = Tally(
            problem.shape[0], loss, conjugate, mass, r[j], None, (0.0, 0.0, 0.0), 0.0,
            price=(price[j],), rounding=bounds[j],
        )  # fmt: skip
        norms = Norms(
            length, dual_length, distance**0.5, gamma(W.numel()) * length,
            gamma(W.numel()) * dual_length + squared_length_error(dual_length**0.5, bounds[j].w),
        )  # fmt: skip
        proofs.append(conclude(tally, norms, largest, problem.bias, told[0], method=told[1]))
    return proofs


def joined(proofs: list[Certificate], problem: TorchProblem) -> Certificate:
    """One certificate of all of them."""
    if len(proofs) == 1:
        return proofs[0]
    return replace(sum_of(proofs, problem.summary()), method=proofs[0].method)


def _price(problem: TorchProblem) -> list:
    """Σ c of the smallest class of every problem."""
    masses = problem.outputs.masses(problem.design.weight)
    return (problem.price * masses).tolist()


def _rounding(problem: TorchProblem, W, sums: Sums) -> list[Rounding]:
    """What rounding can have done to the sums of every problem."""
    design, C = problem.design, problem.price
    n, d = design.shape
    chunk = min(design.rows.chunk, EXACT_CHUNK_VALUES // max(d, problem.outputs.k))
    longest = problem.outputs.gather(W.square().sum(0)).sqrt()
    count = n // max(1, chunk) + 64  # additions of a pairwise sum, and of the chunks' sums
    scores = gamma(d + 3) * longest * sums.moment
    functions = FUNCTION_ERRORS * UNIT * (sums.mass + sums.loss + sums.conjugate.abs())
    additions = gamma(count) * (sums.loss + sums.conjugate.abs())
    value = C * (scores + functions + additions)
    weights = C * gamma(chunk + count) * sums.moment
    reach = float((design.lengths.max() + design.mu.norm()) * (1.0 + 1e-9))
    return [
        Rounding(value, value, off, C * gamma(chunk + count) * mass, reach, 2.0**0.5 * reach * long)
        for value, off, mass, long in zip(
            value.tolist(), weights.tolist(), sums.mass.tolist(), longest.tolist(), strict=True
        )
    ]


def _method(problem: TorchProblem) -> str:
    device = problem.design.rows.device.type
    return f"recomputed from the data on {device}, products and sums in float64"
