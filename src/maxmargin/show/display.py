"""What all displays share: scikit-learn's manners around a view.

A display is made by ``XDisplay.from_estimator(…)``, holds its ``view``, and draws it as often
as it is asked to: with matplotlib by ``plot``, with Bokeh by ``bokeh`` and ``show``, as SVG by
``svg``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .scene import Board, Scene


class View(Protocol):
    """Arrays computed once, and what they look like."""

    def scene(self) -> Scene | Board: ...


class Display:
    """A picture that can be drawn.

    Attributes
    ----------
    view : the arrays that are drawn
    ax_, figure_ : matplotlib's axes (an array of them where there are several pictures) and
        figure, after ``plot``
    """

    ax_: Any
    figure_: Any

    def __init__(self, view: View):
        self.view = view

    @classmethod
    def of(cls, view: Any, ax: Any = None) -> Any:
        """A display of the view, drawn at once as scikit-learn's are.

        Without matplotlib it is not drawn yet; ``bokeh`` and ``svg`` can do it.
        """
        display = cls(view)
        return display if ax is None and find_spec("matplotlib") is None else display.plot(ax)

    def plot(self, ax: Any = None) -> Any:
        """Draw with matplotlib, on ``ax`` if given; returns the display.

        A display of several pictures takes as many axes, or none.
        """
        from .drawers.draw_matplotlib import draw, draw_board

        scene = self.view.scene()
        if isinstance(scene, Scene):
            self.ax_ = draw(scene, ax)
            self.figure_ = self.ax_.figure
            return self
        if ax is None:
            self.figure_ = draw_board(scene)
            self.ax_ = np.array(self.figure_.axes[: len(scene.scenes)], dtype=object)
            return self
        axes = np.array(ax, dtype=object).ravel()
        if len(axes) != len(scene.scenes):
            raise ValueError(
                f"{type(self).__name__} draws {len(scene.scenes)} pictures and needs as many "
                f"axes, got {len(axes)}. Leave ax out for a new figure."
            )
        self.ax_ = np.array(
            [draw(part, a) for part, a in zip(scene.scenes, axes, strict=True)], dtype=object
        )
        self.figure_ = self.ax_[0].figure
        return self

    def bokeh(self) -> Any:
        """The same picture drawn by Bokeh: a figure, or a grid of figures, to be shown."""
        from .drawers.draw_bokeh import draw, draw_board

        scene = self.view.scene()
        return draw(scene) if isinstance(scene, Scene) else draw_board(scene)

    def show(self, file: str | Path | None = None) -> Path | None:
        """The interactive picture, drawn by Bokeh: in place in a notebook, else in the browser.

        Parameters
        ----------
        file : where the page is kept; it needs nothing from elsewhere.  Default: a new file among
            the temporary ones, which is opened.  A file that is named is written and not opened.

        Returns
        -------
        Path of the page, or None in a notebook.
        """
        from .drawers.window import in_notebook, opened, written

        if file is None and in_notebook(self.bokeh()):
            return None
        return opened(self.bokeh()) if file is None else written(self.bokeh(), Path(file))

    def svg(self) -> str:
        """The same picture as the text of an SVG image; needs nothing installed."""
        from .drawers.draw_svg import draw, draw_board

        scene = self.view.scene()
        return draw(scene) if isinstance(scene, Scene) else draw_board(scene)
