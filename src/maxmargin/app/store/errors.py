"""What is wrong with a model file, in one sentence."""

from __future__ import annotations

from typing import Any

MAX_SHOWN_LETTERS = 40


class ModelFileError(ValueError):
    """A model file that cannot be read: truncated, altered, too new, or no model file at all."""


class NotStorableError(ValueError, TypeError):
    """A model, or a part of one, that a file without code cannot hold."""


def shown(value: Any) -> str:
    """A value of a file as a message shows it: short, and without going into what it holds, which
    may be nested so deeply, or be so much, that it cannot be written down."""
    if isinstance(value, str):
        return repr(value[:MAX_SHOWN_LETTERS])
    if isinstance(value, int | float | None):
        return str(value)[:MAX_SHOWN_LETTERS]
    names: dict[type, str] = {list: "a list", dict: "an object", tuple: "a tuple"}
    return names.get(type(value), f"of type {type(value).__name__}")
