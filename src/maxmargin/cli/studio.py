"""``maxmargin studio``: a page on this machine to draw points and see what is proved."""

from __future__ import annotations

from typing import Annotated

import typer

from .interrupt import cautiously
from .postpone import import_sklearn

PORT = 8642


def studio(
    port: Annotated[
        int | None,
        typer.Option(help=f"Port on 127.0.0.1. Default: {PORT}, or the next free one."),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser.")] = True,
) -> None:
    """Open a page to draw points, drag them, and watch boundary, margin and proof follow.

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
    with cautiously():  # the server closes its connections before it goes
        serve(port, PORT, browser, import_sklearn)
