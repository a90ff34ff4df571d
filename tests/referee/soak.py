"""Fit, check, count: ``python -m tests.referee.soak --seconds 3600 --seed 1``.

For every family and estimator: fits; how many the library calls proved, to the tolerance asked for;
how many claims the referee confirms, does not confirm, or refutes.  Of those refuted: how many are
off by more than 1e-9 of the objective ("serious"), wrong about the model ("gap") and not only about
the bound, and called proved by the library.
"strict" counts claims smaller than what the multipliers prove, by however little; "worst" is the
largest true excess behind a refuted claim, relatively.

"beyond float64" counts fits without a proof of which it is proved that no float64 weights or
coefficients at all have the gap asked for; "open %" are those without a proof that are not such.
Limits of fits are counted in processor time, so that other programs do not change what is found.

What is refuted is kept under ``cases/``, where a test replays it for ever.  The same seed poses the
same problems; with ``--processes`` the seeds that follow it are tried side by side.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from threading import Event

from maxmargin.referee import Unknown, check

from .problems import ESTIMATORS, FAMILIES, Posed, problem

CASES = Path(__file__).parent / "cases"
# Forgiven relative to the objective: what printing and summing a claim in float64 may cost.
SLACK = 1e-12
# Of every family and kind of estimator so many refuted cases are kept.
KEEP = 2
LONGEST = 60
# Problems of every family that a process counts before it tells.
TOGETHER = 3
DEFAULT_TOL = 1e-6
# Families whose fits compile nearly all kernels: dense and sparse rows, float32, several solvers.
COMPILED_FAMILIES = ("ordinary", "float32", "scales", "sparse", "hard")
# What a certificate says where it proves that no float64 do.
BEYOND = "which is proved"
COLUMNS = (
    "fits", "proved", "beyond float64", "confirmed", "not confirmed", "refuted", "serious", "gap",
    "proved false", "no claim", "refused", "error",
)  # fmt: skip
# A claim that is off by more than this, relative to the objective, is seriously so.
SERIOUS = 1e-9


class Tally(Counter):
    """What became of the problems of one family and kind; ``worst`` true excess, relatively."""

    worst = 0.0
    strict = 0

    def __reduce__(self):
        return Tally._restored, (dict(self), self.worst, self.strict)

    @classmethod
    def _restored(cls, counts: dict, worst: float, strict: int) -> Tally:
        tally = cls(counts)
        tally.worst, tally.strict = worst, strict
        return tally

    def absorb(self, other: Tally) -> None:
        self.update(other)
        self.strict += other.strict
        self.worst = max(self.worst, other.worst)

    def share(self, what: str) -> str:
        return f"{100 * self[what] / self['fits']:.2f}%" if self["fits"] else "-"


def judge(posed: Posed, slack: float = SLACK):
    """The fitted model and the report; a refusal in words is no answer, and (None, error)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = posed.fit()
    except ValueError as refusal:
        return None, refusal
    weight = posed.weight
    return model, check(model, posed.data(), posed.targets(), weight, slack)


def proved(model) -> bool:
    """Whether the library says so, to the tolerance asked for."""
    certificates = getattr(model, "certificates_", None) or [model.certificate_]
    tol = getattr(getattr(model, "estimator", model), "tol", None) or DEFAULT_TOL
    return all(not hasattr(each, "holds") or each.holds(tol) for each in certificates)


def beyond_float64(model) -> bool:
    """Whether the library proves that none can be proved."""
    certificates = getattr(model, "certificates_", None) or [model.certificate_]
    return any(BEYOND in getattr(each, "method", "") for each in certificates)


def one(posed: Posed, tally: Tally, slack: float, keep: int, name: str) -> None:
    """Fit and check one problem, and count what came of it."""
    tally["tried"] += 1
    try:
        with time_limit(LONGEST):
            model, report = judge(posed, slack)
    except Unknown:
        tally["unknown"] += 1
        return
    except Exception as failure:
        tally["error"] += 1
        print(f"error: {name} {posed.kind}: {type(failure).__name__}: {failure}"[:200])
        return
    if model is None:
        tally["refused"] += 1
        return
    tally["fits"] += 1
    tally["proved"] += proved(model)
    tally["beyond float64"] += not proved(model) and beyond_float64(model)
    tally[report.verdict] += 1
    if report.true_gap is not None and report.claimed is not None:
        tally.strict += report.true_gap > report.claimed
    if report.verdict != "refuted":
        return
    print(f"refuted: {name} {posed.kind}: claimed {report.claimed}, {report.notes}"[:300])
    tally["gap"] += report.fault == "gap"
    tally["serious"] += report.short is None or report.short > SERIOUS
    tally["proved false"] += proved(model)
    if report.excess and report.primal:
        tally.worst = max(tally.worst, report.excess[0] / abs(report.primal))
    if tally["refuted"] <= keep:
        store(posed, report, name)


