"""The exponential method of multipliers for hinge losses on torch rows.

    min over W, b    ½‖W‖² + C Σ ω_i ℓ(Wᵀx̃_i + b, y_i)

Every stage keeps the multipliers near those of the last, q, by their relative entropy:

    min over W, b    ½‖W‖² + C Σ ω_i max over p of  p·(s_i + Δ_i) − s_iy − μ Σ_c p_c log(p_c / q_ic)

so that p_c ∝ q_c exp((s_c + Δ_c)/μ), with Δ_c one for the wrong classes.  But q came about in the
same way: log q is linear in x, and nothing is kept by row.  With U = Σ W/μ and M = Σ 1/μ of all
stages before, and V = U + W/μ, a stage is a softmax problem of z = Vᵀx̃ + v:

    min over V, v    ½‖V − U‖² + (C/μ) Σ ω_i ( log Σ_c exp z_c − z_y ),     z_y lessened by M + 1/μ

and Newton's method is that of ``torch_newton.py``.  Its p are multipliers of the hinge: the gap is
known at every step.  Boxes instead of a simplex ("sum", two classes) are treated alike, by the
entropy of p and 1 − p.  [Tseng and Bertsekas 1993]
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from ...certify.torch_hinge import Tilt, blame, hinge_losses, prove_hinges
from ...certify.torch_smooth import uncertain_rows
from ...problem.torch_problem import TorchProblem
from ...rows.torch_rows import Precision
from ..contract import Ending, Monitor, OutOfBudget, Proved
from .torch_newton import ENOUGH_SHARE, Place, Stalled, TorchNewton, TorchPath

# μ of the first stage, in units of the margin, and of each in units of the last: as in the search
# for C, half is quicker than a third, which asks for fewer stages of more and longer steps.
FIRST_TEMPERATURE, COOLING = 1.0, 0.5
# A stage ends once its own gap is this share of what is left to be gained by others.
STAGE_SHARE = 0.3
# … or after so many steps.
MAX_STAGE_STEPS = 12
# Stages after which there is nothing left in float64 to be gained.
MAX_STAGES = 40


class TorchPoint(NamedTuple):
    """Weights (k, d) and biases; and V, v, the margin and the tilt that multipliers follow from."""

    W: torch.Tensor
    b: torch.Tensor
    V: torch.Tensor
    v: torch.Tensor
    margin: float
    tilt: Tilt | None


class Standing(NamedTuple):
    """What is known at a step, by problem and in units of the hinge's objective."""

    primal: torch.Tensor
    dual: torch.Tensor
    own: torch.Tensor  # the gap of the stage

    @property
    def gap(self) -> torch.Tensor:
        """At least the stage's own, which knows what the biases lack of being stationary."""
        return torch.maximum(self.primal - self.dual, self.own)


