"""The files that commands write: refused before any work is done where they would cost an input."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .interrupt import cautiously
from .run import command_line


def check_outputs(outputs: Mapping[str, Path | None], inputs: Mapping[str, Any]) -> None:
    """Refuse files, by option, that cannot be written, that are read, or that are written twice.

    ``inputs`` by what they are to the user: files, folders, patterns, ``-`` or None.  Links are
    followed, and two names of one file are one file.  Devices and pipes lose nothing.
    """
    wanted = {option: path for option, path in outputs.items() if path is not None}
    for option, path in wanted.items():
        _check_writable(option, path)
    regular = {option: path for option, path in wanted.items() if not _is_special(path)}
    read = [(what, key) for what, given in inputs.items() for key in _keys_of_input(given)]
    written: dict[str, str] = {}
    for option, path in regular.items():
        keys = _keys(path)
        for what, key in read:
            if key in keys:
                raise ValueError(
                    f"{option} {path} is {what}, which would be overwritten. Name another file."
                )
        for key in keys:
            if key in written:
                raise ValueError(f"{written[key]} and {option} both name {path}.")
        written |= dict.fromkeys(keys, option)


def _check_writable(option: str, path: Path) -> None:
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ValueError(
            f"{option} {path} cannot be written: it must be a file in an existing folder."
        )


def _is_special(path: Path) -> bool:
    from ...parts.files.atomic import is_special

    return is_special(path)


def _keys(path: Path) -> set[str]:
    """What tells whether two names are of one file: the place, and where it is there the file."""
    keys = {os.path.normcase(os.path.realpath(path))}
    with suppress(OSError):
        keys.add(_number(os.stat(path)))
    return keys


def _number(found: os.stat_result) -> str:
    return f"{found.st_dev}:{found.st_ino}"


def _keys_of_input(given) -> Iterator[str]:
    if given is None:
        return
    if str(given) == "-":
        with suppress(OSError, ValueError, AttributeError):  # a stand-in for it has no number
            found = os.fstat(sys.stdin.fileno())
            if stat.S_ISREG(found.st_mode):
                yield _number(found)
        return
    for path in _files(Path(given)):
        yield from _keys(path)


def _files(path: Path) -> Iterable[Path]:
    """The files that are read where this one is named."""
    if not path.exists() or path.is_dir():
        from ...parts.files.sources import find_files

        with suppress(ValueError, OSError):  # what is not there is said by whoever reads it
            return [file for found in find_files(path) for file in _files(found)]
        return []
    if path.suffix == ".npy":
        from ...parts.files.matrices import labels_beside

        return [path, labels_beside(path)]
    return [path]


# What a spreadsheet takes for a formula begins with one of these.
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


def without_formula(word: str) -> str:
    """A cell that no spreadsheet runs: an apostrophe goes before what it would take for a formula,
    and numbers stay as they are."""
    import pyarrow as pa

    return without_formulas(pa.array([word]))[0].as_py()


def without_formulas(words):
    """The same of an Arrow array of words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ...parts.files.numerals import is_numeral

    marks = pa.array(FORMULA_MARKS)
    marked = pc.is_in(pc.utf8_slice_codeunits(words, 0, 1), value_set=marks)
    if not pc.any(marked).as_py():
        return words
    formula = pc.and_(marked, pc.invert(pc.fill_null(is_numeral(words), True)))
    return pc.if_else(formula, pc.binary_join_element_wise("'", words, ""), words)


def page_of(
    out: Path, report: Path | None, no_report: bool, inputs: Mapping[str, Any]
) -> Path | None:
    """Where the page goes, by default beside the model; refused before any work is done."""
    beside = None if _is_special(out) else out.with_name("report.html")  # not beside a device
    page = None if no_report else report or beside
    check_outputs({"--out": out, "--report": page}, inputs)
    return page


def write_page(path: Path, text: str) -> None:
    """A page, whole or not at all."""
    from ...parts.files.atomic import replacing

    with cautiously(path), replacing(path) as file:
        file.write(text.encode())


def write_fit(fitted, out: Path, page: Path | None) -> list[Path]:
    """The files of a fit: the page takes its place once the model has taken its own."""
    from ...parts.files.atomic import replacing
    from ..store.files import save

    if page is None:
        with cautiously(out):
            return [save(fitted.model, out)]
    from ..report.fit import fit_report

    text = fit_report(fitted, command_line(), str(out)).encode()
    with cautiously(page), replacing(page) as file:
        file.write(text)
        with cautiously(out):
            save(fitted.model, out)
    return [out, page]
