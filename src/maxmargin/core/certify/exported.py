"""A certificate as JSON, together with what it is about, so that others can check it.

A certificate is light: it holds what was concluded, not the weights and multipliers it was
concluded from.  A model that is asked for its certificate hands out a copy that knows where these
are (``models/certified.py``); nothing is written, or copied, before somebody asks for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any, Self

import numpy as np

PROOF_FORMAT, PROOF_VERSION = "maxmargin proof", 1
Witness = Callable[[], dict[str, Any]]


class Exported:
    """A certificate, a frozen dataclass, that can be written down."""

    __slots__ = ("_witness",)  # beside the fields: ``vars`` of a certificate has these alone

    def of(self, witness: Witness) -> Self:
        """The same certificate; ``witness()`` tells of which model, with which multipliers."""
        found = copy(self)
        object.__setattr__(found, "_witness", witness)
        return found

    def to_json(self, indent: int | None = None) -> str:
        """The claim, the weights and the multipliers: all that a checker needs beside the data.

        Checked in exact arithmetic by ``python -m maxmargin.referee proof.json data.csv``; the
        format is described in docs/reference/certificate-format.md.
        """
        witness: Witness | None = getattr(self, "_witness", None)
        if witness is None:
            raise ValueError(
                "This certificate does not say which model it is about. Ask the model for it: "
                "model.certificate_.to_json()."
            )
        proof = {"format": PROOF_FORMAT, "version": PROOF_VERSION, **witness()}
        proof["certificate"] = self.to_dict()
        return json.dumps(plain(proof), indent=indent, allow_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """What it says, by name."""
        return fields_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """A certificate is pickled without its model."""
        return dict(vars(self))


def fields_of(record: Any) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}


def plain(value: Any) -> Any:
    """As JSON has it: arrays as lists, records by their fields, what is not finite as a word."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if is_dataclass(value) and not isinstance(value, type):
        return plain(fields_of(value))
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | bool | None) else str(value)
