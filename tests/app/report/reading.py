"""A strict reader of our pages: every tag closed in order, nothing loaded, nothing run."""

from html.parser import HTMLParser

import numpy as np
import pyarrow as pa

from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table

VOID = {"meta", "br", "hr", "img", "input", "link"}
# Attributes that fetch something, or run something.
FETCH = {"src", "href", "xlink:href", "action", "data", "poster", "srcset"}


class Reader(HTMLParser):
    """Reads a page; raises if it is not well-formed or not self-contained."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        assert page.startswith("<!DOCTYPE html>")
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        assert tag not in ("script", "iframe", "object", "embed", "link", "base", "form")
        for name, value in attributes:
            assert not name.startswith("on"), name
            if name in FETCH:
                assert value.startswith("#"), (name, value)
            if name == "id":
                self.ids.append(value)
            if name == "style":
                raise AssertionError("styles belong into the style sheet")
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def read(page: str) -> Reader:
    """The page, checked."""
    assert len(page.encode()) < 3_000_000
    reader = Reader(page)
    assert len(set(reader.ids)) == len(reader.ids)
    return reader


def rows(n=90, classes=3, seed=0, **more) -> pa.Table:
    """Two numbers that tell the classes apart, one that does not, and a category."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    angle = 2 * np.pi * y / classes
    X = 2.5 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.standard_normal((n, 2))
    columns = {"east": X[:, 0], "north": X[:, 1], "noise": rng.standard_normal(n)}
    columns |= {"town": [("Rome", "Paris", "Bonn")[t] for t in rng.integers(0, 3, n)]}
    return pa.table(columns | more | {"label": [f"class {c}" for c in y]})


def fitted(table: pa.Table, plan: Plan | None = None, target="label", **given):
    """What `maxmargin fit` would have of this table; C = 1 unless the plan says otherwise."""
    named = {name: given.pop(name) for name in ("text", "category", "missing") if name in given}
    data = label_table(table, target, given.pop("weights", None), given.pop("name", "rows.csv"))
    return fit_table(data, plan or Plan(C=1.0), Choices(**named), **given)
