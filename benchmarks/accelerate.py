"""scikit-learn's fits with and without maxmargin:  python -m benchmarks.accelerate [--data FOLDER]

Each fit of ``accelerate_cases`` in one process, one thread, processor time, the two in turn, the
best of several runs; kernels compiled and loaded before.  A third run lets both solve and judges
scikit-learn's answer against the lower bound that ours proves.  ``--peer PYTHON``: an interpreter
with scikit-learn-intelex, whose seconds join the table; without it those known stay in it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import warnings
from pathlib import Path
from statistics import median

from sklearn.base import clone
from threadpoolctl import threadpool_limits

from maxmargin import accelerate
from maxmargin.accelerate import warm
from maxmargin.accelerate.case import STOPPED
from maxmargin.accelerate.conditioning import PATIENCE
from maxmargin.core import first_use

from .accelerate_cases import Case, cases
from .run import RESULTS, save

# Fits that scikit-learn makes faster than this say nothing of anybody's patience.
COUNTED_SECONDS = 0.05
# Repeats until so many seconds are spent, at least one and at most so many: of three runs of a few
# milliseconds the best differ by 10 to 25 % where scikit-learn runs twice, of fifteen by 5 %.
REPEAT_SECONDS, MAX_REPEATS = 3.0, 15


def fit_seconds(case: Case) -> float:
    """One fit from cold: nothing is remembered of fits before it."""
    warm.forget()
    PATIENCE.forget()
    model = clone(case.model)
    began = time.process_time()
    model.fit(case.X, case.y)
    return time.process_time() - began


def race(case: Case) -> dict:
    with accelerate.accelerated(load="now"):
        fit_seconds(case)  # compiles, and loads
    accelerate.clear()
    theirs, ours, began = [], [], time.perf_counter()
    while len(ours) < 1 or (
        len(ours) < MAX_REPEATS and time.perf_counter() - began < REPEAT_SECONDS
    ):
        theirs.append(fit_seconds(case))
        with accelerate.accelerated(load="now"):
            ours.append(fit_seconds(case))
    return {"case": case.name, "sklearn": min(theirs), "ours": min(ours)} | judged(case)


def judged(case: Case) -> dict:
    """Who solved, the largest gap, and what scikit-learn's answers are worth."""
    accelerate.clear()
    with accelerate.accelerated(compare=True, load="now"):
        fit_seconds(case)
    fits = accelerate.fits()
    if failed := [fit.why for fit in fits if STOPPED in fit.why]:
        raise RuntimeError(f"{case.name}: {failed[0]}")
    solved = [fit for fit in fits if fit.solver == "maxmargin"]
    told = [fit for fit in fits if fit.their_excess is not None]
    return {
        "fits": len(fits),
        "by_maxmargin": len(solved),
        "why": fits[-1].why,
        "gap": max((fit.gap or 0.0 for fit in solved), default=None),
        "their_excess": max((fit.their_excess for fit in told), default=None),
        "their_warnings": sum(bool(fit.their_warning) for fit in told),
        "changed": sum(fit.changed for fit in told),
    }


def peer_seconds(python: str, folder: Path | None) -> dict[str, float]:
    """Of the same cases, in an interpreter with scikit-learn-intelex."""
    command = [python, "-m", "benchmarks.accelerate_peer", *([str(folder)] if folder else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def known_peer_seconds() -> dict[str, float]:
    """As they were measured before."""
    path = RESULTS / "accelerate.json"
    before = json.loads(path.read_text())["results"] if path.exists() else []
    return {result["case"]: result["sklearnex"] for result in before}


def summary(results: list[dict]) -> str:
    counted = [r for r in results if r["sklearn"] >= COUNTED_SECONDS]
    ratios = [r["sklearn"] / r["ours"] for r in counted]
    if not counted:
        return f"no fit over {COUNTED_SECONDS:g} s"
    slowest = min((r["sklearn"] / r["ours"], r["case"]) for r in results)
    gaps = [r["gap"] for r in results if r["gap"] is not None]
    return (
        f"{len(counted)} fits over {COUNTED_SECONDS:g} s: median speed-up {median(ratios):.1f}, "
        f"{sum(r < 1 / 1.1 for r in ratios)} slower than 1.1 ×; slowest of all {slowest[0]:.2f} × "
        f"({slowest[1]}); largest certified gap {max(gaps):.0e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with real data sets")
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    parser.add_argument("--peer", help="an interpreter with scikit-learn-intelex")
    options = parser.parse_args()
    peer = peer_seconds(options.peer, options.data) if options.peer else known_peer_seconds()
    results = []
    first_use.MAX_PLAIN_SECONDS = 0.0  # kernels are compiled, as after the first programs
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases(options.data, options.only):
            result = race(case) | {"sklearnex": peer.get(case.name)}
            results.append(result)
            save(results, "accelerate.json", others=True)
            print(
                f"{result['sklearn'] / result['ours']:7.2f} ×  {result['sklearn']:8.3f} s → "
                f"{result['ours']:8.3f} s  by us {result['by_maxmargin']}/{result['fits']}  "
                f"excess {result['their_excess']}  {case.name}  [{result['why']}]",
                flush=True,
            )
    print(summary(results))


if __name__ == "__main__":
    main()
