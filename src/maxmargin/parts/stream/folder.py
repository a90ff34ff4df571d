"""The folder a streamed fit works in: its cache, and where it stands, in case it is killed.

    owner         the process that uses it
    state.npz     the last checkpoint, replaced whole
    standing-*    multipliers of all rows, each file replaced whole
    cache/        rows in the layout passes want

A fit that ends, in whatever way, removes the cache, except where data were bad: mended, the fit can
go on with what was read before.  One that ends well removes the folder.  What a killed process left
is gone on with on request, and otherwise removed by the next fit that uses the same folder, or, of
folders for temporary files, by any.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..files.atomic import replacing
from ..files.owned import OWNER_FILE, alive, own, owner, remove_orphans
from ..files.readers import BadData

FOLDER_PREFIX = "maxmargin-stream-"
CHECKPOINT_PREFIX = "standing-"


class BusyError(RuntimeError):
    """Another process is using the folder."""


class WorkFolder:
    """A context: the folder exists inside of it, and holds what is worth keeping afterwards."""

    def __init__(self, checkpoint: str | os.PathLike | None, resume: bool):
        self.kept = checkpoint is not None
        if resume and not self.kept:
            raise ValueError("resume=True needs the checkpoint of the fit that is to go on.")
        self.resume = resume
        self.key = ""  # of what is being fitted: another problem's checkpoint is of no use
        self.path = Path(checkpoint) if checkpoint is not None else Path()

    def __enter__(self) -> WorkFolder:
        if not self.kept:
            remove_orphans(FOLDER_PREFIX)
            self.path = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        else:
            self._claim()
        own(self.path)
        if not self.resume:
            self._clean()
        self.cache.mkdir(exist_ok=True)
        return self

    @property
    def cache(self) -> Path:
        return self.path / "cache"

    def _claim(self) -> None:
        """Only an empty folder, or one of ours that nobody uses."""
        if self.path.exists():
            if any(not _ours(each.name) for each in self.path.iterdir()):
                raise ValueError(
                    f"{self.path} holds other things than the checkpoint of a streamed fit. "
                    "Name a folder of its own."
                )
            process = owner(self.path)
            if process is not None and process != os.getpid() and alive(process):
                raise BusyError(f"{self.path} is being used by process {process}.")
        self.path.mkdir(parents=True, exist_ok=True)

    def _clean(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        for path in self.path.iterdir():
            if path.name not in (OWNER_FILE, "cache"):
                path.unlink()

    def __exit__(self, kind, error, trace) -> None:
        if not (self.kept and isinstance(error, BadData)):
            shutil.rmtree(self.cache, ignore_errors=True)
        if not self.kept or kind is None:
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            with suppress(OSError):
                (self.path / OWNER_FILE).unlink()
            with suppress(OSError):
                self.path.rmdir()  # if nothing is in it

    # --- checkpoints ------------------------------------------------------------------------

    def save(self, **state: Any) -> None:
        """Replace the checkpoint; only numbers, words and arrays."""
        if not self.kept:
            return
        room = io.BytesIO()
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in state.items()}
        np.savez(room, key=np.asarray(self.key), **arrays)
        with replacing(self.path / "state.npz") as file:
            file.write(room.getbuffer())

    def load(self) -> dict[str, np.ndarray] | None:
        """The last checkpoint of a run that is to go on."""
        if not self.resume:
            return None
        try:
            with np.load(self.path / "state.npz", allow_pickle=False) as file:
                state = {name: file[name] for name in file.files}
        except (OSError, ValueError):
            return None
        return state if str(state.get("key")) == self.key else None


def _ours(name: str) -> bool:
    """Whether a streamed fit may have left it; a kill leaves files half written, too."""
    name = name.removeprefix(".") if name.endswith(".part") else name
    return name in (OWNER_FILE, "cache") or name.startswith(("state.npz", CHECKPOINT_PREFIX))
