"""Temporary folders that say whose they are, so that what a killed process left can go."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

OWNER_FILE = "owner"


def own(path: Path) -> None:
    """Write down that this process uses the folder."""
    (path / OWNER_FILE).write_text(str(os.getpid()))


def owner(path: Path) -> int | None:
    """The process that uses the folder, if it says so."""
    try:
        return int((path / OWNER_FILE).read_text())
    except (OSError, ValueError):
        return None


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove_orphans(prefix: str) -> None:
    """Of folders for temporary files, those whose process is gone.

    A folder that says nothing is left alone: it may just have been made, or be somebody else's.
    """
    for path in Path(tempfile.gettempdir()).glob(prefix + "*"):
        process = owner(path)
        if process is not None and not alive(process):
            shutil.rmtree(path, ignore_errors=True)
