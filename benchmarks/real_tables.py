"""The command line on real tables: make tables  (python -m benchmarks.real_tables [--only NAME …])

``fit``, ``predict``, ``evaluate`` and ``compare`` run on files of every table, and must end with
code 0 (``fit``: or 1, not proved) or with a sentence; a model that always gives one answer must say
so in its first line.

How good: every table is cut into three parts, and each row is predicted by models of the other
two: ``fit`` as it is, ``fit --score balanced_accuracy``, and scikit-learn's LinearSVC and
LogisticRegression, scaled, with C chosen by balanced accuracy over five folds.  All predict the
same rows, so differences are counted row by row: the difference of balanced accuracies to the
better of the two peers, with its standard error.  The better one is known only afterwards, and of
methods that are equally good one in six is behind by more than one standard error.  What that
costs a method that is as good is measured: a third peer is LogisticRegression once more, its C
chosen on other folds; and the two peers are compared with one another.  The target fails if a
command does, if a constant is not called one, or if ours is within one standard error of the better
peer on fewer tables than that third peer.
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

PARTS, SEED, FOLDS = 3, 0, 5
COMPARE_BUDGET = "10s"
# Of sums of shares that are equal.
ROUNDING = 1e-12
PEER_CS = np.logspace(-3, 3, 7)
OURS = {"ours": (), "ours, same score": ("--score", "balanced_accuracy")}
PEERS = ("LinearSVC", "LogisticRegression")
# The second peer again, its folds dealt anew.
AGAIN, OTHER_FOLDS = "LogisticRegression, other folds", 1
WAYS = (*OURS, *PEERS, AGAIN)


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
    near = {way: tell(way, "the better peer", [row["behind"][way] for row in rows]) for way in WAYS}
    for way, other in (PEERS, PEERS[::-1]):
        tell(way, other, [row["apart"][way] for row in rows])
    sound = sum(row["ended"] and row["constant_said"] for row in rows)
    print(f"{sound} of {len(rows)} tables ended as they should, constants called constants")
    sys.exit(sound < len(rows) or near["ours, same score"] < near[AGAIN])


def tell(way: str, other: str, differences: list) -> int:
    """How a way compares with another over all tables; on how many it is within one error."""
    behind = np.array(differences)
    near = [int((behind[:, 0] >= -times * behind[:, 1] - ROUNDING).sum()) for times in (1, 2)]
    print(
        f"{way:<32} {behind[:, 0].mean():+.4f} to {other}; within one standard error {near[0]}, "
        f"within two {near[1]} of {len(behind)}"
    )
    return near[0]


def judge(table: PublicTable) -> dict[str, Any]:
    """One table through all commands, and through scikit-learn."""
    from sklearn.model_selection import StratifiedKFold

    frame = table.frame.dropna(subset=[table.target])
    counts = frame[table.target].value_counts()
    frame = frame[frame[table.target].isin(counts[counts >= 2 * PARTS].index)]
    true = as_words(frame[table.target])
    answers = {way: np.full(len(frame), "", dtype=object) for way in WAYS}
    told, ended, seconds = {}, {}, {}
    parts = StratifiedKFold(PARTS, shuffle=True, random_state=SEED).split(frame, true)
    for part, (rest, here) in enumerate(parts):
        train, test = frame.iloc[rest], frame.iloc[here]
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            train.to_csv("train.csv", index=False)
            test.to_csv("test.csv", index=False)
            if part == 0:
                told, ended, seconds = run_commands(table.target)
            for way, options in OURS.items():
                answers[way][here] = our_answers(table.target, options)
        for way in (*PEERS, AGAIN):
            answers[way][here] = peer_answers(way, train, test, table.target)
    scores = {way: float(recalls(true, said).mean()) for way, said in answers.items()}
    best = answers[max(PEERS, key=scores.__getitem__)]
    behind = {way: difference(true, said, best) for way, said in answers.items()}
    apart = difference(true, *(answers[peer] for peer in PEERS))
    mean, error = behind["ours, same score"]
    said = (told.get("fit") or {}).get("verdict", {}).get("status")
    constant = always_one_answer(told.get("evaluate"))
    return {
        "name": table.name, "rows": len(frame), "columns": frame.shape[1] - 1,
        "classes": len(set(true)), **scores, "behind": behind,
        "apart": {PEERS[0]: apart, PEERS[1]: (-apart[0], apart[1])},
        "as_good": bool(mean >= -error - ROUNDING),
        "ended": all(ended.values()), "commands": ended, "verdict": said, "seconds": seconds,
        "constant_said": not constant or said == "no better",
        "recommended": (told.get("compare") or {}).get("recommendation"),
    }  # fmt: skip


def as_words(labels: Any) -> np.ndarray:
    """Labels as the command line writes them: -1.0 is -1."""
    import pandas as pd

    numbers = pd.to_numeric(labels, errors="coerce")
    if numbers.isna().any():
        return labels.astype(str).to_numpy(dtype=object)
    return np.array([f"{number:g}" for number in numbers], dtype=object)


def recalls(true: np.ndarray, said: np.ndarray) -> np.ndarray:
    return np.array([(said[true == label] == label).mean() for label in np.unique(true)])


def difference(true: np.ndarray, said: np.ndarray, best: np.ndarray) -> tuple[float, float]:
    """Of balanced accuracies, and its standard error: both answer the same rows."""
    gain = (said == true).astype(float) - (best == true)
    classes = [gain[true == label] for label in np.unique(true)]
    error = np.sqrt(sum(each.var() / len(each) for each in classes)) / len(classes)
    return float(np.mean([each.mean() for each in classes])), float(error)


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


def our_answers(target: str, options: tuple[str, ...]) -> np.ndarray:
    """What ``fit`` and ``predict`` make of the files here."""
    import pandas as pd

    for arguments in (
        ["fit", "train.csv", "-t", target, *options],
        ["predict", "model.maxmargin", "test.csv", "-o", "answers.csv"],
    ):
        code, _, err = run(arguments)
        if code > 1:
            raise RuntimeError(f"{' '.join(arguments)}: code {code}: {err[-300:]}")
    told = pd.read_csv("answers.csv", dtype=str, keep_default_na=False)
    return as_words(told["prediction"])


def always_one_answer(told: dict | None) -> bool:
    return told is not None and int((np.array(told["confusion"]).sum(axis=0) > 0).sum()) == 1


def peer_answers(way: str, train, test, target: str) -> np.ndarray:
    """scikit-learn's, as its users would make them."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
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
    seed = OTHER_FOLDS if way == AGAIN else SEED
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    X, y = train.drop(columns=target), as_words(train[target])
    model = LinearSVC() if way == "LinearSVC" else LogisticRegression()
    grid = {f"{type(model).__name__.lower()}__C": PEER_CS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(
            make_pipeline(columns, model), grid, scoring="balanced_accuracy", cv=folds
        ).fit(X, y)
        return search.predict(test.drop(columns=target))


def line(row: dict) -> str:
    marks = [row["ended"], row["as_good"], row["constant_said"]]
    mean, error = row["behind"]["ours, same score"]
    scores = "  ".join(f"{way} {row[way]:.3f}" for way in WAYS)
    return (
        f"{row['name']:<20} {row['rows']:5d} rows {row['classes']:3d} classes  {scores}  "
        f"{mean:+.3f} ± {error:.3f}  {row['verdict']}  "
        + " ".join("ok" if mark else "NO" for mark in marks)
    )


if __name__ == "__main__":
    main()
