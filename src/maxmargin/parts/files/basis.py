"""A change of basis as part of a stored model: its name and the numbers it needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

BASIS_NAMES = ("polar", "quadratic", "polynomial", "radial")


@dataclass(frozen=True)
class Basis:
    """One of ``BASIS_NAMES`` on ``width`` columns.

    ``degree`` belongs to "polynomial", ``centers`` and ``gamma`` to "radial".
    """

    name: str
    width: int
    degree: int = 3
    centers: Any = None
    gamma: float = 1.0

    def __post_init__(self):
        known = self.name in BASIS_NAMES and 0 < self.width < 1 << 20 and 1 <= self.degree <= 20
        if self.name == "radial":
            shape = np.shape(self.centers)
            known = known and len(shape) == 2 and shape[1] == self.width and self.gamma > 0
        if not known:
            raise ValueError(f"there is no basis {self.name!r} like this")

    @property
    def outputs(self) -> int:
        """How many columns it makes, without making them."""
        if self.name == "polar":
            return self.width
        if self.name == "radial":
            return len(self.centers)
        degree = 2 if self.name == "quadratic" else self.degree
        return comb(self.width + degree, degree) - 1

    @cached_property
    def transformer(self):
        from ...models import bases

        made = {
            "polar": lambda: bases.PolarBasis(),
            "quadratic": lambda: bases.QuadraticBasis(),
            "polynomial": lambda: bases.PolynomialBasis(self.degree),
            "radial": lambda: bases.RadialBasis(self.centers, gamma=self.gamma),
        }[self.name]()
        return made.fit(np.zeros((1, self.width)))

    def __call__(self, X) -> np.ndarray:
        return self.transformer.transform(X)

    def names(self, features: list[str]) -> list[str]:
        names = self.transformer.get_feature_names_out(np.array(features, dtype=object))
        return [str(name) for name in names]


def learn_basis(asked: str, X) -> Basis:
    """The basis of "polynomial:2", "radial:30", "polar" or "quadratic" for these rows."""
    from scipy import sparse

    from ...models.bases import RadialBasis

    name, _, number = asked.partition(":")
    if name not in BASIS_NAMES or (number and not number.isdigit()):
        raise ValueError(
            f"--basis must be polar, quadratic, polynomial:DEGREE or radial:CENTRES, got {asked!r}."
        )
    if sparse.issparse(X):
        raise ValueError(f"--basis {asked} needs dense features, but these are sparse.")
    width = X.shape[1]
    if name == "radial":
        found = RadialBasis(int(number or 50)).fit(X)
        return Basis(name, width, centers=found.centers_, gamma=float(found.gamma_))
    if name == "polar" and width < 2:
        raise ValueError("--basis polar needs at least two features, there is 1. Try quadratic.")
    degree = int(number) if number else (2 if name == "quadratic" else 3)
    return Basis(name, width, degree=degree)