def store(posed: Posed, report, name: str) -> None:
    """Keep a refuted case; ``xfail`` is for a reason why it is known to fail."""
    posed.notes = {
        "xfail": "",
        "found": {"claimed": report.claimed, "excess": report.excess, "notes": report.notes},
    }
    CASES.mkdir(exist_ok=True)
    text = json.dumps(posed.to_dict(), indent=None)
    (CASES / f"{name.replace(' ', '_')}.json").write_text(text + "\n", encoding="utf-8")


@contextmanager
def time_limit(seconds: int):
    def stop(*_):
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of the processor: other programs take no time
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


Tallies = dict[tuple[str, str], Tally]


def soak(numbers, seed: int, families, estimator=None, slack=SLACK, keep=KEEP) -> Tallies:
    """{(family, kind): Tally} of the problems of these numbers."""
    tallies: Tallies = defaultdict(Tally)
    for number in numbers:
        for family in families:
            posed = problem(seed, number, family, estimator)
            name = f"{family}-{posed.estimator}-{seed}-{number}"
            one(posed, tallies[family, posed.kind], slack, keep, name)
    return dict(tallies)


def soak_side_by_side(
    processes: int, seconds: float, seed: int, most: int | None, stop: Event, *options
) -> Iterator[Tallies]:
    """Tallies of so many seeds, some problems at a time, until the time is over, or ``stop``."""
    end, limit = time.monotonic() + seconds, most or sys.maxsize
    numbers = {seed + which: 0 for which in range(processes)}
    waiting: dict[Future, int] = {}
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_begin) as pool:
        while not stop.is_set():
            for each in [each for each in numbers if each not in waiting.values()]:
                if numbers[each] < limit and time.monotonic() < end:
                    some = range(numbers[each], min(numbers[each] + TOGETHER, limit))
                    waiting[pool.submit(soak, some, each, *options)] = each
                    numbers[each] = some.stop
            if not waiting:
                return
            for done in wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED).done:
                del waiting[done]
                yield done.result()
        for process in list(pool._processes.values()):
            process.kill()


def _begin() -> None:
    """Signals are for the process that counts; the seconds of a fit are those of its processor,
    without those in which its kernels are compiled."""
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, signal.SIG_IGN)
    _compile()
    time.perf_counter = time.process_time


def _compile() -> None:
    """Fit what needs most kernels once, without a limit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, (family, estimator) in enumerate(product(COMPILED_FAMILIES, ESTIMATORS)):
            posed = problem(0, number, family, estimator)
            posed.params.pop("max_seconds", None)
            with suppress(ValueError):
                posed.fit()


def table(tallies, by: int) -> str:
    """By family (0) or by estimator (1)."""
    rows: dict[str, Tally] = defaultdict(Tally)
    for key, tally in tallies.items():
        for name in (key[by], "all"):
            rows[name].absorb(tally)
    head = ["", *COLUMNS, "false %", "unproved %", "open %", "strict", "worst"]
    lines = []
    for name in sorted(rows, key=lambda name: (name == "all", name)):
        tally = rows[name]
        tally["unproved"] = tally["fits"] - tally["proved"]
        tally["open"] = tally["unproved"] - tally["beyond float64"]
        lines.append(
            [name, *(str(tally[what]) for what in COLUMNS), tally.share("refuted"),
             tally.share("unproved"), tally.share("open"), str(tally.strict), f"{tally.worst:.0e}"]
        )  # fmt: skip
    widths = [max(len(line[j]) for line in [head, *lines]) for j in range(len(head))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in [head, *lines]
    )


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one")
    parser.add_argument("--family", choices=FAMILIES, action="append")
    parser.add_argument("--estimator", choices=tuple(ESTIMATORS))
    parser.add_argument("--slack", type=float, default=SLACK)
    parser.add_argument("--keep", type=int, default=KEEP)
    parser.add_argument("--most", type=int, default=None, help="problems of every family")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(arguments)
    seed = int.from_bytes(os.urandom(3)) if given.seed is None else given.seed
    families = given.family or FAMILIES
    begun, tallies = time.monotonic(), defaultdict(Tally)
    stop = Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: stop.set())
    options = stop, families, given.estimator, given.slack, given.keep
    for part in soak_side_by_side(given.processes, given.seconds, seed, given.most, *options):
        for key, tally in part.items():
            tallies[key].absorb(tally)
    if stop.is_set():
        print("stopped; what follows is what was counted until then")
    print(f"seed {seed}, {time.monotonic() - begun:.0f} s, slack {given.slack:g}\n")
    print(table(tallies, 0), "\n")
    print(table(tallies, 1), "\n")
    print(last_line(tallies))
    return int(any(tally["refuted"] or tally["error"] for tally in tallies.values()))


def last_line(tallies) -> str:
    """All that matters of a run."""
    whole = Tally()
    for tally in tallies.values():
        whole.absorb(tally)
    unproved = whole["fits"] - whole["proved"]
    share = 100.0 * unproved / max(1, whole["fits"])
    return (
        f"{whole['fits']} fits: {whole['refuted']} false certificates, {unproved} fits without a "
        f"proof ({share:.2f} %), of which {whole['beyond float64']} are beyond float64, "
        f"{whole['error']} errors"
    )


if __name__ == "__main__":
    sys.exit(main())
