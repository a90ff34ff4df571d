"""Race the k-class hinge:  python -m benchmarks.multiclass --data FOLDER [--only WORD]

    ½‖W‖² + C Σ max(0, 1 + max over c ≠ y of f_c − f_y),     f = W x + b        (Crammer–Singer)

The peers are LIBLINEAR's solver for it, as scikit-learn ships it and in its own package.
They penalise the bias, so their error is measured on their own problem, with ½‖b‖² added:
(primal − D) / D, where D is a lower bound that we proved for that problem and keep in
``results/multiclass-optima.json``, since proving it takes longer than the race.  A peer's
time to an accuracy is that of its quickest run, over many tolerances, within it.  Ours is
the time to a *certified* gap of the problem with a free bias, validation and certificate
included.  All times are processor seconds of one thread, which other processes on the
machine disturb less than the clock on the wall.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from maxmargin import LinearSVM

from .class_problems import ClassCase, class_cases
from .peers import timed
from .run import RESULTS, save

OPTIMA = RESULTS / "multiclass-optima.json"
TARGETS = (1e-2, 1e-3)
# Tolerances per factor of ten: a coarse grid makes a peer pay for accuracy nobody asked for.
FINE = 8
# The relative gap to which the peers' optimum is proved: a hundredth of the tightest target.
SHARP = 1e-5
# "sum" may take this many times as long as "max".
SUM_BAR = 2.0


def tolerances(steps: int) -> list[float]:
    """From 1 to 1e-4."""
    return [float(f"{10 ** (-step / steps):.2g}") for step in range(4 * steps + 1)]


Run = tuple[str, float, np.ndarray, np.ndarray]


def scikit_learn(case: ClassCase, steps: int) -> Iterator[Run]:
    for tol in tolerances(steps):
        peer = LinearSVC(
            multi_class="crammer_singer", C=case.C, tol=tol, max_iter=10**7, random_state=0
        )
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, case.y), time.process_time)
        yield f"tol={tol:g}", seconds, model.coef_, model.intercept_


def liblinear(case: ClassCase, steps: int) -> Iterator[Run]:
    from liblinear.liblinearutil import problem, train

    X = case.X if sparse.issparse(case.X) else case.X.astype(np.float64)
    data = problem(case.y.astype(np.float64), X)  # once: not their solver's work
    k = len(np.unique(case.y))
    for tol in tolerances(steps):
        options = f"-s 4 -c {case.C} -e {tol} -B 1 -q"
        model, seconds = timed(lambda options=options: train(data, options), time.process_time)
        d = model.get_nr_feature()  # without the last columns if they are empty
        table = np.ctypeslib.as_array(model.w, shape=(d + 1, k))[:, np.argsort(model.get_labels())]
        W = np.zeros((k, X.shape[1]))
        W[:, :d] = table[:-1].T
        yield f"-e {tol:g}", seconds, W, table[-1].copy()


PEERS: dict[str, Callable] = {
    "LinearSVC(crammer_singer)": scikit_learn,
    "liblinear-official -s 4": liblinear,
}


def penalised(case: ClassCase, W: np.ndarray, b: np.ndarray) -> float:
    """The peers' objective."""
    F = np.asarray(case.X @ W.T) + b
    everyone = np.arange(len(F))
    own = F[everyone, case.y].copy()
    F += 1.0
    F[everyone, case.y] = own
    norms = 0.5 * float(np.sum(W * W) + b @ b)
    return norms + case.C * float(np.sum(F.max(axis=1) - own))


def lower_bound(case: ClassCase) -> float:
    """A proved lower bound on the peers' objective, from the file or from a long fit of ours."""
    known = json.loads(OPTIMA.read_text()) if OPTIMA.exists() else {}
    if case.name not in known:
        model = LinearSVM(
            case.C, multiclass="max", penalize_bias=True, tol=SHARP, max_seconds=900, max_iter=10**6
        ).fit(case.X, case.y)
        certificate = model.certificate_
        known[case.name] = {"dual": certificate.dual, "primal": certificate.primal}
        RESULTS.mkdir(exist_ok=True)
        OPTIMA.write_text(json.dumps(known, indent=1))
    return known[case.name]["dual"]


