"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A file to write that takes the place of ``path`` once it is complete and on the disk.

    It is written beside its destination under another name.  Whatever goes wrong before the
    end, Ctrl-C and a full disk included, leaves what was at ``path`` untouched and nothing else
    behind.
    """
    target = Path(os.path.realpath(path))  # a link goes on pointing where it did
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise _explained(error, path) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError):
            raise _explained(error, path) from error
        raise
    _sync_folder(target.parent)


def _explained(error: OSError, path) -> OSError:
    reason = error.strerror or str(error)
    return type(error)(error.errno, f"{path} could not be written ({reason}); nothing was changed")


def _sync_folder(folder: Path) -> None:
    """The new name is on the disk too, where the system lets us ask for it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
