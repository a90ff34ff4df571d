"""Tables of *Measured*, from ``benchmarks/results/*.json``: rows of text, nothing typed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import other_tables
import table_results
from cells import RESULTS, Table, ratio, seconds, size, small

# A peer that never came to the error asked for is marked.
MISSED = " ✗"


@dataclass(frozen=True)
class Measured:
    """A file of results: who made it, when and how, and its tables."""

    name: str
    command: str
    when: str
    tables: list[Table]


def measured(name: str) -> Measured:
    """All tables of a file of results."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    command, make = MAKERS[name]
    return Measured(name, found.get("command", command), _when(found), make(found))


def _when(found: dict) -> str:
    """Date, machine and versions; a note where they were not in the file from the beginning."""
    machine = next(found[key] for key in ("device", "machine", "cpu") if key in found)
    python = f", Python {found['python']}" if "python" in found else ""
    note = f"; {found['note']}" if "note" in found else ""
    return f"{found['date']}, {machine}{python}, maxmargin {found['version']}{note}"


def races(found: Any) -> list[Table]:
    """Ours, certified, against the best run of every peer, by true error."""
    tables = []
    for penalized, title in ((False, ""), (True, "With a penalised bias, as LIBLINEAR has it")):
        cases = [
            r for r in found["results"] if _against(r) and bool(r.get("penalized")) is penalized
        ]
        whos = list(dict.fromkeys(_who(e) for case in cases for e in case["entries"]))
        if cases:
            heads = ("problem", *(_heading(who) for who in whos), "ours / quickest peer")
            tables.append(Table(heads, [_race(case, whos) for case in cases], title))
    others = [case for case in found["results"] if not _against(case)]
    alone = [(case["case"], e["who"], _entry(e)) for case in others for e in case["entries"]]
    heads = ("problem", "who", "time, gap")
    return tables + ([Table(heads, alone, "Without a race")] if alone else [])


def _against(case: dict) -> bool:
    """Whether peers were judged by their true error."""
    return any("ratio" in entry or entry.get("reached") is False for entry in case["entries"])


def _who(entry: dict) -> str:
    return entry["who"].split(" (")[0]


def _heading(who: str) -> str:
    return f"{who}: time, {'certified gap' if who == 'maxmargin' else 'true error'}"


def _race(case: dict, whos: list[str]) -> tuple[str, ...]:
    entries = {_who(entry): entry for entry in case["entries"]}
    won = [e["seconds"] for who, e in entries.items() if who != "maxmargin" and e.get("reached")]
    ours = entries["maxmargin"]["seconds"]
    quickest = ratio(ours / min(won)) if won else "no peer reached it"
    return (case["case"], *(_entry(entries.get(who)) for who in whos), quickest)


def _entry(entry: dict | None) -> str:
    if entry is None:
        return "–"
    error = entry.get("certified_gap", entry.get("error"))
    return f"{seconds(entry['seconds'])}, {small(error)}" + (
        "" if entry.get("reached", True) else MISSED
    )


def multiclass(found: Any) -> list[Table]:
    """The "max" rule to 1e-3 against the first run of each peer that is as good."""
    rows = []
    for case in found["results"]:
        ours = case["maxmargin"]["0.001"]
        peers = [(_first(runs, 1e-3), who) for who, runs in case["peers"].items()]
        runs = sorted((run["seconds"], run["error"], who) for run, who in peers if run)
        peer = f"{runs[0][2]}: {seconds(runs[0][0])}, {small(runs[0][1])}" if runs else "none"
        rows.append((
            case["case"], f"{seconds(ours['seconds'])}, {small(ours['certified_gap'])}", peer,
            ratio(ours["seconds"] / runs[0][0]) if runs else "–",
            ratio(case.get("sum", {}).get("ratio_to_max")),
        ))  # fmt: skip
    return [Table(("problem", "maxmargin “max”, certified", "quickest peer, true error", "ratio",
                   "“sum” / “max”"), rows)]  # fmt: skip


def _first(runs: Iterable[dict], target: float) -> dict | None:
    return min((r for r in runs if r["error"] <= target), key=lambda r: r["seconds"], default=None)


