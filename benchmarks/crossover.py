"""The two normal equations of ridge regression: where one becomes cheaper than the other.

    python -m benchmarks.crossover

    v = (ZᵀZ + λI)⁻¹ Zᵀy    k × k, O(nk² + k³)        v = Zᵀ(ZZᵀ + λI)⁻¹ y    n × n, O(n²k + n³)

For n rows and a growing number k of columns, one thread, in turns, the shortest processor time of
each; and which of them ``LeastSquaresClassifier`` takes by itself.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import solve
from threadpoolctl import threadpool_limits

from maxmargin import LeastSquaresClassifier

from .record import RESULTS, write

ROWS = 400
COLUMNS = [25 * 2**power for power in range(8)]
REPEATS = 7


def by_columns(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    return solve(Z.T @ Z + np.eye(Z.shape[1]), Z.T @ y, assume_a="pos")


def by_rows(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    return Z.T @ solve(Z @ Z.T + np.eye(len(Z)), y, assume_a="pos")


def measure(k: int) -> dict:
    rng = np.random.default_rng(k)
    Z, y = rng.standard_normal((ROWS, k)), rng.standard_normal(ROWS)
    least = {by_columns: np.inf, by_rows: np.inf}
    for _ in range(REPEATS):
        for way in least:
            began = time.process_time()
            way(Z, y)
            least[way] = min(least[way], time.process_time() - began)
    off = float(np.abs(by_columns(Z, y) - by_rows(Z, y)).max())
    chosen = LeastSquaresClassifier(1.0).fit(Z, y > 0).certificate_.system
    found = {"n": ROWS, "k": k, "columns": least[by_columns], "rows": least[by_rows],
             "difference": off, "chosen": chosen}  # fmt: skip
    print(f"n = {ROWS}, k = {k}: k × k {least[by_columns]:.2e} s, n × n {least[by_rows]:.2e} s")
    return found


def main() -> None:
    with threadpool_limits(1):
        measure(COLUMNS[0])  # before the clock starts
        write([measure(k) for k in COLUMNS], RESULTS / "crossover.json")


if __name__ == "__main__":
    main()
