"""Prices of mistakes: the action that is cheapest under the probabilities of the classes.

    action(x) = argmin over a of  Σ_c p_c(x) · price(c, a)

An action is to say a label, or any other word: to abstain, to ask a person, to measure again.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from ...core.types import ArrayLike


@dataclass(frozen=True)
class Costs:
    """What every action costs for every true class: ``table`` (classes, actions), in words.

    Made by ``read_costs`` from a file or by ``costs_of`` from a mapping:
    ``{"ill": {"ill": 0, "well": 50, "ask": 5}, "well": {"ill": 1, "well": 0, "ask": 5}}``.
    """

    classes: tuple[str, ...]
    actions: tuple[str, ...]
    table: np.ndarray

    def __post_init__(self):
        table = np.asarray(self.table, dtype=np.float64)
        shape = (len(self.classes), len(self.actions))
        if table.shape != shape:
            raise ValueError(
                f"Costs need a price for each of {shape[0]} true classes (rows) and each of "
                f"{shape[1]} actions (columns), got a table of shape {table.shape}."
            )
        if not np.isfinite(table).all():
            row, column = np.argwhere(~np.isfinite(table))[0]
            raise ValueError(
                f"Costs must be finite numbers, but saying {self.actions[column]!r} of "
                f"{self.classes[row]!r} costs {table[row, column]}."
            )
        for what, names in (("true class", self.classes), ("action", self.actions)):
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"Costs name the {what} {twice!r} twice.")
        object.__setattr__(self, "table", table)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """As ``costs_of`` takes them."""
        rows = (dict(zip(self.actions, row, strict=True)) for row in self.table.tolist())
        return dict(zip(self.classes, rows, strict=True))

    def prices(self, classes: ArrayLike) -> np.ndarray:
        """(k, actions) in the order of a model's classes; labels it does not know are refused."""
        labels = [str(label) for label in np.asarray(classes).tolist()]
        places = {name: place for place, name in enumerate(self.classes)}
        missing = [label for label in labels if label not in places]
        unknown = [name for name in self.classes if name not in labels]
        if missing or unknown:
            raise ValueError(
                f"Costs are for the classes {list(self.classes)}, but the model knows "
                f"{labels}: {_in_words(missing, unknown)}."
            )
        return self.table[[places[label] for label in labels]]

    def expected(self, P: np.ndarray, classes: ArrayLike) -> np.ndarray:
        """(n, actions): what each action costs at probabilities P (n, k)."""
        return P @ self.prices(classes)

    def decide(self, P: np.ndarray, classes: ArrayLike) -> np.ndarray:
        """The cheapest action for each row, as a label of the model or as a word of ours."""
        best = self.expected(P, classes).argmin(axis=1)
        return self.said(classes)[best]

    def said(self, classes: ArrayLike) -> np.ndarray:
        """The actions, those that are labels in the model's own kind."""
        known = {str(label): label for label in np.asarray(classes).tolist()}
        actions = [known.get(action, action) for action in self.actions]
        if all(action in known for action in self.actions):
            return np.array(actions, dtype=np.asarray(classes).dtype)
        return np.array(actions, dtype=object)

    def paid(self, y: ArrayLike, actions: ArrayLike, classes: ArrayLike) -> np.ndarray:
        """(n,) what these actions, or labels, cost for these true labels."""
        prices = self.prices(classes)
        labels = {str(label): place for place, label in enumerate(np.asarray(classes).tolist())}
        columns = {name: place for place, name in enumerate(self.actions)}
        true = _places(y, labels, "true label")
        return prices[true, _places(actions, columns, "action")]


def costs_of(given: Mapping[Any, Mapping[Any, float]] | Costs) -> Costs:
    """Costs from a mapping of true classes to prices of actions."""
    if isinstance(given, Costs):
        return given
    if not isinstance(given, Mapping) or not all(isinstance(v, Mapping) for v in given.values()):
        raise ValueError(
            "costs must map every true class to the prices of actions, as in "
            f"{{'ill': {{'ill': 0, 'well': 50}}, 'well': {{'ill': 1, 'well': 0}}}}, got {given!r}."
        )
    actions = list(dict.fromkeys(str(action) for row in given.values() for action in row))
    rows = [{str(action): price for action, price in row.items()} for row in given.values()]
    for label, row in zip(given, rows, strict=True):
        if lacking := [action for action in actions if action not in row]:
            raise ValueError(f"Costs do not say what {lacking[0]!r} costs when {label!r} is true.")
    table = [[_price(row[action]) for action in actions] for row in rows]
    return Costs(tuple(str(label) for label in given), tuple(actions), np.array(table))


def read_costs(path: str | PathLike) -> Costs:
    """Costs from a CSV: a row for every true class, a column for every action, words in front."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ValueError(
            f"{path}: a table of costs has a line of actions and a line for every true class, "
            "whose first word is the class."
        )
    head, *body = [[cell.strip() for cell in row] for row in rows]
    for row in body:
        if len(row) != len(head):
            raise ValueError(f"{path}: the line of {row[0]!r} has {len(row) - 1} prices for "
                             f"{len(head) - 1} actions.")  # fmt: skip
    table = [[_price(cell, f"{path}, {row[0]!r}") for cell in row[1:]] for row in body]
    return Costs(tuple(row[0] for row in body), tuple(head[1:]), np.array(table))


def cost_scorer(costs: Mapping[Any, Mapping[Any, float]] | Costs) -> Callable[..., float]:
    """A scorer for ``scoring=`` of searches: minus the mean cost of what a model decides.

    A model with probabilities takes the cheapest action, another says what it predicts.
    """
    known = costs_of(costs)

    def score(model, X, y, sample_weight=None) -> float:
        if hasattr(model, "predict_proba"):
            said = known.decide(model.predict_proba(X), model.classes_)
        else:
            said = model.predict(X)
        return -float(np.average(known.paid(y, said, model.classes_), weights=sample_weight))

    return score


def _price(value, where: str = "Costs") -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: a price is a number, got {value!r}.") from None


def _places(values, known: dict[str, int], what: str) -> np.ndarray:
    levels, codes = np.unique(np.asarray(values).astype(str), return_inverse=True)
    unknown = [level for level in levels.tolist() if level not in known]
    if unknown:
        raise ValueError(f"Costs have no {what} {unknown[0]!r}; they know {list(known)}.")
    return np.array([known[level] for level in levels.tolist()])[codes]


def _in_words(missing: list[str], unknown: list[str]) -> str:
    parts = [f"no costs for {missing[0]!r}"] if missing else []
    return " and ".join(parts + ([f"{unknown[0]!r} is none of its labels"] if unknown else []))