def closed_forms(found: Any) -> list[Table]:
    rows = [
        (r["case"], seconds(r["ours_seconds"]), f"{r['peer']}: {seconds(r['peer_seconds'])}",
         ratio(r["ratio"]), small(r["error"]), small(r["peer_error"]), r["how"])
        for r in found["results"]
    ]  # fmt: skip
    heads = ("problem", "maxmargin", "scikit-learn", "ratio", "our residual", "its residual", "how")
    return [Table(heads, rows)]


def rules(found: Any) -> list[Table]:
    whats = [key for key in found["results"][0] if key != "data"]
    rows = [
        (r["data"], *(f"{r[w][0]:.1f} ± {r[w][1]:.1f}" if r.get(w) else "–" for w in whats))
        for r in found["results"]
    ]
    return [Table(("data: test error in %", *whats), rows)]


def select(found: Any) -> list[Table]:
    races = [r for r in found["results"] if "ours" in r]
    rows = [
        (r["case"], f"{seconds(r['ours']['seconds'])}, {small(r['ours']['worst_error'])}",
         f"{seconds(r['peer']['seconds'])}, {small(r['peer']['worst_error'])}", ratio(r["ratio"]),
         ratio(r["path"]["ratio"]))
        for r in races
    ]  # fmt: skip
    heads = ("problem", "maxmargin: time, worst error", "peer: time, worst error", "ratio",
             "path / one cold fit at the largest C")  # fmt: skip
    threads = [r for r in found["results"] if "speedup" in r]
    more = [(r["case"], seconds(r["one"]), seconds(r["two"]), ratio(r["speedup"])) for r in threads]
    second = Table(("search", "one thread", "two threads", "times as fast"), more, "Two threads")
    return [Table(heads, rows), *([second] if more else [])]


def ranking(found: Any) -> list[Table]:
    results = found["results"]
    return [
        Table(("pairs of items", "ours to 1e-3", "ours to 1e-6", "LinearSVC to 1e-3",
               "LinearSVC to 1e-6"), [_objects(r) for r in results if "forming" in r],
              "Given pairs; forming the differences counts for LinearSVC"),
        Table(("grades", "pairs", "counted", "listed"),
              [_grades(r) for r in results if "counted" in r], "Implied pairs, certified 1e-6"),
        Table(("pairs of labels", "ours", "ours, free biases", "LinearSVC, expanded", "ratio"),
              [_labels(r) for r in results if "free_biases" in r], "Labels"),
        Table(("data", "NDCG@10", "Kendall’s τ", "pair accuracy"),
              [(r["case"].removeprefix("quality, "), f"{r['ndcg@10']:.3f}", f"{r['tau']:.3f}",
                f"{r['pair_accuracy']:.3f}") for r in results if "ndcg@10" in r],
              "Quality: grades"),
        Table(("data: Kendall’s τ", "LabelRanker", "LinearRegression on ranks", "mean ranks"),
              [(r["case"].removeprefix("quality, labels, "), *(f"{r[k]:.3f}" for k in (
                  "LabelRanker", "LinearRegression on ranks", "mean ranks")))
               for r in results if "LabelRanker" in r], "Quality: labels"),
    ]  # fmt: skip


def _objects(r: dict) -> tuple[str, ...]:
    peers = [_first(r["peer"], target) for target in (1e-3, 1e-6)]
    told = [seconds(peer["seconds"] + r["forming"]) if peer else "never" for peer in peers]
    return (r["case"].removeprefix("objects, "), *(seconds(r["ours"][t]["seconds"])
            for t in ("0.001", "1e-06")), *told)  # fmt: skip


def _grades(r: dict) -> tuple[str, ...]:
    told = [
        f"{seconds(r[way]['seconds'])}, {size(r[way]['bytes'])}" if way in r else "–"
        for way in ("counted", "listed")
    ]
    return (r["case"].removeprefix("grades, "), f"{r['pairs']:,}", *told)


def _labels(r: dict) -> tuple[str, ...]:
    peer = r["peer"]["building"] + r["peer"]["fitting"]
    ours = [seconds(r[way]["seconds"]) for way in ("ours", "free_biases")]
    return (r["case"].removeprefix("labels, "), *ours, seconds(peer), ratio(r["ratio_free"]))


