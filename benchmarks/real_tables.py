"""The command line on real tables: make tables  (python -m benchmarks.real_tables [--only NAME …])

Every table is split, 70 % of each class to train on.  ``fit``, ``predict``, ``evaluate`` and
``compare`` run on the files, and must end with code 0 (``fit``: or 1, not proved) or with a
sentence.  The model's balanced accuracy on the other rows is compared with the better of
scikit-learn's LinearSVC and LogisticRegression, scaled, with C chosen by balanced accuracy over
five folds; and a model that always gives one answer must say so in its first line.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np

from .public_tables import PublicTable, public_tables
from .run import save

TRAINING_SHARE, SEED, FOLDS = 0.7, 0, 5
COMPARE_BUDGET = "10s"
PEER_CS = np.logspace(-3, 3, 7)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--only", nargs="*", help="names of tables")
    reader.add_argument(
        "--seconds", type=float, default=np.inf, help="begin no table after so many"
    )
    given = reader.parse_args()
    began, rows = time.perf_counter(), []
    for table in public_tables():
        if given.only and table.name not in given.only:
            continue
        if time.perf_counter() - began > given.seconds:
            break
        row = judge(table)
        rows.append(row)
        print(line(row), flush=True)
    if not given.only:
        save(rows, "real_tables.json")
    good = [row for row in rows if row["ended"] and row["as_good"] and row["constant_said"]]
    print(f"{len(good)} of {len(rows)} tables pass")
    sys.exit(len(good) < len(rows))


def judge(table: PublicTable) -> dict[str, Any]:
    """One table through all commands, and through scikit-learn."""
    from sklearn.model_selection import train_test_split

    frame = table.frame.dropna(subset=[table.target])
    counts = frame[table.target].value_counts()
    frame = frame[frame[table.target].isin(counts[counts >= 4].index)]
    train, test = train_test_split(
        frame, train_size=TRAINING_SHARE, stratify=frame[table.target], random_state=SEED
    )
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        train.to_csv("train.csv", index=False)
        test.to_csv("test.csv", index=False)
        told, ended, seconds = run_commands(table.target)
    peers = dict(peer_scores(train, test, table.target))
    best = max(peers.values())
    ours, error, constant = read_confusion(told.get("evaluate"))
    said = (told.get("fit") or {}).get("verdict", {}).get("status")
    return {
        "name": table.name, "rows": len(frame), "columns": frame.shape[1] - 1,
        "classes": int(frame[table.target].nunique()), "ours": ours, "standard_error": error,
        **peers, "as_good": bool(ours >= best - error), "ended": all(ended.values()),
        "commands": ended, "verdict": said, "seconds": seconds,
        "constant_said": not constant or said == "no better",
        "recommended": (told.get("compare") or {}).get("recommendation"),
    }  # fmt: skip


def run_commands(target: str) -> tuple[dict, dict, dict]:
    """What each command told as JSON, whether it ended as it should, and its seconds."""
    commands = {
        "fit": ["fit", "train.csv", "-t", target, "--json"],
        "predict": ["predict", "model.maxmargin", "test.csv", "-o", "out.csv"],
        "evaluate": ["evaluate", "model.maxmargin", "test.csv", "--json"],
        "compare": ["compare", "train.csv", "-t", target, "--budget", COMPARE_BUDGET, "--json"],
    }
    told, ended, seconds = {}, {}, {}
    for name, arguments in commands.items():
        began = time.process_time()
        code, out, err = run(arguments)
        seconds[name] = time.process_time() - began
        sentence = err.startswith("maxmargin: ") and "fault of maxmargin" not in err
        ended[name] = code == 0 or (name == "fit" and code == 1) or (code == 2 and sentence)
        with contextlib.suppress(ValueError):
            told[name] = json.loads(out)
        if not ended[name]:
            print(f"{name}: code {code}: {err[-300:]}", file=sys.stderr)
    return told, ended, seconds


def run(arguments: list[str]) -> tuple[int, str, str]:
    """The real program, in this process: kernels are compiled once."""
    from maxmargin.app.cli.app import main as program

    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            program(arguments)
        except SystemExit as ending:
            code = int(ending.code or 0)
    return code, out.getvalue(), err.getvalue()


def read_confusion(told: dict | None) -> tuple[float, float, bool]:
    """Balanced accuracy, its standard error, and whether one answer was always given."""
    if told is None:
        return np.nan, 0.0, False
    counts = np.array(told["confusion"])
    rows = counts.sum(axis=1)
    recall, rows = counts.diagonal()[rows > 0] / rows[rows > 0], rows[rows > 0]
    error = np.sqrt((recall * (1.0 - recall) / rows).sum()) / len(rows)
    return float(recall.mean()), float(error), int((counts.sum(axis=0) > 0).sum()) == 1


def peer_scores(train, test, target: str):
    """scikit-learn's, as its users would make them."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import LinearSVC

    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    X, y = train.drop(columns=target), train[target].astype(str)
    for name, model in (("LinearSVC", LinearSVC()), ("LogisticRegression", LogisticRegression())):
        whole = make_pipeline(columns, model)
        grid = {f"{name.lower()}__C": PEER_CS}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = GridSearchCV(whole, grid, scoring="balanced_accuracy", cv=folds).fit(X, y)
            said = search.predict(test.drop(columns=target))
            yield name, float(balanced_accuracy_score(test[target].astype(str), said))


def line(row: dict) -> str:
    marks = [row["ended"], row["as_good"], row["constant_said"]]
    return (
        f"{row['name']:<20} {row['rows']:5d} rows {row['classes']:3d} classes  ours "
        f"{row['ours']:.3f} ± {row['standard_error']:.3f}  LinearSVC {row['LinearSVC']:.3f}  "
        f"LogisticRegression {row['LogisticRegression']:.3f}  {row['verdict']}  "
        + " ".join("ok" if mark else "NO" for mark in marks)
    )


if __name__ == "__main__":
    main()
