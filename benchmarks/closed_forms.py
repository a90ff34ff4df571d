"""Closed forms against scikit-learn: ratios from one run, one thread.

    python -m benchmarks.closed_forms

RidgeClassifier, LinearDiscriminantAnalysis and KernelRidge on tall, wide and square data, in
float64 and float32, the fits taken in turns and the shortest processor time counting.  Ours
includes validation and the certificate.  The error is the same for both: the residual of the
normal equations, relative to features and targets, recomputed in float64; for discriminants the
share of the criterion J that is missing.  scikit-learn computes in the precision of the data.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge as TheirKernelRidge
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_limits

from maxmargin import FisherDiscriminant, KernelRidge, LeastSquaresClassifier, verify

from .run import save

SHAPES = {
    "tall 200k×50": (200_000, 50),
    "wide 500×20k": (500, 20_000),
    "square 3k×3k": (3000, 3000),
}
BAR = 1.0


def clouds(n, d, k, dtype, seed=0):
    """k Gaussian classes, each pushed along its own axis, off the origin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.0
    y = rng.integers(0, k, n)
    X[np.arange(n), y] += 1.0
    return X.astype(dtype), y


def in_turns(ours, theirs, repeats):
    """The shortest processor time of each fit, and the models."""
    times, mine, peer = [[], []], None, None
    for _ in range(repeats):
        for place, fit in enumerate((ours, theirs)):
            began = time.process_time()
            model = fit()
            times[place].append(time.process_time() - began)
            (mine, peer) = (model, None) if place == 0 else (mine, model)
    return min(times[0]), min(times[1]), mine, peer


def ridge(name, k, dtype, alpha=1.0):
    X, y = clouds(*SHAPES[name], k, dtype)
    a, b, mine, peer = in_turns(
        lambda: LeastSquaresClassifier(alpha).fit(X, y),
        lambda: RidgeClassifier(alpha).fit(X, y),
        5,
    )
    judged = LeastSquaresClassifier(alpha).fit(X, y)
    half = 1.0 if k == 2 else 0.5  # their targets are −1 and 1 for every class
    judged.coef_ = half * np.atleast_2d(peer.coef_).astype(np.float64)
    judged.intercept_ = half * np.atleast_1d(peer.intercept_).astype(np.float64) + (1 - half)
    return {
        "case": f"ridge {name}, k={k}, {np.dtype(dtype)}",
        "ours_seconds": a, "peer": "RidgeClassifier", "peer_seconds": b, "ratio": a / b,
        "error": mine.certificate_.relative_residual,
        "peer_error": verify(judged, X, y).relative_residual,
        "how": f"{mine.certificate_.system}, {mine.certificate_.factorisation}",
    }  # fmt: skip


def discriminant(name, k, dtype):
    X, y = clouds(*SHAPES[name], k, dtype)
    a, b, mine, peer = in_turns(
        lambda: FisherDiscriminant().fit(X, y),
        lambda: LinearDiscriminantAnalysis().fit(X, y),
        1 if name.startswith("square") else 3,
    )
    judged = FisherDiscriminant().fit(X, y)
    judged.scalings_ = peer.scalings_[:, : k - 1].astype(np.float64)
    theirs = verify(judged, X, y)
    return {
        "case": f"discriminant {name}, k={k}, {np.dtype(dtype)}",
        "ours_seconds": a, "peer": "LinearDiscriminantAnalysis", "peer_seconds": b, "ratio": a / b,
        "error": mine.certificate_.relative_gap,
        "peer_error": theirs.relative_gap,
        "how": f"{mine.certificate_.system}, {mine.certificate_.factorisation}",
    }  # fmt: skip


def kernel(n, alpha, dtype, d=20):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(dtype)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    gamma = 1.0 / d
    a, b, mine, peer = in_turns(
        lambda: KernelRidge(alpha, gamma=gamma).fit(X, y),
        lambda: TheirKernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(X, y),
        5 if n < 3000 else 3,
    )
    judged = KernelRidge(alpha, gamma=gamma).fit(X, y)
    judged.dual_coef_ = peer.dual_coef_.astype(np.float64)[:, None]
    return {
        "case": f"kernel ridge rbf n={n}, alpha={alpha:g}, {np.dtype(dtype)}",
        "ours_seconds": a, "peer": "KernelRidge", "peer_seconds": b, "ratio": a / b,
        "error": mine.certificate_.relative_residual,
        "peer_error": verify(judged, X, y).relative_residual,
        "how": mine.certificate_.factorisation,
    }  # fmt: skip


def cases():
    for dtype in (np.float64, np.float32):
        for name in SHAPES:
            for k in (2, 10):
                yield lambda name=name, k=k, dtype=dtype: ridge(name, k, dtype)
        for name in SHAPES:
            yield lambda name=name, dtype=dtype: discriminant(name, 3, dtype)
        for n, alpha in ((1500, 1.0), (4000, 1.0), (4000, 1e-3)):
            yield lambda n=n, alpha=alpha, dtype=dtype: kernel(n, alpha, dtype)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    results = []
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases():
            result = case()
            verdict = "met" if result["ratio"] <= BAR else "MISSED"
            print(
                f"{result['case']:<44} {result['ours_seconds']:8.3f} s, error "
                f"{result['error']:.0e}   {result['peer']:<26} {result['peer_seconds']:8.3f} s, "
                f"error {result['peer_error']:.0e}   ratio {result['ratio']:5.2f} {verdict}   "
                f"({result['how']})",
                flush=True,
            )
            results.append(result | {"bar": BAR})
            path = save(results, "closed_forms.json")
    print(f"written: {path}")


if __name__ == "__main__":
    main()
