"""Scenes as figures of a page, each with its words as caption."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ...show.drawers.draw_svg import draw
from ...show.scene import Board, Scene
from .page import Html, name, paragraph, tag

Maker = Callable[[], Scene | Board | None]


# Words of a picture with many classes are cut: they are in the picture whole.
MAX_CAPTION_LENGTH = 600
LARGE_FIGURE_SIZE = {"width": 680, "height": 500}


def figures(makers: Sequence[tuple[str, Maker]], large: bool = False) -> list[Html]:
    """Pictures side by side.  One that cannot be drawn is told of: it must not cost the report,
    much less the fit.  What some library said of it is nothing to a reader; with MAXMARGIN_DEBUG
    it is raised."""
    drawn, failed = [], []
    for what, make in makers:
        try:
            drawn += [_figure(scene, large) for scene in _scenes(make())]
        except Exception:
            if os.environ.get("MAXMARGIN_DEBUG"):
                raise
            failed.append(
                paragraph(f"The picture “{what}” could not be drawn of these rows.", class_="sub")
            )
    shape = "pictures one" if large else "pictures"
    return [*([tag("div", *drawn, class_=shape)] if drawn else []), *failed]


def _scenes(found: Scene | Board | None) -> tuple[Scene, ...]:
    if found is None:
        return ()
    return found.scenes if isinstance(found, Board) else (found,)


def _figure(scene: Scene, large: bool) -> Html:
    drawn = Html(draw(scene, **(LARGE_FIGURE_SIZE if large else {})))
    caption = tag("figcaption", name(scene.words, MAX_CAPTION_LENGTH))
    return tag("figure", drawn, caption, class_="large" if large else None)
