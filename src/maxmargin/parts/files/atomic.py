"""Files that are there whole or not at all; devices and pipes, which are written to as they are."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A file to write that takes the place of ``path`` once it is complete and on the disk.

    It is written beside its destination under another name.  Whatever goes wrong before the
    end, Ctrl-C and a full disk included, leaves what was at ``path`` untouched and nothing else
    behind.  A device or a pipe cannot be replaced by a file without being lost: what is written
    goes to it at once.
    """
    if is_special(path):
        with _into(path) as file:
            yield file
        return
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


def is_special(path: str | os.PathLike) -> bool:
    """Whether there is something at ``path`` that is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def _into(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """What is there, open for writing; never made, cut off or renamed."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY), "wb") as file:
            yield file
    except BrokenPipeError:  # whoever read has had enough
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise type(error)(error.errno, f"{path} could not be written ({reason})") from error


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
