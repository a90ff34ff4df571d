"""How to reproduce a result: the command, and the versions of all that took part."""

from __future__ import annotations

import os
import platform
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from ... import __version__
from .page import Html, code, facts, paragraph

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")


def reproduce(command: str | None, *more: tuple) -> list[Html]:
    """The section's parts; ``more`` are rows of its table."""
    said = [paragraph("The command, run in the folder of the data:"), code(command or "")]
    return [
        *(said if command else ()),
        facts(
            [
                *more,
                ("maxmargin", __version__),
                ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
                ("libraries", ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)),
                ("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"),
                ("written", datetime.now().astimezone().isoformat(sep=" ", timespec="minutes")),
            ]
        ),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