def tried(runs: Iterator[Run], case: ClassCase, bound: float, patience: float) -> list[dict]:
    """All runs of a peer, from loose to tight, until one is good enough or takes too long."""
    made = []
    for setting, seconds, W, b in runs:
        error = (penalised(case, W, b) - bound) / bound
        made.append({"setting": setting, "seconds": seconds, "error": error})
        if error <= min(TARGETS) or seconds > patience:
            break
    return made


def quickest(runs: list[dict], target: float) -> dict | None:
    within = [run for run in runs if run["error"] <= target]
    return min(within, key=lambda run: run["seconds"]) if within else None


def ours(case: ClassCase, rule: str, tol: float) -> dict:
    model, seconds = timed(
        lambda: LinearSVM(case.C, multiclass=rule, tol=tol, max_iter=10**6).fit(case.X, case.y),
        time.process_time,
    )
    gap = model.certificate_.relative_gap
    return {"seconds": seconds, "certified_gap": gap, "solver": model.solver_}


def race(case: ClassCase, patience: float, steps: int) -> dict:
    """Our times with both rules, every run of the peers, and the ratios."""
    for rule in ("max", "sum"):  # compile before the clock starts
        LinearSVM(case.C, multiclass=rule, tol=0.5).fit(case.X, case.y)
    mine = {f"{target:g}": ours(case, "max", target) for target in TARGETS}
    tight = f"{min(TARGETS):g}"
    sums = ours(case, "sum", min(TARGETS))
    bound = lower_bound(case)
    peers = {}
    for name, start in PEERS.items():
        try:
            peers[name] = tried(start(case, steps), case, bound, patience)
        except ImportError:
            print(f"  skipped {name}: not installed")
    ratios = {
        name: {
            key: mine[key]["seconds"] / best["seconds"]
            for key in mine
            if (best := quickest(runs, float(key)))
        }
        for name, runs in peers.items()
    }
    return {
        "case": case.name,
        "bar": case.bar,
        "maxmargin": mine,
        "sum": {**sums, "ratio_to_max": sums["seconds"] / mine[tight]["seconds"]},
        "bound": bound,
        "peers": peers,
        "ratios": ratios,
    }


def show(result: dict) -> None:
    print(f"\n{result['case']}")
    for key, entry in result["maxmargin"].items():
        who = f"maxmargin ({entry['solver']})"
        print(
            f"  {key:>5s}  {who:26s} {entry['seconds']:9.3f} s  "
            f"certified {entry['certified_gap']:.0e}"
        )
        for name, runs in result["peers"].items():
            best = quickest(runs, float(key))
            if best is None:
                print(f"         {name:26s}           never, best {_best_error(runs):.0e}")
                continue
            ratio = result["ratios"][name][key]
            print(
                f"         {name:26s} {best['seconds']:9.3f} s  error {best['error']:9.1e}"
                f"  {ratio:7.3f} ×  {best['setting']}"
            )
    sums = result["sum"]
    print(
        f'  "sum" rule {sums["seconds"]:.3f} s: {verdict(sums["ratio_to_max"], SUM_BAR)} of "max"'
    )
    if result["bar"] is not None:
        reached = [ratios.get(f"{min(TARGETS):g}", 0.0) for ratios in result["ratios"].values()]
        print(f"  bar: {verdict(max(reached), result['bar'])} of the quickest peer's time")


def verdict(ratio: float, bar: float) -> str:
    return f"{ratio:.3f} ({'met' if ratio <= bar else 'MISSED'}, asked ≤ {bar:g})"


def _best_error(runs: list[dict]) -> float:
    return min(run["error"] for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with data sets")
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    parser.add_argument(
        "--patience", type=float, default=120.0, help="most seconds of a peer's run"
    )
    parser.add_argument(
        "--steps", type=int, default=FINE, help="tolerances per factor of ten that peers try"
    )
    options = parser.parse_args()
    results = []
    with threadpool_limits(1):
        for case in class_cases(options.data, options.only):
            results.append(race(case, options.patience, options.steps))
            show(results[-1])
            path = save(results, "multiclass.json", others=True)  # a long run may be cut short
    print(f"\nwritten: {path}" if results else f"no case is called {options.only!r}")


if __name__ == "__main__":
    main()
