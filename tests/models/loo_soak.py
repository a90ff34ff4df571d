"""Leaving one out against a fit for every row, on random problems of all kinds.

    python -m tests.models.loo_soak --most 10000 --seconds 600 --processes 16 --seed 0

Ends with the problems or with the time, whichever is first.  Says at once which problem differs or
fails, and in the end, kind by kind, how many problems and rows there were; how many problems are
refused, in words, by the fit with all rows or without one, and how many fail; how many labels are
wrong, and how many only differ, by a score that is zero within its tolerance; in how many problems
a score is further off than was told; for how many rows nothing is told.  Exits with 1 if anything
is wrong or failed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter, defaultdict
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from maxmargin import KernelSVM, NotSeparableError, leave_one_out
from maxmargin.core.rows.rows import as_rows
from maxmargin.core.solve.left_out.answer import distance_bound, score_reach
from maxmargin.models.fitting import linear_scores

from ..referee.soak import time_limit
from .loo_problems import KINDS, Case, random_case

COLUMNS = (
    "problems", "refused", "failed", "rows", "labels wrong", "labels differ", "scores beyond",
    "untold",
)  # fmt: skip
# A problem that takes longer fails; one that compiles may take minutes on a busy machine.
LONGEST_PROBLEM = 600
# Problems that a process counts before it tells.
TOGETHER = 20


class Finding(NamedTuple):
    """How many labels are wrong, how many differ at all, by how much the worst score is beyond its
    tolerance, and how many rows have none."""

    wrong: int
    differ: int
    beyond: float
    untold: int


def check(case: Case) -> Finding | None:
    """Fit with all rows, leave each out, and fit without each; None where there is no such fit,
    with all rows or without one, and that is told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = clone(case.model).fit(case.X, case.y, case.weight)
        except (NotSeparableError, ValueError):
            return None
        try:
            found = leave_one_out(fitted, case.X, case.y, case.weight)
        except ValueError as refusal:
            if "there is no fit" in str(refusal) and _some_fit_is_refused(fitted, case):
                return None
            raise
        model = fitted.plain() if hasattr(fitted, "plain") else fitted
        each = [_of_row(model, case, found, i) for i in range(len(case.y))]
    wrong, differ, beyond = zip(*each, strict=True)
    return Finding(sum(wrong), sum(differ), max(beyond), int(np.isinf(found.tolerance).sum()))


def _some_fit_is_refused(model, case: Case) -> bool:
    """Whether there is a row without which there is no model."""
    for i in range(len(case.y)):
        try:
            _fitted_without(model, case, i)
        except ValueError:
            return True
    return False


def _of_row(model, case: Case, found, i: int) -> tuple[bool, bool, float]:
    """Whether its label is wrong, whether it differs, and by how much its score is beyond."""
    other, f, own = _fitted_without(model, case, i)
    pairs = getattr(model, "multiclass", "") == "pairs" and np.ndim(f) == 1
    apart = float(np.abs(np.atleast_1d(f - found.scores[i])).max())
    room = own + float(found.tolerance[i])
    label = model.classes_[int(f > 0) if np.ndim(f) == 0 else int(f.argmax())]
    differs = bool(label != found.labels[i])
    duels = _duels(other, case.X[[i]]) if pairs else f
    # Of pairs the scores are votes, which tell nothing of how far the duels are apart.
    return differs and _clear(duels, room, pairs), differs, -np.inf if pairs else apart - room


def _duels(model, X) -> np.ndarray:
    """The scores of the machines of all pairs."""
    if isinstance(model, KernelSVM):
        return (model._expansion.scores(model._expansion.prepare(X)) + model.intercept_)[0]
    return linear_scores(model, X)[0]


def _clear(f, room: float, pairs: bool) -> bool:
    """Whether the best score is ahead by more than the two answers may differ."""
    if np.ndim(f) == 0 or pairs:
        return bool(np.abs(f).min() > room)
    first, second = np.sort(f)[::-1][:2]
    return bool(first - second > 2.0 * room)


