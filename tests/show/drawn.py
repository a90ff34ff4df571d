"""Draw a display with every drawer that needs no browser, and fail on any warning."""

import json
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from bokeh.embed import json_item

from maxmargin.show.scene import Board, to_json


def scenes_of(view):
    scene = view.scene()
    return scene.scenes if isinstance(scene, Board) else (scene,)


def drawn(display):
    """Draws with matplotlib and Bokeh; returns what Bokeh sends to a browser."""
    plt.close("all")  # of the display's own drawing
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = display.plot().figure_
        figure.canvas.draw()
        told = json.dumps(json_item(display.bokeh()))
    for scene in scenes_of(display.view):
        assert scene.title
        assert scene.words
        assert scene.x.label
        json.dumps(to_json(scene), allow_nan=False)
    shown = [ax.get_title(loc="left").replace("\n", " ") for ax in figure.axes if ax.axison]
    assert shown == [scene.title for scene in scenes_of(display.view)]
    plt.close("all")
    return told


def marks(scene, kind, label=None):
    found = [m for m in scene.marks if isinstance(m, kind) and label in (None, m.label)]
    assert found, (kind, label, [m.label for m in scene.marks])
    return found
