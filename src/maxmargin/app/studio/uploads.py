"""Files that pages have sent: in a private folder, for a while, known by tokens nobody can guess.

The name of a file is shown, and tells its format.  Of the name as such only letters and digits
reach the disk.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.exceptions import HTTPException

from ...parts.files.owned import own, remove_orphans
from ...parts.files.source import COMPRESSED, FORMATS

# Files kept at a time, and how long without being asked for, in seconds.
MAX_KEPT_FILES = 20
MAX_IDLE_SECONDS = 2 * 3600
MAX_STEM_LENGTH = 40
MAX_FILE_NAME_LENGTH = 120
MODEL_SUFFIX = ".maxmargin"
STUDIO_FOLDER_PREFIX = "maxmargin-studio-"
# What commands write beside the file they read.  The names of our own files begin with a dot, as no
# name of an upload does.
WRITTEN_FILES = (f"model{MODEL_SUFFIX}", "report.html", "predictions.csv")


@dataclass
class Upload:
    """A file, what is known of it, and when it was last asked for."""

    token: str
    name: str
    path: Path
    described: dict = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)
    busy: bool = True  # arriving, or worked on


def stored_name(name: str) -> str:
    """A harmless file name of the same format: letters and digits, and suffixes that we know.

    It is none that is written beside it, or the file would be replaced by what is made of it.
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    parts = last.lower().split(".")
    suffixes = [f".{part}" for part in parts[1:][-2:]]
    known = [s for s in suffixes if s in FORMATS or s in COMPRESSED or s == MODEL_SUFFIX]
    stem = last.partition(".")[0]
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in stem)[:MAX_STEM_LENGTH]
    stored = (plain.strip("-_") or "data") + "".join(known)
    return f"data-{stored}" if stored in WRITTEN_FILES else stored


class Uploads:
    """The files of all pages.  What a studio that was killed has left behind is removed."""

    def __init__(self) -> None:
        remove_orphans(STUDIO_FOLDER_PREFIX)
        self._folder: Path | None = None
        self._kept: dict[str, Upload] = {}
        self._turn = threading.Lock()

    @property
    def folder(self) -> Path:
        """A folder that only this user can enter, made when first needed."""
        with self._turn:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix=STUDIO_FOLDER_PREFIX))
                own(self._folder)
            return self._folder

    def room(self) -> tuple[str, Path]:
        """A token, and an empty folder of its own."""
        token = secrets.token_urlsafe(24)
        place = self.folder / token
        place.mkdir(mode=0o700)
        return token, place

    async def receive(self, name: str, pieces: AsyncIterator[bytes]) -> Upload:
        """Write what arrives; what does not arrive whole leaves nothing behind."""
        self._make_room()
        token, place = self.room()
        upload = Upload(token, name[:MAX_FILE_NAME_LENGTH], place / stored_name(name))
        self._kept[token] = upload
        try:
            with upload.path.open("wb") as file:
                async for piece in pieces:
                    file.write(piece)
                size = file.tell()
            if size == 0:
                raise HTTPException(422, "The file is empty.")
        except OSError as error:
            self.forget(token)
            raise HTTPException(507, f"The file cannot be kept: {error.strerror}.") from None
        except BaseException:
            self.forget(token)
            raise
        upload.busy = False
        return upload

    def find(self, token: str) -> Upload:
        self.sweep()
        upload = self._kept.get(token)
        if upload is None:
            raise HTTPException(
                404, "The studio no longer has this file. Drop it again, please: files are kept "
                f"for {MAX_IDLE_SECONDS // 3600} hours without use.",
            )  # fmt: skip
        upload.used = time.monotonic()
        return upload

    def forget(self, token: str) -> None:
        upload = self._kept.pop(token, None)
        if upload is not None:
            shutil.rmtree(upload.path.parent, ignore_errors=True)

    def sweep(self, now: float | None = None) -> None:
        """Forget what nobody has asked for in a long time."""
        now = time.monotonic() if now is None else now
        for upload in list(self._kept.values()):
            if not upload.busy and now - upload.used > MAX_IDLE_SECONDS:
                self.forget(upload.token)

    def _make_room(self) -> None:
        """For one more: the one unused for longest goes."""
        self.sweep()
        while len(self._kept) >= MAX_KEPT_FILES:
            idle = [upload for upload in self._kept.values() if not upload.busy]
            if not idle:
                raise HTTPException(503, "Too many files are in use. Try again in a moment.")
            self.forget(min(idle, key=lambda upload: upload.used).token)

    def close(self) -> None:
        with self._turn:
            self._kept.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def __len__(self) -> int:
        return len(self._kept)


def link(source: Path, folder: Path) -> Path:
    """The same file in another folder, by the same name, without a copy where that can be."""
    there = folder / source.name
    try:
        os.link(source, there)
    except OSError:
        shutil.copyfile(source, there)
    return there
