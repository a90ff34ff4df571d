"""`{studio}`: a link that opens the studio on this machine in the state a page speaks of.

    {studio}`iris-pair C=3`        a picture of the studio, with knobs turned
    {studio}`85-points m=perceptron tab=stepper step=4`

The state is written as the page's own `address.js` writes it.
"""

from __future__ import annotations

import math
from urllib.parse import urlencode

from docutils import nodes

from maxmargin.app.studio.methods import STUDIO_METHODS
from maxmargin.app.studio.parameters import PARAMETERS
from maxmargin.app.studio.pictures import PICTURES, picture

ADDRESS = "http://127.0.0.1:8642/#"
LETTERS = "ABCDE"
# Not knobs of a method, but of the page.
PAGE_WORDS = ("m", "with", "tab", "step")


def studio_address(words: str) -> str:
    """The address for 'picture knob=value …'; what the studio does not know is an error."""
    name, *settings = words.split()
    given = dict(setting.split("=", 1) for setting in settings)
    drawn = picture(name)
    method = given.get("m", drawn["method"])
    if method not in STUDIO_METHODS:
        raise ValueError(f"The studio has no method {method!r}; have {[*STUDIO_METHODS]}.")
    query = [(key, given[key]) for key in ("tab",) if key in given]
    query += [("set", name), ("m", method)]
    query += [("with", beside)] if (beside := given.get("with", drawn["beside"])) else []
    query += _knobs(drawn["values"] | {k: v for k, v in given.items() if k not in PAGE_WORDS})
    query += [("step", given["step"])] if "step" in given else []
    query += [("n", word) for word in drawn["names"]] + [("l", word) for word in drawn["labels"]]
    points = "".join(f"{LETTERS[c]}{_short(x)},{_short(y)}" for x, y, c in drawn["points"])
    return ADDRESS + urlencode([*query, ("p", points)], safe=",/")


def _knobs(values: dict) -> list[tuple[str, str]]:
    """Knobs that differ from their defaults, checked as the studio checks them."""
    told = []
    for name, value in values.items():
        knob = PARAMETERS[name]
        if isinstance(value, str) and knob.kind in ("log", "number", "whole"):
            value = float(value)
        elif knob.kind == "switch":
            value = value in (True, "true")
        checked = knob.check(value)
        if checked != knob.default:
            told.append((name, str(checked).lower() if knob.kind == "switch" else _short(checked)))
    return told


def _short(value) -> str:
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def studio_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """The link, titled by the picture and the knobs that were turned."""
    try:
        address = studio_address(text)
    except (KeyError, ValueError) as error:
        return [], [inliner.reporter.error(f"{{studio}}`{text}`: {error}", line=lineno)]
    picture_name, *settings = text.split()
    told = f"Open in the studio: {PICTURES[picture_name].title}"
    told += f" ({', '.join(settings)})" if settings else ""
    return [nodes.reference(rawtext, told, refuri=address, classes=["studio"])], []


def setup(app) -> dict:
    app.add_role("studio", studio_role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
