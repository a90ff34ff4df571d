"""Where an interactive picture is looked at: in a notebook, or on a page of its own."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

_loaded = False


def in_notebook(figure: Any) -> bool:
    """Show the figure below the cell that runs; False where no notebook does.

    The first time a notebook gets Bokeh's scripts, too: they are put in, not fetched.
    """
    global _loaded
    if not _notebook():
        return False
    from bokeh.io import output_notebook, show
    from bokeh.resources import INLINE

    if not _loaded:
        output_notebook(INLINE, hide_banner=True)
        _loaded = True
    show(figure)
    return True


def _notebook() -> bool:
    """Whether a kernel of Jupyter runs this; nothing is imported to find out."""
    shell = sys.modules.get("IPython")
    found = None if shell is None else shell.get_ipython()
    return found is not None and hasattr(found, "kernel")


def written(figure: Any, path: Path) -> Path:
    """The figure as a page that needs nothing from elsewhere."""
    from bokeh.embed import file_html
    from bokeh.resources import INLINE

    path.write_text(file_html(figure, INLINE, "maxmargin"), encoding="utf-8")
    return path


def opened(figure: Any) -> Path:
    """The same in a file of its own, in the browser if there is one."""
    with tempfile.NamedTemporaryFile(prefix="maxmargin-", suffix=".html", delete=False) as file:
        path = written(figure, Path(file.name))
    webbrowser.open(path.as_uri())
    return path
