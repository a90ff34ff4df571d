"""Newton's method with conjugate gradients on torch rows, for smooth losses of many columns.

    min over W, b    ½‖W‖² + C Σ ω_i ℓ(Wᵀx̃_i + b, t_i)

    gradient    W + C Σ x̃ Rᵀ,   C Σ R                      R = ω (p − t)
    Hessian     V ↦ V + C Σ x̃ (∇²f_i Vᵀx̃_i)ᵀ ω_i           (biases likewise, without V)
    model       I + C/Σω · G ⊗ A,   G = Σ ω x̃ x̃ᵀ,   A = Σ ω ∇²f_i       [Kronecker]

Hessian products are quick ones; objective and gradient are finer, and a step is taken only if it
lowers the objective as those evaluate it.  Where their noise, which grows with C, hides the way to
the gap asked for, they become exact.  The last evaluation is always the exact one, and is the
proof.  Columns that are problems of their own have steps of their own in the same products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ...certify.torch_smooth import (
    Sums,
    add_up,
    balance,
    certificates,
    joined,
    uncertain_rows,
)
from ...problem.torch_problem import TorchProblem
from ...rows.torch_rows import Precision, added, product, split
from ..contract import ClassWeights, Ending, Monitor, OutOfBudget, Proved
from .torch_kronecker import TorchKronecker

# Conjugate gradients end at a share of the gradient: so much of that which the gap asks for, but
# between two bounds, for a better direction does not help a step that is too long for its model.
FORCING_SHARE, LOOSEST_FORCING, STRICTEST_FORCING = 0.7, 0.3, 0.03
# Directions better than this need Hessian products of the second kind at least.
SHARP_FORCING = 0.06
# Hessian products: how many parts V and the result of ∇²f have; None for both in float64.
HESSIAN_PARTS = ((1, 1), (2, 1), (3, 2), None)
# They also end where rounding does not let them come nearer: at a residual so many times the least.
MAX_CG_STEPS, MAX_RESIDUAL_GROWTH = 250, 30.0
# … or that has not become less for so many steps (it may grow at first).
MAX_IDLE_CG_STEPS = 80
# A search whose gap has not become less by a tenth for so many steps needs better products.
MAX_IDLE_STEPS = 4
# A step must bring this share of the decrease its slope promises; else it is shortened so much.
ARMIJO_SHARE, STEP_SHRINKAGE = 1e-4, 0.4
MAX_SHORTENINGS = 8
# The evaluation's own gap at which the exact one is asked, as a share of the gap asked for.
ENOUGH_SHARE = 0.8
# A problem whose gradient leaves no more than this share of it stays put.
SOLVED_SHARE = 0.05
# Noise of the gradient beyond this share of what the gap allows asks for exact evaluations.
MAX_NOISE_SHARE = 0.5
# Relative noise of the objective: of fine evaluations until an exact one tells, and of exact ones.
ASSUMED_NOISE, EXACT_NOISE = 1e-5, 1e-13
# A slope must exceed the noise so many times for a line search to see it.
VISIBLE_SLOPE = 10.0
# Σ R is levelled by steps of the biases until it is this share of their curvature, or so often.
LEVEL_SHARE, MAX_LEVELLINGS, LEVEL_GROWTH = 5e-4, 12, 2.0
# A gap that a step leaves above this share of what it was, near the end, is noise.
NOISY_SHARE, NEAR_END = 0.5, 30.0
# From nothing: C so many times that at which some direction bends as much as the ridge, then ever
# so many times more, each to this gap in at most so many steps.
FIRST_C, C_GROWTH, APPROACH_TOL, MAX_APPROACH_STEPS = 10.0, 4.0, 0.1, 2
# The curvature A of the model is taken afresh every so many steps.
CURVATURE_AGE = 3
# Numbers of curvature that are kept in the data's own width; more are kept in bfloat16.
MAX_WIDE_CURVATURE = 1 << 26
# Work of a Hessian product below which its steps are checked but now and then: waiting costs more.
CHEAP_PRODUCT, CHECK_EVERY = 2e11, 4


@dataclass
class TorchPath:
    """What fits along a path of C leave for one another: how noisy fine evaluations are.

    ``gradient``: by unit of C; ``objective``: relative.
    """

    gradient: float = 0.0
    objective: float | None = None
    hessian: int = 0  # which of ``HESSIAN_PARTS`` the products are


@dataclass
class Place:
    """(W, b) and what was evaluated there."""

    W: torch.Tensor
    b: torch.Tensor
    sums: Sums
    precision: Precision


class TorchNewton:
    """One search; ``run`` ends it with a proof, or with why there is none."""

    def __init__(self, problem: TorchProblem, monitor: Monitor, path: TorchPath):
        self.problem, self.monitor, self.path = problem, monitor, path
        self.design, self.outputs, self.C = problem.design, problem.outputs, problem.price
        rows, n = self.design.rows, self.design.rows.n
        # float16 has too few exponents for curvatures; quick products are content with bfloat16.
        self.quick = torch.bfloat16 if rows.narrow else rows.dtype
        self.work = torch.float64 if rows.dtype is torch.float64 else torch.float32
        small = n * self.outputs.k <= MAX_WIDE_CURVATURE
        self.Q = torch.empty(
            (n, self.outputs.k), dtype=self.quick if small else torch.bfloat16, device=rows.device
        )
        self.precision = Precision.FINE if rows.dtype is not torch.float64 else Precision.EXACT
        self.model: TorchKronecker | None = None
        self.kind = path.hessian
        double = rows.dtype is torch.float64
        self.kernels: Any = None if double else self.outputs.kernels(rows.device)
        self.check = 1 if n * rows.d * self.outputs.k * 4 > CHEAP_PRODUCT else CHECK_EVERY

    # --- one place ------------------------------------------------------------------------

    def look(self, W, b, precision: Precision) -> Place:
        return Place(W, b, add_up(self.problem, W, b, precision, self.Q), precision)

    def primal(self, at: Place) -> torch.Tensor:
        return 0.5 * self.outputs.gather(at.W.square().sum(0)) + self.C * at.sums.loss

    def gradient(self, at: Place) -> torch.Tensor:
        """(d + 1, k): of the weights and, below, of the biases."""
        bias = self.C * at.sums.r if self.problem.bias else torch.zeros_like(at.sums.r)
        return torch.cat([at.W + self.C * at.sums.G, bias[None]])

    def gap(self, g: torch.Tensor) -> torch.Tensor:
        """½‖∇_W‖², which is p's own gap where the biases are stationary, and what these lack of
        it by the model of their curvature; by problem."""
        gap = 0.5 * self.outputs.gather(g[:-1].square().sum(0))
        if self.model is None or not self.problem.bias:
            return gap
        return gap + 0.5 * self.outputs.gather(g[-1] * self.model.bias(g[-1]))

    def prove(self, at: Place) -> tuple[Proved, torch.Tensor]:
        """The proof at a place that was evaluated exactly, and every problem's relative gap."""
        uncertain = uncertain_rows(self.problem, self.Q)
        found = balance(self.problem, at.W, at.b, at.sums, uncertain)
        proofs = certificates(self.problem, at.W, at.b, at.sums, found)
        gaps = torch.tensor([proof.relative_gap for proof in proofs], device=at.W.device)
        told = joined(proofs, self.problem)
        bias = at.b - self.design.mu @ at.W  # of rows as they are, not centred
        return Proved(ClassWeights(at.W.T, bias), told, slacks=gaps), gaps

    # --- the search -----------------------------------------------------------------------

    def run(self, start) -> tuple[Proved, Ending]:
        at = self._first(start)
        best: Proved | None = None
        before, least, idle = torch.inf, torch.inf, 0
        try:
            if start is None:
                at = self._approach(at)
            for age in range(self.monitor.max_iter):
                g, primal = self.gradient(at), self.primal(at)
                gap = self.gap(g)
                tol = self.monitor.tol * primal
                ready = bool((gap <= ENOUGH_SHARE * tol).all())
                worst = float((gap / tol).max())
                noisy = NOISY_SHARE * before < worst < NEAR_END
                before = worst
                if at.precision is Precision.EXACT or ready or noisy:
                    at, g = self._exactly(self._levelled(at), tol)
                    best, gaps = self.prove(at)
                    total = best.certificate
                    if self.monitor.record(total.primal, total.dual) and bool(
                        (gaps <= self.monitor.tol).all()
                    ):
                        return best, Ending.REACHED
                    gap = self.gap(g)
                    before = float((gap / tol).max())
                    if before <= SOLVED_SHARE:
                        raise Stalled  # no smaller gradient would prove more
                    idle = 0 if before < 0.9 * least else idle + 1
                    least = min(before, least)
                    if idle > MAX_IDLE_STEPS:
                        idle = 0
                        if not self._sharpen():
                            raise Stalled
                else:
                    self.monitor.record(float(primal.sum()), float((primal - gap).sum()))
                self.monitor.step()
                at = self._step(at, g, gap, tol, age)
        except OutOfBudget as stop:
            return self._end(at, best), stop.ending
        except KeyboardInterrupt:
            return self._end(at, best), Ending.INTERRUPTED
        except Stalled:
            return self._end(at, best), Ending.STALLED
        return self._end(at, best), Ending.ITERATIONS

    def _end(self, at: Place, best: Proved | None) -> Proved:
        """The better of the last place and the last proof."""
        if at.precision is not Precision.EXACT:
            at = self.look(at.W, at.b, Precision.EXACT)
        last, _ = self.prove(at)
        return last if best is None or last.gap < best.gap else best

    def _first(self, start) -> Place:
        if start is None:
            W, b = self.design.zeros(self.design.rows.d, self.outputs.k), None
        else:
            W, b = self.outputs.level(start[0]), self.outputs.level(start[1])
            b = b + self.design.mu @ W
        b = self.design.zeros(self.outputs.k) if b is None else b
        at = self.look(W, b, self.precision)
        allowed = (2.0 * self.monitor.tol * self.primal(at)).sqrt().min()
        if self.C * self.path.gradient > MAX_NOISE_SHARE * float(allowed):
            self.precision = Precision.EXACT
            at = self.look(W, b, self.precision)
        return at

    def _approach(self, at: Place) -> Place:
        """From nothing, by ever larger C: Newton's model holds for steps that are not too long."""
        C, bend = self.C, self.outputs.first_bend(self.design.mass)
        _, spectrum = self.design.spectrum
        self.C = FIRST_C * self.design.mass / max(bend * float(spectrum.max()), 1e-300)
        while self.C < C / C_GROWTH:
            self.model = None
            for age in range(MAX_APPROACH_STEPS):
                g, tol = self.gradient(at), APPROACH_TOL * self.primal(at)
                gap = self.gap(g)
                if bool((gap <= tol).all()):
                    break
                self.monitor.step()
                at = self._step(at, g, gap, tol, age)
            self.C *= C_GROWTH
        self.C, self.model = C, None
        return at

    def _levelled(self, at: Place) -> Place:
        """Steps of the biases alone, until a few rows can make up for what Σ R lacks of zero."""
        if not self.problem.bias:
            return at
        fresh = self.model is None
        length, kept = 1.0, True  # kept: whether Q is that of the place
        for _ in range(MAX_LEVELLINGS):
            if self.model is None:
                at = at if kept else self.look(at.W, at.b, at.precision)
                self.model, fresh, kept = TorchKronecker(self, self.Q), True, True
            if self._is_level(at):
                break
            way = self.C * self.model.bias(at.sums.r)
            new = self.look(at.W, at.b - length * way, at.precision)
            kept = bool(new.sums.r.abs().sum() < at.sums.r.abs().sum())
            if kept:
                at, length = new, min(1.0, LEVEL_GROWTH * length)
            elif fresh:
                length *= STEP_SHRINKAGE
            if not fresh or kept:
                self.model, fresh = None, False
        return at if kept else self.look(at.W, at.b, at.precision)  # Q belongs to the place again

    def _is_level(self, at: Place) -> bool:
        assert self.model is not None
        g = self.C * at.sums.r
        cost = self.outputs.gather(g * self.model.bias(g))
        cheap = cost <= SOLVED_SHARE * self.monitor.tol * self.primal(at)
        return bool(cheap.all() & (at.sums.r.abs() <= LEVEL_SHARE * self.model.diagonal).all())

    def _exactly(self, at: Place, tol) -> tuple[Place, torch.Tensor]:
        """The same place evaluated exactly; notes by how much that differs."""
        g = self.gradient(at)
        if at.precision is Precision.EXACT:
            return at, g
        fine, at = self.primal(at), self.look(at.W, at.b, Precision.EXACT)
        true = self.gradient(at)
        noise = float(self.outputs.gather((true - g)[:-1].square().sum(0)).max().sqrt())
        self.path.gradient = noise / self.C
        self.path.objective = float(((fine - self.primal(at)).abs() / fine).max())
        if noise > MAX_NOISE_SHARE * float((2.0 * tol).sqrt().min()):
            self.precision = Precision.EXACT
        return at, true

    def _step(self, at: Place, g, gap, tol, age: int) -> Place:
        """Newton's step, shortened until the objective falls; in more precision where it must."""
        if self.model is None or age % CURVATURE_AGE == 0:
            self.model = TorchKronecker(self, self.Q)
        done = gap <= SOLVED_SHARE * tol
        g = torch.where(done, torch.zeros_like(g), g)  # a problem that is solved stays put
        forcing = (FORCING_SHARE * (tol / gap.clamp_min(1e-300)).sqrt()).clamp(
            STRICTEST_FORCING, LOOSEST_FORCING
        )
        self.kind = max(self.path.hessian, int(float(forcing.min()) < SHARP_FORCING))
        D, good = self._direction(g, forcing)
        while not good and self._sharpen():
            D, good = self._direction(g, forcing)
        D = D.double()
        slope = self.outputs.gather((D * g).sum(0))
        if self.precision is Precision.FINE and self._hidden(slope, at, done):
            if self.path.objective is None:
                at, _ = self._exactly(at, tol)
            if self._hidden(slope, at, done):
                self.precision = Precision.EXACT
        if self.precision is not at.precision:
            at = self.look(at.W, at.b, self.precision)
        before = self.primal(at)
        new = self._line(at, D, slope, before)
        if new is None:  # another try from here, more exactly
            if self.precision is Precision.EXACT and not self._sharpen():
                raise Stalled
            self.precision = Precision.EXACT
            new = self.look(at.W, at.b, self.precision)
        return new

    def _sharpen(self) -> bool:
        """Go over to better Hessian products, for this search and those after it; False where
        there are none."""
        exact = self.design.rows.dtype is torch.float64
        if self.kind + 1 >= (1 if exact else len(HESSIAN_PARTS)):
            return False
        self.kind += 1
        self.path.hessian = self.kind
        return True

    def _hidden(self, slope, at: Place, done) -> bool:
        """Whether what a step can bring to some problem is lost in fine evaluations' noise."""
        noise = ASSUMED_NOISE if self.path.objective is None else self.path.objective
        return bool(((-slope < VISIBLE_SLOPE * noise * self.primal(at)) & ~done).any())

    def _line(self, at: Place, D, slope, before) -> Place | None:
        t, noise = torch.ones_like(slope), EXACT_NOISE
        if self.precision is Precision.FINE:
            noise = 0.1 * (self.path.objective or ASSUMED_NOISE)
        for _ in range(MAX_SHORTENINGS):
            new = self.look(at.W + t * D[:-1], at.b + t * D[-1], self.precision)
            fell = self.primal(new) <= before + ARMIJO_SHARE * t * slope + noise * before
            if bool(fell.all()):
                return new
            t = torch.where(fell, t, STEP_SHRINKAGE * t)
        return None

    # --- conjugate gradients ----------------------------------------------------------------

    def _direction(self, g: torch.Tensor, forcing: torch.Tensor) -> tuple[torch.Tensor, bool]:
        """−H⁻¹g, until the weights' residual is ``forcing`` times the gradient, by problem; and
        whether that was reached."""
        assert self.model is not None
        dot, r = self._dot, -self.outputs.level(g).to(self.work)
        least = dot(r[:-1], r[:-1])
        goal = (forcing.to(self.work) ** 2) * least
        x, z = torch.zeros_like(r), self.model(r)
        p, rho = z.clone(), dot(r, z)
        best, idle, good = x.clone(), 0, False
        for step in range(1, MAX_CG_STEPS + 1):
            q = self.hessian(p)
            bend = dot(p, q)
            a = torch.where(bend > 0, rho / bend, torch.zeros_like(bend))
            x += a * p
            r -= a * q
            if step % self.check == 0:
                left = dot(r[:-1], r[:-1])
                idle = 0 if bool((left < 0.9 * least).any()) else idle + self.check
                best, least = torch.where(left < least, x, best), torch.minimum(left, least)
                lost = left > MAX_RESIDUAL_GROWTH**2 * least
                good = bool((left <= goal).all())
                if good or idle > MAX_IDLE_CG_STEPS or bool(((left <= goal) | lost).all()):
                    break
            z = self.model(r)
            fresh = dot(r, z)
            p = z + torch.where(rho > 0, fresh / rho, torch.zeros_like(rho)) * p
            rho = fresh
        return x if good or not bool(best.any()) else best, good

    def _dot(self, A, B) -> torch.Tensor:
        return self.outputs.gather((A * B).sum(0))

    def hessian(self, V: torch.Tensor) -> torch.Tensor:
        """H V for weights and, in the last row, biases.

        Where H is ill-conditioned the rounding of V strays to where it is large: then V has parts.
        """
        design, k = self.design, self.outputs.k
        rows, mu, kind = design.rows, design.mu.to(self.work), HESSIAN_PARTS[self.kind]
        shift = V[-1] - mu @ V[:-1]
        quick = self.quick if kind is not None else torch.float64
        parts, split_T = kind if kind is not None and rows.narrow else (1, 1)
        operand = split(V[:-1], quick, parts)
        total, sums = torch.zeros_like(V[:-1]), torch.zeros_like(V[-1])
        precision = (Precision.QUICK, Precision.FINE, Precision.FINE, Precision.EXACT)[self.kind]
        with rows.width(precision):
            for part, block in rows.chunks(k, precision):
                block = block.to(quick)
                T = self._bent(block, operand, shift, part, split_T)
                sums += added(T.sum(0, dtype=self.work)[None], k)[0]
                total += added(product(block.T, T), k)
        total -= torch.outer(mu, sums)
        out = torch.cat([V[:-1] + self.C * self.outputs.level(total), self.C * sums[None]])
        if not self.problem.bias:
            out[-1] = 0.0
        return out

    def _bent(self, block, operand, shift, part: slice, parts: int) -> torch.Tensor:
        """ω ∇²f (X̃ V + v) of a chunk, in so many parts of the operands' width."""
        Q, share = self.Q[part], self.design.share(part, self.work)
        if self.kernels is not None and operand.dtype is not torch.float64:
            # One part is rounded to its width again, which is no coarser than its operands.
            Z = block @ operand if parts == 1 else product(block, operand)
            T = self.kernels.fused_bend(Z, shift, Q, self.outputs.y[part], share)
            return T if parts == 1 else split(T, operand.dtype, parts)
        Z = product(block, operand)
        Z = added(Z, len(shift))
        Z += shift
        T = self.outputs.bend(Q, Z, part)
        return split(T if share is None else T * share, operand.dtype, parts)


class Stalled(Exception):
    """No step lowers the objective, however exactly it is evaluated."""
