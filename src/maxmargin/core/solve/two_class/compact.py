"""Few dense rows near their margin in one compiled call per outer step.

    min over w̃ = (w, b)    ½ Σ D_j w̃_j² − pull·w̃ + Σ max over a in [0, cap_i] of  a z_i

The function of ``lagrangian.py``, by the Newton steps of ``tiny.py``: on a few thousand rows of few
columns the calls between Python and its kernels take two thirds of a step.
"""

from __future__ import annotations

import numpy as np

from ...rows.rows import DenseRows
from ..contract import Monitor
from ..semismooth import Terms
from .blocks import NearRows, State
from .tiny import MAX_INNER_STEPS, minimise

# Columns up to which plain loops factor a system as fast as LAPACK does with its calls, and values
# up to which they stay in a cache.
MAX_COMPACT_COLUMNS, MAX_COMPACT_VALUES = 64, 1 << 19


def is_compact(block: NearRows) -> bool:
    """Whether the block is one for compiled steps; its losses have to be hinges."""
    if not isinstance(block.rows, DenseRows):
        return False
    n, d = block.rows.X.shape
    small = d <= MAX_COMPACT_COLUMNS and n * (d + 1) <= MAX_COMPACT_VALUES
    return small and n > 0 and bool(block.cap.max() < np.inf)


class CompactRows:
    """The rows, centred, with a column of ones for the bias; and room to compute in."""

    def __init__(self, block: NearRows, state: State):
        self.block, self.state = block, state
        n, d = block.rows.X.shape  # type: ignore[union-attr]
        width = d + 1 if block.bias else d
        self.Z = np.ones((n, width))
        np.subtract(block.rows.X, block.mu, out=self.Z[:, :d])  # type: ignore[union-attr]
        self.columns = np.ascontiguousarray(self.Z.T)
        self.D, self.pull = np.ones(width), np.zeros(width)
        self.pull[:d] = block.v0
        self.w = np.zeros(width)
        self.w[:d] = state.w
        if block.bias:
            self.D[d], self.pull[d], self.w[d] = 0.0, block.r0, state.b
        self.z, self.a = state.z.copy(), np.ascontiguousarray(state.a)
        self.a_hat, self.free = np.empty(n), np.empty(n, dtype=np.int64)

    def step(self, sigma: np.ndarray, monitor: Monitor) -> None:
        """One Newton step, of which no multipliers are asked."""
        self._newton(sigma, (0.0, -np.inf, 1), monitor)
        self._tell()

    def minimise(
        self, sigma: np.ndarray, monitor: Monitor, share: float, floor: float
    ) -> tuple[Terms, bool]:
        """Until what lacks of stationarity is a share of what does of complementarity, or all but
        rounding; multipliers move only if it is.  Below ``floor`` it ends."""
        done = self._newton(sigma, (share, floor, MAX_INNER_STEPS), monitor)
        if done:
            self.a[:] = self.a_hat
            self.state.a = self.a_hat.copy()
        self._tell()
        return self._terms(), done

    def _newton(self, sigma, goal: tuple[float, float, int], monitor: Monitor) -> bool:
        share, floor, most = goal
        most = min(most, monitor.max_iter - monitor.n_iter)
        if most <= 0:
            monitor.step()  # says that there are no more
        taken, done = minimise(
            self.Z, self.columns, self.block.y, self.a, sigma, self.block.cap, self.D, self.pull,
            (0.0, share, floor, most), self.w, self.z, self.a_hat, self.free,
        )  # fmt: skip
        monitor.step(taken)
        return done

    def _tell(self) -> None:
        """Where the search stands, as its caller knows it."""
        d = len(self.block.v0)
        self.state.w, self.state.z = self.w[:d].copy(), self.z.copy()
        self.state.b = float(self.w[d]) if self.block.bias else 0.0

    def _terms(self) -> Terms:
        y, cap, a, z, w = self.block.y, self.block.cap, self.a_hat, self.z, self.w
        loss = float(cap @ np.maximum(z, 0.0))
        g = self.D * w - self.pull - self.columns @ (a * y)
        d = len(self.block.v0)
        norm = 0.5 * float(w[:d] @ w[:d])
        stationarity = 0.5 * float(g[:d] @ g[:d])
        if self.block.bias:
            stationarity += abs(float(g[d])) * (abs(float(w[d])) + 1.0)
        return Terms(loss - float(a @ z), stationarity, norm + loss - float(self.pull @ w), norm)