Maker = Callable[[Any], list[Table]]
MAKERS: dict[str, tuple[str, Maker]] = {
    "linear_svm": ("python -m benchmarks.run --data folder", races),
    "multiclass": ("python -m benchmarks.multiclass --data folder", multiclass),
    "rules": ("python -m benchmarks.rules --data folder", rules),
    "softmax": ("python -m benchmarks.softmax --data folder", races),
    "ranking": ("python -m benchmarks.ranking --data folder", ranking),
    "closed_forms": ("python -m benchmarks.closed_forms", closed_forms),
    "kernel_svm": ("python -m benchmarks.kernel_svm --data folder", races),
    "select": ("python -m benchmarks.select --data folder", select),
    "sentiment": ("python -m benchmarks.sentiment --data folder", other_tables.sentiment),
    "accelerate": ("python -m benchmarks.accelerate --data folder", other_tables.accelerate),
    "accelerate_same": (
        "python -m benchmarks.accelerate_same --data folder",
        other_tables.accelerate_same,
    ),
    "accelerate_overhead": ("python -m benchmarks.accelerate_overhead", other_tables.anything),
    "chances": ("python -m benchmarks.chances", other_tables.chances),
    "leave_one_out": (
        "python -m benchmarks.leave_one_out --a9a file --out file",
        other_tables.leave_one_out,
    ),
    "curves": ("python -m benchmarks.curves", other_tables.curves),
    "many_fits": ("python -m benchmarks.many_fits --out file", other_tables.many_fits),
    "perceptron": ("python -m benchmarks.perceptron", other_tables.perceptrons),
    "probes": ("python -m benchmarks.probes --out file", other_tables.probes),
    "default_rule": ("python -m benchmarks.default_rule", table_results.default_rule),
    "real_tables": ("python -m benchmarks.real_tables", table_results.real_tables),
    "crossover": ("python -m benchmarks.crossover", other_tables.crossover),
    "spread": ("make bench-spread", other_tables.spread),
    "threads": ("python -m benchmarks.threads --data folder", other_tables.threads),
    "footprint": ("python -m benchmarks.footprint", other_tables.anything),
    "files": ("python -m benchmarks.files", other_tables.anything),
}


# What README.md tells: a file, one of its cases, and the problem in words.
README_CASES = (
    ("linear_svm", "dense 50k×50", "SVM, dense 50k×50"),
    ("linear_svm", "dense 50k×50, scales 1e-3…1e3", "the same, columns scaled by 1e-3…1e3"),
    ("linear_svm", "a9a, C=100", "SVM, a9a, C=100"),
    ("multiclass", "20newsgroups tf-idf, C=10", "SVM of 20 classes, 20newsgroups tf-idf, C=10"),
    ("kernel_svm", "MNIST 10k odd/even, C=1", "RBF kernel, MNIST 10k odd/even"),
    ("multiclass", "letter, C=1", "SVM of 26 classes, letter 15k×16"),
)


def readme_lines() -> list[str]:
    """The rows of README.md: problem, ours certified, LinearSVC or the quickest peer, ratio."""
    return [f"| {words} | {' | '.join(_told(name, case))} |" for name, case, words in README_CASES]


def write_readme(path: Path) -> None:
    """Put the rows into README.md, where the table of what was measured has its rows."""
    head, rule, rest = path.read_text(encoding="utf-8").partition("| --- | --- | --- | --- |\n")
    tail = rest[rest.index("\n\n") :]
    path.write_text(head + rule + "\n".join(readme_lines()) + tail, encoding="utf-8")


def _told(name: str, case: str) -> tuple[str, ...]:
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    result = next(r for r in found["results"] if r["case"] == case and not r.get("penalized"))
    if name == "multiclass":
        return multiclass({"results": [result]})[0].rows[0][1:4]
    ours, *peers = result["entries"]
    peer = next(entry for entry in peers if _who(entry) in ("LinearSVC", "SVC"))
    return _entry(ours), f"{_who(peer)}: {_entry(peer)}", ratio(ours["seconds"] / peer["seconds"])


if __name__ == "__main__":
    write_readme(RESULTS.parents[1] / "README.md")