def _fitted_without(model, case: Case, i: int) -> tuple:
    """A fit without row i, its scores of the row, and how far they can be from the optimum's."""
    rest = np.arange(len(case.y)) != i
    weight = _weights(model, case)
    other = clone(model)
    for name, value in {"tol": 1e-12, "class_weight": None, "gamma": None}.items():
        if name in other.get_params():
            other.set_params(**{name: model.gamma_ if name == "gamma" else value})
    other.fit(case.X[rest], case.y[rest], None if weight is None else weight[rest])
    f = other.decision_function(case.X[[i]])[0]
    proof = other.certificate_
    if not hasattr(proof, "dual"):
        return other, f, 1e-9 * max(1.0, proof.condition) * (1.0 + float(np.abs(f).max()))
    if isinstance(model, KernelSVM):
        reach = 2.0 * float(np.sqrt(other._expansion.points.kernel.diagonal(case.X).max()))
    else:
        reach = float(score_reach(as_rows(sparse.csr_matrix(case.X)), True, 2.0).max()) + 1.0
    return other, f, distance_bound(proof) * reach


def _weights(model, case: Case) -> np.ndarray | None:
    """With the weights of the classes, as they are with all rows."""
    if getattr(model, "class_weight", None) is None:
        return case.weight
    from maxmargin.models.validation import check_known

    return check_known(model, case.X, case.y, case.weight)[2]


def counted(seed: int, kinds) -> tuple[str, Counter]:
    """One problem; tells at once of what differs or fails."""
    case, count = random_case(seed, kinds), Counter(problems=1)
    try:
        with time_limit(LONGEST_PROBLEM):
            found = check(case)
    except Exception as failure:  # all others are still counted
        told = f"{type(failure).__name__}: {failure}".replace("\n", " ")[:300]
        print(f"seed {seed}, {case.kind}, fails: {told}", flush=True)
        return case.kind, count + Counter(failed=1)
    if found is None:
        return case.kind, count + Counter(refused=1)
    if found.wrong or found.beyond > 0.0:
        told = f"{found.wrong} labels wrong, beyond {found.beyond:.1e}"
        print(f"seed {seed}, {case.kind}: {told}", flush=True)
    return case.kind, count + Counter({
        "rows": len(case.y), "labels wrong": found.wrong, "labels differ": found.differ,
        "scores beyond": int(found.beyond > 0.0), "untold": found.untold,
    })  # fmt: skip


Counts = dict[str, Counter]


def soak(seeds: range, end: float, kinds) -> Counts:
    """These problems, as long as there is time until ``end`` on the clock of the machine."""
    counts: Counts = defaultdict(Counter)
    for seed in seeds:
        if time.time() > end:
            break
        kind, count = counted(seed, kinds)
        counts[kind] += count
    return dict(counts)


def soak_side_by_side(asked) -> Counts:
    """Some seeds at a time for each process; what a process that dies had in hand is failed."""
    kinds = (asked.kind,) if asked.kind else KINDS
    last, deadline = asked.seed + asked.most, time.time() + asked.seconds
    starts = range(asked.seed, last, TOGETHER)
    counts: Counts = defaultdict(Counter)
    with ProcessPoolExecutor(asked.processes, get_context("spawn")) as pool:
        work = [range(start, min(start + TOGETHER, last)) for start in starts]
        waiting = {pool.submit(soak, seeds, deadline, kinds): seeds for seeds in work}
        for done in as_completed(waiting):
            for kind, count in _answer(done, waiting[done]).items():
                counts[kind] += count
    return counts


def _answer(done: Future, seeds: range) -> Counts:
    try:
        return done.result()
    except Exception as failure:
        print(f"seeds {seeds.start} to {seeds.stop - 1}: {type(failure).__name__}: {failure}")
        return {"process died": Counter(problems=len(seeds), failed=len(seeds))}


def table(counts: Counts) -> str:
    """A line for each kind, and one for all."""
    widths = [max(8, len(column)) + 2 for column in COLUMNS]
    everything = sum(counts.values(), Counter())
    lines = [("kind", *COLUMNS)]
    for kind, count in (*sorted(counts.items()), ("all", everything)):
        lines.append((kind, *(str(count[column]) for column in COLUMNS)))
    return "\n".join(
        first.ljust(14) + "".join(map(str.rjust, rest, widths)) for first, *rest in lines
    )


def last_line(counts: Counts) -> str:
    """All that matters of a run."""
    whole = sum(counts.values(), Counter())
    return (
        f"{whole['problems']} problems, {whole['rows']} rows left out: "
        f"{whole['labels wrong']} labels wrong, "
        f"{whole['scores beyond']} problems with a score beyond its tolerance, "
        f"{whole['failed']} failed, {whole['refused']} refused"
    )


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    counts = soak_side_by_side(parser.parse_args(arguments))
    print(table(counts), "\n")
    print(last_line(counts))
    bad = ("failed", "labels wrong", "scores beyond")
    return int(any(count[what] for count in counts.values() for what in bad))


if __name__ == "__main__":
    sys.exit(main())
