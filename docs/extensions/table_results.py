"""Tables of *Measured* about real tables: the default method, and the command line beside peers."""

from __future__ import annotations

from typing import Any

import numpy as np
from cells import Table


def default_rule(found: Any) -> list[Table]:
    """Differences to svm, over tables of many classes and of two."""
    rows = found["results"]
    return [
        Table(
            (
                "method",
                "balanced accuracy",
                "better, worse on",
                "accuracy",
                "time",
                "classes never predicted",
            ),
            [_against_svm(rows, method, many) for method in _methods(rows, many)],
            f"{_count(rows, many)} tables with {'more than two' if many else 'two'} classes",
        )
        for many in (True, False)
    ]


def _of(rows: list[dict], many: bool) -> dict[tuple[str, str], dict]:
    return {(r["table"], r["method"]): r for r in rows if (r["classes"] > 2) == many}


def _methods(rows: list[dict], many: bool) -> list[str]:
    return list(dict.fromkeys(method for _, method in _of(rows, many)))


def _count(rows: list[dict], many: bool) -> int:
    return len({table for table, _ in _of(rows, many)})


def _against_svm(rows: list[dict], method: str, many: bool) -> tuple[str, ...]:
    known = _of(rows, many)
    pairs = [(r, known[table, "svm"]) for (table, name), r in known.items() if name == method]
    never = str(sum(a["never_predicted"] for a, _ in pairs))
    if method == "svm":
        mean = np.mean([a["balanced_accuracy"] for a, _ in pairs])
        right = np.mean([a["accuracy"] for a, _ in pairs])
        return method, f"{mean:.3f}", "", f"{right:.3f}", "1", never
    gain = np.array([a["balanced_accuracy"] - b["balanced_accuracy"] for a, b in pairs])
    right = np.mean([a["accuracy"] - b["accuracy"] for a, b in pairs])
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    wins = f"{(gain > 0).sum()}, {(gain < 0).sum()}"
    both = [(a["seconds"], b["seconds"]) for a, b in pairs if a["seconds"] and b["seconds"]]
    time = f"{np.exp(np.mean([np.log(a / b) for a, b in both])):.2f}"
    return method, f"{gain.mean():+.3f} ± {error:.3f}", wins, f"{right:+.3f}", time, never


PEERS = ("LinearSVC", "LogisticRegression")
WAYS = ("ours", "ours, same score", *PEERS, "LogisticRegression, other folds")


def real_tables(found: Any) -> list[Table]:
    """All ways together, and table by table."""
    rows = found["results"]
    ended = sum(r["ended"] and r["constant_said"] for r in rows)
    heads = ("way", "balanced accuracy", "to the better of two peers: mean", "median",
             "within one standard error", "within two")  # fmt: skip
    each = ("table", "rows", "classes", *WAYS, "same score, to the better", "first line")
    title = f"{ended} of {len(rows)} tables ended as they should, constants called constants"
    over = f"over {len(rows)} tables"
    return [
        Table(heads, [_over_tables(rows, way) for way in WAYS], over),
        Table(
            ("peer", "to the other: mean", *heads[3:]),
            [_apart(rows, *PEERS), _apart(rows, *PEERS[::-1])],
            "the peers, each beside the other",
        ),
        Table(each, [_line(r) for r in rows], title),
    ]


def _over_tables(rows: list[dict], way: str) -> tuple[str, ...]:
    mean = np.mean([r[way] for r in rows])
    return way, f"{mean:.3f}", *_differences([r["behind"][way] for r in rows])


def _apart(rows: list[dict], peer: str, other: str) -> tuple[str, ...]:
    return f"{peer}, to {other}", *_differences([r["apart"][peer] for r in rows])


def _differences(pairs: list) -> tuple[str, ...]:
    """Of differences and their standard errors: mean and median, and how many are near or above."""
    behind = np.array(pairs)
    near = [int((behind[:, 0] >= -times * behind[:, 1] - 1e-12).sum()) for times in (1, 2)]
    return f"{behind[:, 0].mean():+.4f}", f"{np.median(behind[:, 0]):+.4f}", *map(str, near)


def _line(r: dict) -> tuple[str, ...]:
    mean, error = r["behind"]["ours, same score"]
    return (
        r["name"], str(r["rows"]), str(r["classes"]), *(f"{r[way]:.3f}" for way in WAYS),
        f"{mean:+.3f} ± {error:.3f}", str(r["verdict"]),
    )  # fmt: skip
