"""Proofs as JSON, as ``certificate_.to_json()`` writes them, and their data as plain tables.

Nothing of the library is needed to read them: numbers, words and lists become a record that has the
attributes of the estimator it speaks of.  docs/reference/certificate-format.md describes it.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

FORMAT, VERSION = "maxmargin proof", 1
NOT_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}
# Estimators whose y are preferences, which have a file of their own.
RANKERS = ("PairwiseRanker", "LabelRanker")


class Proof(NamedTuple):
    """A record with the attributes of a fitted model, and the names of its columns, if any."""

    model: Any
    columns: list[str] | None


def is_proof(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def read_proof(path: str) -> Proof:
    try:
        found = json.loads(Path(path).read_text())
        if found["format"] != FORMAT:
            raise KeyError(found["format"])
        if found["version"] > VERSION:
            raise ValueError(f"it is of version {found['version']}, this program reads {VERSION}")
        given, fitted = _numbers(found["parameters"]), found["fitted"]
        if given.get("class_weight") and given["class_weight"] != "balanced":
            given["class_weight"] = dict(map(tuple, given["class_weight"]))
        arrays = {name: np.array(_numbers(v)) for name, v in fitted.items() if name != "classes_"}
        if "classes_" in fitted:
            arrays["classes_"] = np.array(fitted["classes_"])
        claim = SimpleNamespace(**_numbers(found["certificate"]))
        # Checks ask for the name of the class.
        record = type(str(found["estimator"]), (SimpleNamespace,), {})
        model = record(**given | arrays | {"certificate_": claim})
        return Proof(model, found["columns"])
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as fault:
        raise ValueError(f"{path} is no proof written by certificate_.to_json(): {fault}") from None


def _numbers(value: Any) -> Any:
    """Words for what is not finite as numbers again."""
    if isinstance(value, dict):
        return {name: _numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


# --- data ---------------------------------------------------------------------------------


def read_data(proof: Proof, path: str, target: str | None, weights: str | None):
    """The rows X, the labels or preferences y and the weights, or None, that a proof is about.

    ``path``: a CSV file, or an npz file with X and y.  ``target``: the column of the labels, by
    default the last that is no feature; for a ranker the file of the preferences.
    """
    ranks = type(proof.model).__name__ in RANKERS
    if path.endswith(".npz"):
        X, y, weight = _read_npz(path, ranks)
    else:
        table = _read_csv(path)
        X, y, weight = _split(proof, table, path, None if ranks else target, weights, ranks)
    if ranks:
        y = _preferences(proof.model, target, y)
    elif hasattr(proof.model, "classes_"):
        y = _labels(proof.model.classes_, y, path)
    return X, y, weight


def _read_npz(path: str, ranks: bool):
    with np.load(path, allow_pickle=False) as file:
        if "X" not in file or not ("y" in file or ranks):
            raise ValueError(f"{path} must hold the arrays X and y, it has {', '.join(file)}.")
        return file["X"], file.get("y"), file.get("sample_weight")


def _read_csv(path: str) -> dict[str, list[str]]:
    """The columns by name; without a header by number, counted from 0."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if not lines or len({len(line) for line in lines}) > 1:
        raise ValueError(f"{path} is no table: its lines have different numbers of cells.")
    bare = all(_is_number(cell) for cell in lines[0][:-1])
    names = [str(j) for j in range(len(lines[0]))] if bare else lines[0]
    return dict(zip(names, map(list, zip(*lines[0 if bare else 1 :], strict=True)), strict=True))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _split(proof: Proof, table: dict, path: str, target, weights, ranks: bool):
    """X, y and weights of a table."""
    features = proof.columns
    rest = [name for name in table if name != weights and name not in (features or ())]
    if not ranks:
        target = target or (rest[-1] if rest else "")
    if features is None:
        features = [name for name in rest if name != target]
    wanted = [*features, *(() if ranks else (target,)), *((weights,) if weights else ())]
    if lacking := [name for name in wanted if name not in table]:
        raise ValueError(f"{path} has no column {lacking[0]!r}. It has: {', '.join(table)}.")
    X = np.array([[float(cell) for cell in table[name]] for name in features]).T
    weight = None if weights is None else np.array([float(cell) for cell in table[weights]])
    return X, None if ranks else table[target], weight


def _labels(classes: np.ndarray, y, path: str) -> np.ndarray:
    """Labels as the classes of the proof, which may be numbers or truth values."""
    known = {_key(label): label for label in classes.tolist()}
    strange = [cell for cell in y if _key(cell) not in known]
    if strange:
        raise ValueError(f"{path} has labels that the proof does not know: {strange[0]!r}.")
    return np.array([known[_key(cell)] for cell in y])


def _key(label) -> str | float:
    text = str(label)
    return float(text) if _is_number(text) else text


def _preferences(model, path: str | None, y):
    """Rows (winner, loser) or (example, preferred, other), perhaps with a weight."""
    if path is None:
        if y is None:
            raise ValueError("A ranker's preferences have a file of their own: name it (--target).")
        return y
    table = _read_csv(path)
    if type(model).__name__ == "PairwiseRanker":
        return np.array([[float(cell) for cell in column] for column in table.values()]).T
    example, preferred, other, *weight = table.values()
    found = [_labels(model.classes_, column, path).tolist() for column in (preferred, other)]
    numbers = [[float(cell) for cell in column] for column in (example, *weight)]
    return list(zip(map(int, numbers[0]), *found, *numbers[1:], strict=True))
