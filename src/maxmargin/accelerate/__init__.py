"""scikit-learn's own classes, with maxmargin solving inside them.

    python -m maxmargin.accelerate script.py        nothing in the script changes
    maxmargin.accelerate.install()                  the same from within a program
    %load_ext maxmargin.accelerate                  the same in a notebook

Classes, parameters, attributes, warnings and pickles stay scikit-learn's; what is replaced is the
search for the optimum of the very same objective.  Whatever a fit asks for that is not honoured
here is left to scikit-learn's own code, and the reason is recorded: see ``report()``.

Importing this package imports neither numpy nor scikit-learn; the solvers are loaded by the first
fit that they serve.
"""

from __future__ import annotations

from .hook import install, installed, uninstall
from .record import Fit, clear, fits

__all__ = ["Fit", "accelerated", "clear", "fits", "install", "installed", "report", "uninstall"]


class accelerated:
    """Accelerate within a ``with`` block; what was installed before it stays installed."""

    def __init__(self, *, compare: bool = False, load: str = "when needed"):
        self.compare, self.load = compare, load

    def __enter__(self) -> None:
        self.before = installed()
        install(compare=self.compare, load=self.load)

    def __exit__(self, *raised) -> None:
        if not self.before:
            uninstall()


def report() -> str:
    """What was fitted so far, by whom and why, as text."""
    from .reports import as_text

    return as_text(fits())


def load_ipython_extension(ipython) -> None:
    """``%load_ext maxmargin.accelerate``."""
    install()


def unload_ipython_extension(ipython) -> None:
    """``%unload_ext maxmargin.accelerate``."""
    uninstall()
