"""``maxmargin studio``: a page on this machine to draw points and see what is proved."""

from __future__ import annotations

from typing import Annotated

import typer

from .interrupt import cautiously
from .postpone import import_sklearn

DEFAULT_PORT = 8642
MAX_UPLOAD_MEGABYTES = 200.0


def studio(
    port: Annotated[
        int | None,
        typer.Option(help=f"Port on 127.0.0.1. Default: {DEFAULT_PORT}, or the next free one."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser.")] = True,
    max_upload: Annotated[
        float, typer.Option(help="Largest file of your own that the page takes, in MB.", min=0.001)
    ] = MAX_UPLOAD_MEGABYTES,
) -> None:
    """Open a page to draw points, drag them, and watch boundary, margin and proof follow.

    Drop a file of your own on it to fit, compare and explore with the mouse.

    Only this machine can reach it, and no data leave it. Ctrl-C stops it.

        maxmargin studio
        maxmargin studio --port 9000 --no-browser
    """
    try:
        from ..studio.run import serve
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"The studio needs {missing.name}, which is not installed. "
            'Install it with:  pip install "maxmargin[studio]"'
        ) from None
    with cautiously():  # the server ends its jobs and removes its files before it goes
        serve(port, DEFAULT_PORT, browser, max_upload, import_sklearn)
