"""Fits on Dask with one and with two single-thread workers: time, gap, rounds, traffic.

    python -m benchmarks.spread [--rows 2000000] [--only sparse]

Both clusters hold the same data in the same partitions.  A fit is repeated and the quickest run
kept, since other processes may want the cores.  Beside the time by the clock stand the processor
time of the busiest worker, which parallel work divides, and that of the side that asks: client and
scheduler, which it does not.
"""

from __future__ import annotations

import argparse
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from scipy import sparse

from maxmargin import spread

from .record import RESULTS, write

PIECES = 8


def dense_piece(seed: int, n: int, d: int):
    rng = np.random.default_rng([7, seed])
    w = np.random.default_rng(0).standard_normal(d)
    X = rng.standard_normal((n, d)).astype(np.float32)
    return X, (X @ w + rng.standard_normal(n) > 0.5).astype(int)


def sparse_piece(seed: int, n: int, d: int, stored: int = 40):
    rng = np.random.default_rng([8, seed])
    w = np.random.default_rng(0).standard_normal(d)
    common = 1.0 / np.arange(1, d + 1) ** 0.9
    columns = rng.choice(d, size=(n, stored), p=common / common.sum())
    values = rng.random((n, stored)) / np.sqrt(stored / 3.0)
    where = (np.repeat(np.arange(n), stored), columns.ravel())
    X = sparse.csr_matrix((values.ravel(), where), shape=(n, d))
    X.sum_duplicates()
    f = X @ w
    return X, (f + 0.3 * f.std() * rng.standard_normal(n) > 0).astype(int)


def collection(make, n: int, d: int):
    """A Dask array whose pieces are made where they are held."""
    size = n // PIECES
    pieces = [dask.delayed(make, pure=True, nout=2)(seed, size, d) for seed in range(PIECES)]
    kind = np.float32 if make is dense_piece else np.float64
    meta = np.empty((0, 0), kind) if make is dense_piece else sparse.csr_matrix((0, d))
    X = [da.from_delayed(piece[0], (size, d), kind, meta=meta) for piece in pieces]
    y = [da.from_delayed(piece[1], (size,), int) for piece in pieces]
    return da.concatenate(X), da.concatenate(y)


def problems(rows: int):
    """Name, model, maker, rows, columns; the last is so small that a cluster can only lose."""
    svm, squared = spread.LinearSVM(tol=1e-3), spread.LinearSVM(loss="squared_hinge", tol=1e-3)
    logistic, soft = spread.LogisticRegression(tol=1e-3), spread.LinearSVM(C=0.1, tol=1e-2)
    yield "LinearSVM hinge, dense", svm, dense_piece, rows, 100
    yield "LinearSVM squared, dense", squared, dense_piece, rows, 100
    yield "LogisticRegression, dense", logistic, dense_piece, rows, 100
    yield "LeastSquaresClassifier, dense", spread.LeastSquaresClassifier(), dense_piece, rows, 100
    yield "LinearSVM hinge, sparse", soft, sparse_piece, rows // 4, 50_000
    yield "LinearSVM hinge, sparse", soft, sparse_piece, rows // 40, 20_000


def measure(client: Client, model, X, y, repeats: int) -> dict:
    model.fit(X, y)  # kernels compile
    best: dict = {}
    for _ in range(repeats):
        before = client.run(time.process_time)
        began, asking = time.perf_counter(), time.process_time()
        model.fit(X, y)
        wall, asking = time.perf_counter() - began, time.process_time() - asking
        after = client.run(time.process_time)
        busy = max(after[name] - before[name] for name in after)
        if not best or wall < best["wall"]:
            best = {"wall": wall, "worker_cpu": busy, "asking_cpu": asking}
    proof, traffic = model.certificate_, model.traffic_
    sent, received = traffic.per_round
    gap = getattr(proof, "relative_gap", None)
    return best | {
        "gap": float(proof.relative_residual if gap is None else gap),
        "rounds": traffic.rounds,
        "sent": sent,
        "received": received,
        "largest": traffic.largest_sent + traffic.largest_received,
        "sampled": traffic.sampled,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default="", help="problems whose name holds this")
    args = parser.parse_args()
    found: dict = {}
    for workers in (1, 2):
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
            ) as cluster,
            Client(cluster) as client,
        ):
            held: tuple = ()
            for name, model, make, n, d in problems(args.rows):
                if args.only not in name:
                    continue
                if held != (make, n, d):
                    X, y = dask.persist(*collection(make, n, d))
                    held = make, n, d
                line = measure(client, model, X, y, args.repeats)
                found.setdefault(f"{name} {n}×{d}", {})[workers] = line
                print(f"{workers} worker(s)  {name} {n}×{d}: {_words(line)}", flush=True)
            del X, y
    for name, lines in found.items():
        one, two = lines[1], lines[2]
        print(
            f"{name}: two workers are {one['wall'] / two['wall']:.2f} times as fast by the clock, "
            f"{one['worker_cpu'] / two['worker_cpu']:.2f} times by the busiest worker's processor"
        )
    if not args.only:
        write(found, RESULTS / "spread.json")


def _words(line: dict) -> str:
    return (
        f"{line['wall']:.2f} s (processor: busiest worker {line['worker_cpu']:.2f} s, "
        f"asking {line['asking_cpu']:.2f} s), "
        f"gap {line['gap']:.0e}, {line['rounds']} rounds, per round and part "
        f"{line['sent']:,.0f} bytes sent, {line['received']:,.0f} received, at most "
        f"{line['largest']:,} both, {line['sampled']:,} of sampled rows in all"
    )


if __name__ == "__main__":
    main()
