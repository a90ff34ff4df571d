"""Which method should ``maxmargin fit`` take unless told?  python -m benchmarks.default_rule

Real tables (``public_tables``), 30 % of each class held out, C chosen as ``fit`` chooses it; for
each method the balanced accuracy and the accuracy on the rows held out, and processor seconds of
choosing and fitting where nothing was compiled.  Two classes have one rule only.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyarrow as pa

from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.models.compiling import compile_seconds
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table

from .public_tables import PublicTable, public_tables
from .run import save

METHODS = ("svm", "svm-sum", "svm-rest", "logistic", "fisher")
HELD_OUT, SEED, BUDGET = 0.3, 0, 60.0


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--only", nargs="*", help="names of tables")
    given = reader.parse_args()
    rows = []
    for table in public_tables():
        if given.only and table.name not in given.only:
            continue
        rows += judge(table)
        if not given.only:
            save(rows, "default_rule.json")
    summarise(rows)


def judge(table: PublicTable) -> list[dict]:
    """Every method on one table."""
    frame = table.frame.dropna(subset=[table.target])
    counts = frame[table.target].value_counts()
    frame = frame[frame[table.target].isin(counts[counts >= 4].index)].astype({table.target: str})
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    classes = int(frame[table.target].nunique())
    methods = METHODS if classes > 2 else ("svm", "logistic", "fisher")
    return [one(table, arrow, classes, method) for method in methods]


def one(table: PublicTable, arrow: pa.Table, classes: int, method: str) -> dict:
    data = label_table(arrow, table.target, None, table.name)
    began, compiled = time.process_time(), compile_seconds()
    plan = Plan(method, budget=BUDGET, threads=1, seed=SEED)
    fitted = fit_table(data, plan, Choices(), holdout=HELD_OUT)
    seconds = time.process_time() - began if compile_seconds() == compiled else None
    counts = fitted.test.table
    recall = counts.diagonal() / np.maximum(counts.sum(axis=1), 1)
    row = {
        "table": table.name, "rows": len(data), "classes": classes, "method": method,
        "balanced_accuracy": float(recall.mean()), "accuracy": 1.0 - fitted.test.share,
        "never_predicted": len(fitted.verdict.never), "proved": fitted.proved, "seconds": seconds,
    }  # fmt: skip
    print(
        f"{row['table']:<20} {classes:3d} {method:<9} balanced {row['balanced_accuracy']:.3f} "
        f"accuracy {row['accuracy']:.3f} {seconds or np.nan:7.2f} s", flush=True,
    )  # fmt: skip
    return row


def summarise(rows: list[dict]) -> None:
    """Differences to the present default over tables, with their standard errors."""
    for many in (True, False):
        tables = sorted({row["table"] for row in rows if (row["classes"] > 2) == many})
        known = {(row["table"], row["method"]): row for row in rows}
        print(f"\n{len(tables)} tables of {'more classes' if many else 'two classes'}")
        for method in METHODS:
            pairs = [
                (known[name, method], known[name, "svm"])
                for name in tables
                if (name, method) in known and (name, "svm") in known
            ]
            if not pairs:
                continue
            gain = np.array([a["balanced_accuracy"] - b["balanced_accuracy"] for a, b in pairs])
            right = np.array([a["accuracy"] - b["accuracy"] for a, b in pairs])
            times = [
                np.log2(a["seconds"] / b["seconds"])
                for a, b in pairs
                if a["seconds"] and b["seconds"]
            ]
            error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
            never = sum(a["never_predicted"] for a, _ in pairs)
            print(
                f"  {method:<9} balanced {gain.mean():+.4f} ± {error:.4f}, better on "
                f"{(gain > 0).sum()}, worse on {(gain < 0).sum()}; accuracy {right.mean():+.4f}; "
                f"time × {2 ** np.mean(times):.2f}; never predicted {never}"
            )


if __name__ == "__main__":
    main()