class TorchMultipliers(TorchNewton):
    """One search; ``run`` ends it with a proof, or with why there is none."""

    def __init__(self, problem: TorchProblem, monitor: Monitor, path: TorchPath):
        super().__init__(problem, monitor, path)
        rows, k = self.design.rows, self.outputs.k
        self.U, self.u = self.design.zeros(rows.d, k), self.design.zeros(k)
        self.margin, self.mu = 0.0, FIRST_TEMPERATURE

    # --- a stage as a softmax problem -------------------------------------------------------

    def primal(self, at: Place) -> torch.Tensor:
        return 0.5 * self.outputs.gather((at.W - self.U).square().sum(0)) + self.C * at.sums.loss

    def gradient(self, at: Place) -> torch.Tensor:
        g = super().gradient(at)
        g[:-1] -= self.U
        return g

    def weights(self, at: Place) -> tuple[torch.Tensor, torch.Tensor]:
        """(W, b) of a place (V, v)."""
        return self.mu * (at.W - self.U), self.mu * (at.b - self.u)

    def _open(self, W, b, mu: float) -> Place:
        """The first place of a stage, at the weights given."""
        self.mu, self.C, self.model = mu, self.problem.price / mu, None
        self.outputs.margin = self.margin + 1.0 / mu
        return self.look(self.U + W / mu, self.u + b / mu, self.precision)

    def _close(self, at: Place) -> tuple[torch.Tensor, torch.Tensor]:
        """What is found becomes what the next stage keeps to."""
        W, b = self.weights(at)
        self.U, self.u, self.margin = at.W, at.b, self.margin + 1.0 / self.mu
        return W, b

    def _standing(self, at: Place) -> Standing:
        C, gather = self.problem.price, self.outputs.gather
        W, b = self.weights(at)
        loss = hinge_losses(self.problem, W, b, at.precision)
        primal = 0.5 * gather(W.square().sum(0)) + C * loss
        dual = C * blame(self.problem, at.sums) - 0.5 * C**2 * gather(at.sums.G.square().sum(0))
        dual += C * gather(at.sums.r * b)  # what Σ R = 0 will cost, but for second order
        return Standing(primal, dual, self.mu**2 * self.gap(self.gradient(at)))

    # --- the search -----------------------------------------------------------------------

    def run(self, start) -> tuple[Proved, Ending]:
        self.best: Proved | None = None
        self.at = self._begin(start)
        try:
            if start is None:
                self.at = self._approach(self.at)
            for stage in range(MAX_STAGES):
                if self._stage():
                    assert self.best is not None
                    return self.best, Ending.REACHED
                if stage + 1 < MAX_STAGES:
                    self.at = self._open(*self._close(self.at), COOLING * self.mu)
        except OutOfBudget as stop:
            return self._last(), stop.ending
        except KeyboardInterrupt:
            return self._last(), Ending.INTERRUPTED
        except Stalled:
            pass
        return self._last(), Ending.STALLED

    def _begin(self, start) -> Place:
        if start is None:
            return self._open(torch.zeros_like(self.U), torch.zeros_like(self.u), self.mu)
        W, b = self.outputs.level(start[0]), self.outputs.level(start[1])
        return self._open(W, b + self.design.mu @ W, self.mu)

    def _stage(self) -> bool:
        """Newton steps until others can gain more; whether the gap asked for was proved."""
        for age in range(MAX_STAGE_STEPS):
            found = self._standing(self.at)
            tol = self.monitor.tol * found.primal
            self.monitor.record(float(found.primal.sum()), float(found.dual.sum()))
            if bool((found.gap <= ENOUGH_SHARE * tol).all()):
                return self._proved(tol)
            left = (found.gap - found.own).clamp_min(tol)
            if age > 0 and bool((found.own <= STAGE_SHARE * left).all()):
                return False
            self.monitor.step()
            goal = STAGE_SHARE * left / self.mu**2
            g = self.gradient(self.at)
            self.at = self._step(self.at, g, self.gap(g), goal, age)
        return False

    def _proved(self, tol: torch.Tensor) -> bool:
        """Evaluate exactly, and prove; whether that is as good as asked for."""
        self.at, _ = self._exactly(self._levelled(self.at), tol / self.mu**2)
        found = self.prove(self.at)[0]
        if self.best is None or found.gap < self.best.gap:
            self.best = found
        proof = found.certificate
        self.monitor.record(proof.primal, proof.dual)
        return bool((found.slacks <= self.monitor.tol).all()) and proof.holds(self.monitor.tol)

    def prove(self, at: Place) -> tuple[Proved, torch.Tensor]:
        """The proof at a place that was evaluated exactly, and every problem's relative gap."""
        W, b = self.weights(at)
        uncertain = uncertain_rows(self.problem, self.Q)
        whole, proofs, tilt = prove_hinges(self.problem, (W, b), (at.W, at.b), at.sums, uncertain)
        gaps = torch.tensor([proof.relative_gap for proof in proofs], device=W.device)
        bias = b - self.design.mu @ W  # of rows as they are, not centred
        point = TorchPoint(W.T, bias, at.W, at.b, self.outputs.margin, tilt)
        return Proved(point, whole, slacks=gaps), gaps

    def _last(self) -> Proved:
        """The better of the last place and the last proof."""
        if self.at.precision is not Precision.EXACT:
            self.at = self.look(self.at.W, self.at.b, Precision.EXACT)
        last = self.prove(self.at)[0]
        return last if self.best is None or last.gap < self.best.gap else self.best
