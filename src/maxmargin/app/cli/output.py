"""The files a fit writes: a model, and a page about it."""

from __future__ import annotations

from pathlib import Path

from .interrupt import cautiously
from .run import check_writable, command_line


def page_of(out: Path, report: Path | None, no_report: bool) -> Path | None:
    """Where the page goes, by default beside the model; refused before any work is done."""
    check_writable("--out", out)
    page = None if no_report else report or out.with_name("report.html")
    if page is not None:
        check_writable("--report", page)
        if page.absolute() == out.absolute():
            raise ValueError(f"--out and --report both name {out}.")
    return page


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
