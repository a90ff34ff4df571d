"""Files that must stay what they were: size, time of change, and a hash of a sample."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

# Bytes hashed at the beginning, in the middle and at the end of a file.
HASHED_BYTES = 1 << 16


class ChangedError(ValueError):
    """The data are not what they were when the fit began."""


def fingerprint(path: Path) -> tuple[int, int, str]:
    """Size, time of the last change, and a hash of three samples of the content."""
    stat = os.stat(path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for place in (0, stat.st_size // 2, stat.st_size - HASHED_BYTES):
            file.seek(max(0, place))
            digest.update(file.read(HASHED_BYTES))
    return stat.st_size, stat.st_mtime_ns, digest.hexdigest()[:24]


class FileFingerprints:
    """Files as they were first seen; ``check`` refuses to go on when one of them differs."""

    def __init__(self, paths: list[Path]):
        self.paths = paths
        self.seen = [fingerprint(path) for path in paths]

    def check(self) -> None:
        """Cheap enough for every pass: content is hashed again only where the time changed."""
        for path, (size, when, digest) in zip(self.paths, self.seen, strict=True):
            try:
                stat = os.stat(path)
            except OSError as error:
                raise ChangedError(
                    f"{path} was there when the fit began and is not now ({error.strerror}). "
                    "Put it back and resume, or start again."
                ) from None
            if stat.st_size == size and stat.st_mtime_ns == when:
                continue
            why = f"it had {size} bytes and has {stat.st_size}"
            if stat.st_size == size:
                if fingerprint(path)[2] == digest:
                    continue
                why = "its content differs"
            raise ChangedError(
                f"{path} was changed while it was being fitted: {why}. A model of half the old "
                "and half the new rows would prove nothing. Start again."
            )

    def to_list(self) -> list:
        """For comparison with an earlier run."""
        return [
            [str(path.resolve()), *seen] for path, seen in zip(self.paths, self.seen, strict=True)
        ]
