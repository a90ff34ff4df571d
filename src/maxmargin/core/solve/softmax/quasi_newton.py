"""L-BFGS for smooth losses, started from a model of the Hessian.

    min over W, b    f = ½‖W‖² + Σ c_i ℓ(s_i, y_i),        s_i = (x_i − μ) W + b

for softmax (k columns in W) and for the logistic loss of two classes (one column).

Every step costs two products with the data: the direction's scores Z, and a gradient.  The
objective along the direction is a function of S + tZ alone, so the line search is exact and
costs no product; a step of one, as plain L-BFGS takes it, is too long every other time.
The model (``hessian_models.py``) is what limited-memory updates start from; they add what it
lacks.  A search may go on from one of a part of the rows, with its model and its pairs.

Where the biases are best, f − ½‖∂f/∂W‖² is a dual bound (``core/certify/softmax.py``): the gap
that ends the search costs nothing.  It may exceed the error by the condition number.  Where no
proof is asked for, the decrease that the next step promises, ½ gᵀB⁻¹g, is what counts.

A search for another C on the same rows goes on with the model and the pairs of the last one
(``path_state.py``).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import daxpy

from ..contract import Ending, Monitor, ended
from .hessian_models import Kronecker, Model, Sampled
from .path_state import Known, Pair, PathPoint
from .smooth import LogisticLoss, SoftmaxLoss

# Pairs of steps and gradient changes remembered: as many as make so many numbers, within bounds;
# for another C only those that do.
MIN_CURVATURE_PAIRS, MAX_CURVATURE_PAIRS = 24, 48
MAX_PAIR_VALUES = 1 << 22
# The line search ends when the slope has fallen to this share.
LINE_SLOPE_SHARE = 0.1
MAX_LINE_STEPS = 12
# … or a whole step has left this share of it, where to look for the best one costs as much as
# another step.
WHOLE_STEP_SLOPE = 0.5
# Rounding of an objective summed up from float32 and float64 scores.
OBJECTIVE_ROUNDING_BY_DTYPE = {np.dtype(np.float32): 1e-7, np.dtype(np.float64): 1e-14}
# Steps after which A is taken afresh, at the latest: when half as many again have been made.
MODEL_REFRESH_GROWTH = 1.5
# … but a costly one not while a step leaves no more than this share of the gap …
QUICK_STEP_SHARE = 0.05
# … and for the first time, where the search starts near its end.
FIRST_REFRESH_STEPS = 12
# What the biases are off may be this share of the gap asked for; more of it would show in
# the gap once they are made best.
BIAS_TOL_SHARE = 1e-6
# In the first steps from nothing the curvature falls so fast that a fresh model knows more
# than its past.
EARLY_STEPS = 3
# Scores up to which they are kept for the next C.
MAX_KEPT_SCORES = 1 << 22
# A gap this much below the one asked for: what is left is for the certificate's rounding.
STOP_TOL_SHARE = 0.9

Weights = tuple[np.ndarray, np.ndarray]


def quasi_newton(
    loss: SoftmaxLoss | LogisticLoss,
    monitor: Monitor,
    start: Weights | None = None,
    before: QuasiNewton | None = None,
    known: Known | None = None,
) -> QuasiNewton:
    """Search from ``start``, or go on from the search of a part of the rows.

    ``known`` comes from the search that ended at ``start``, or near it, for another C.
    """
    search = QuasiNewton(loss, monitor, start, before)
    if known is not None and start is not None:
        search.inherit(known)
    search.ending = ended(search.loop)
    return search


class QuasiNewton:
    """Where the search stands: x = (W, b) stacked as (d + 1, k), objective and gradient."""

    ending = Ending.STALLED
    whole = True  # whether a whole step is expected to be right: the last one was
    error = np.nan  # estimated, relative to the objective; only where estimates are asked for

    def __init__(self, loss: SoftmaxLoss | LogisticLoss, monitor: Monitor, start, before):
        self.loss, self.monitor, self.products = loss, monitor, loss.products
        self.nothing = loss.unweighted()
        self.x = np.zeros((self.products.d + 1, self.products.k))
        self.room = min(MAX_CURVATURE_PAIRS, MAX_PAIR_VALUES // (2 * self.x.size))
        self.pairs: list[Pair] = []
        self.known: Model | None = None
        self.came: Known | None = None
        if before is not None:
            self.x[:], self.known, self.pairs = before.x, before.model, before.pairs
        elif start is not None:
            W, b = start
            self.x[:-1], self.x[-1] = W.T, b + W @ self.products.mu
        elif loss.bias:
            self.x[-1] = loss.start()
        self.early = EARLY_STEPS if start is None and before is None else 0

    def weights(self) -> Weights:
        """W (k, d) and b (k,); one row each for the logistic loss."""
        W, b = self.x[:-1], self.x[-1]
        return np.ascontiguousarray(W.T), b - self.products.mu @ W

    def inherit(self, known: Known) -> None:
        """Take over what the search for another C has learnt."""
        self.known, self.pairs = known.model, known.pairs_at(self.loss.total)
        if self.monitor.estimate and known.place is not None:
            self.came = known

    def leave(self) -> Known:
        """For a search with another C.  Where it ended only if that search needs no proof:
        scores that were never computed afresh gather rounding."""
        model = self.model.detached() if isinstance(self.model, Kronecker) else None
        first = max(0, len(self.pairs) - self.room)
        pairs = [] if self.model.exact else self.pairs[first:]
        place, S = None, self.loss.S
        if self.monitor.estimate and S.size <= MAX_KEPT_SCORES:
            step, last = None, self.came and self.came.place
            if last:
                step = self.x - last.x, S - last.S
            place = PathPoint(self.x, self.g, S, step)
        return Known(self.loss.total, self.products.mu, model, pairs, place)

    def loop(self) -> Ending:
        if self.came is None:
            self.settle()
        else:
            self.resume(self.came)
        if self.early == 0 and not self.f <= self.loss.at_rest():  # a start worse than none
            self.x[:], self.early, self.pairs = 0.0, EARLY_STEPS, []
            self.settle()
        self.model = self.loss.model(self.monitor.seed, self.known)
        count, afresh = 0, 1 if self.early else FIRST_REFRESH_STEPS
        while not self.reached():
            q = self.direction()
            if self.monitor.estimate and self.estimated(q):
                return Ending.ESTIMATED
            self.monitor.step()
            before = _half_norm(self.g)
            if not self.advance(q):
                if not self.products.sharpen():
                    return Ending.STALLED
                self.loss.make_room()
                self.settle()
            count += 1
            quick = self.model.costly and _half_norm(self.g) < QUICK_STEP_SHARE * before
            if (count >= afresh and not quick) or self.model.exact:
                self.model.refresh()
                afresh = max(count + 1, int(MODEL_REFRESH_GROWTH * count))
                if self.model.exact or count <= self.early:
                    self.pairs = []
        return Ending.REACHED

    def settle(self) -> None:
        """Compute scores, objective and gradient afresh from x."""
        if self.loss.at_once:
            self.f, self.g = self.see(self.x)
            self.loss.go_there()
            return
        self.products.scores(self.x[:-1], self.x[-1], self.loss.S)
        self.f = _half_norm(self.x) + self.loss.line(0.0)[0]
        self.g = self.gradient()

    def resume(self, known: Known) -> None:
        """Go on where the search for another C ended, and as far as is best along the path that
        led there: no product with the data but one gradient."""
        place = known.place
        assert place is not None
        self.x[:], self.loss.S[:], self.g = place.x, place.S, known.gradient_at(self.loss.total)
        self.f = _half_norm(self.x) + self.loss.line(0.0)[0]
        if place.step is not None:
            q, self.loss.Z[:] = place.step
            if float(np.vdot(q, self.g)) < 0.0:
                self.go(q)

    def shift(self, step: np.ndarray) -> None:
        """Move the biases, and with them all scores."""
        self.x[-1] += step
        self.loss.S[:, : len(step)] += step.astype(self.loss.S.dtype)
        self.f = _half_norm(self.x) + self.loss.line(0.0)[0]
        self.g = self.gradient()

    def gradient(self) -> np.ndarray:
        g = self.products.combine(self.loss.errors)
        g[:-1] += self.x[:-1]
        if not self.loss.bias:
            g[-1] = 0.0
        return g

    def reached(self) -> bool:
        """Record the bounds; whether the gap asked for is reached where the biases are best."""
        h = self.g[-1]
        owed = 0.5 * float(h @ self.model.biases(h))
        gap = _half_norm(self.g) + owed
        self.monitor.record(self.f, self.f - gap)
        enough = STOP_TOL_SHARE * self.monitor.tol * self.f
        if gap > enough or self.monitor.estimate:  # a small C is judged by its estimate, too
            return False
        if owed <= BIAS_TOL_SHARE * self.monitor.tol * self.f:
            return True
        step = -self.model.biases(h)
        if isinstance(self.model, Sampled) and self.model.pulled(step, self.g) <= enough:
            self.x[-1] += step
            return True
        self.shift(step)
        return _half_norm(self.g) <= enough

    def estimated(self, q: np.ndarray) -> bool:
        """Whether the decrease that the direction q promises is as small as asked for.

        Measured by what the weights gain over the best biases alone, which is little for small C.
        """
        promised = -0.5 * float(np.vdot(q, self.g))
        self.error = promised / self.f
        return promised <= self.monitor.estimate * (self.nothing - self.f)

    def direction(self) -> np.ndarray:
        """The two-loop recursion around the model's inverse; downhill."""
        q, shares = -self.g, []
        for s, y, rho in reversed(self.pairs):
            shares.append(rho * float(np.vdot(s, q)))
            _add(q, -shares[-1], y)
        q = np.ascontiguousarray(self.model(q))
        for (s, y, rho), share in zip(self.pairs, reversed(shares), strict=True):
            _add(q, share - rho * float(np.vdot(y, q)), s)
        if not float(np.vdot(q, self.g)) < 0.0:
            self.pairs = []
            q = -self.model(self.g)
        return q

    def advance(self, q: np.ndarray) -> bool:
        """One step along q; False when rounding leaves none."""
        if not (self.loss.at_once and self.whole):
            self.products.scores(q[:-1], q[-1], self.loss.Z)
            return self.go(q)
        f, g = self.see(self.x + q)
        slope, end = float(np.vdot(q, self.g)), float(np.vdot(q, g))
        share = LINE_SLOPE_SHARE if self.early else WHOLE_STEP_SLOPE
        if f <= self.f + self.rounding() and abs(end) <= share * abs(slope):
            self.loss.go_there()
            self.x += q
            self.take(q, f, g)
            return True
        self.loss.Z -= self.loss.S  # a whole step is too long: the scores of the direction
        return self.go(q)

    def go(self, q: np.ndarray) -> bool:
        """The best step along q, whose scores are in Z."""
        t, f = self.search_line(q, float(np.vdot(q, self.g)))
        self.whole = t == 1.0
        if t == 0.0:
            return False
        _move(self.loss.S, t, self.loss.Z)
        self.loss.moved(t)
        s = t * q
        self.x += s
        self.take(s, f, self.gradient())
        return True

    def take(self, s: np.ndarray, f: float, g: np.ndarray) -> None:
        """Stand where the step s has led, and remember it."""
        y = g - self.g
        self.f, self.g = f, g
        bend = float(np.vdot(s, y))
        if bend > 0.0:
            self.pairs = [
                *self.pairs[1 - max(MIN_CURVATURE_PAIRS, self.room) :],
                (s, y, 1.0 / bend),
            ]

    def see(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Objective and gradient at x, whose scores are then in Z, by reading the rows once."""
        loss, g = self.loss.see(x)
        g[:-1] += x[:-1]
        if not self.loss.bias:
            g[-1] = 0.0
        return _half_norm(x) + loss, g

    def rounding(self) -> float:
        """Of the objective."""
        return OBJECTIVE_ROUNDING_BY_DTYPE[self.products.store] * abs(self.f)

    def search_line(self, q, slope: float) -> tuple[float, float]:
        """Newton's method in t on the convex objective along q, inside a bracket."""
        cross, norm = float(np.vdot(self.x[:-1], q[:-1])), 2.0 * _half_norm(q)
        half = _half_norm(self.x)
        room = self.rounding()
        t, low, high, best = 1.0, 0.0, np.inf, (0.0, self.f)
        for _ in range(MAX_LINE_STEPS):
            loss, first, second = self.loss.line(t)
            f = half + t * cross + 0.5 * t * t * norm + loss
            first, second = first + cross + t * norm, second + norm
            if not np.isfinite(f):
                high, t = t, 0.1 * t
                continue
            if f <= self.f + room and abs(first) <= LINE_SLOPE_SHARE * abs(slope):
                return t, f
            if f < best[1]:
                best = (t, f)
            low, high = (t, high) if first < 0.0 else (low, t)
            newton = t - first / second
            inside = low < newton < high
            t = newton if inside else 2.0 * t if np.isinf(high) else 0.5 * (low + high)
        return best


def _half_norm(x: np.ndarray) -> float:
    """½‖·‖² of the weights' part."""
    return 0.5 * float(np.vdot(x[:-1], x[:-1]))


def _add(q: np.ndarray, share: float, s: np.ndarray) -> None:
    """q += share · s, without a copy of s."""
    daxpy(s.ravel(), q.ravel(), a=share)


def _move(S: np.ndarray, t: float, Z: np.ndarray) -> None:
    """S += tZ, which leaves nothing in Z that is needed."""
    Z *= Z.dtype.type(t)
    S += Z
