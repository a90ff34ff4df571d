"""Altered model files."""

from __future__ import annotations

import warnings
from pathlib import Path

import maxmargin as mm

from ..app.store.files import base_files
from ..app.store.mutations import mutated
from .run import Outcome, Subject


class Models(Subject):
    name = "models"

    def __init__(self) -> None:
        self._bases: list[bytes] = []

    @property
    def bases(self) -> list[bytes]:
        self._bases = self._bases or base_files()
        return self._bases

    def prepare(self) -> None:
        for data in self.bases:
            Path("model").write_bytes(data)
            mm.load("model")

    def altered(self, seed: int, index: int) -> bytes:
        return mutated(self.bases, seed, index)

    def judge(self, altered: bytes, seed: int, index: int) -> Outcome:
        Path("model").write_bytes(altered)
        return judge(Path("model"))


def judge(path: Path) -> Outcome:
    """What becomes of a model file; refused by the last guard of ``load``, a check is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mm.load(path)
    except mm.ModelFileError as error:
        return "refused" if error.__cause__ is None else "uncaught", str(error)
    return "accepted", ""
