"""Building blocks of a page: HTML that is escaped because it cannot be made otherwise.

``Html`` is text that is HTML already; every other value is escaped on its way into a tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NamedTuple

from ...show.text import safe, shortened

# Names longer than this are cut: a page is for people, and one name must not fill it.
MAX_NAME_LENGTH = 80
MAX_VALUE_LENGTH = 160
PAPER_NOTE = "This is the short version for paper; the page in a browser has pictures and the rest."
# A number and its sign stay on one line.
_BEFORE_PERCENT = re.compile(r"(?<=\d) (?=%)")
FOOTER = "This page holds all it shows: it loads nothing, runs nothing and sends nothing."


class Html(str):
    """Text that is HTML."""


def tag(name: str, *inside, **attributes) -> Html:
    """An element; ``class_`` stands for ``class``, and values of None are left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{safe(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>{joined(*inside)}</{name}>")


def joined(*parts) -> Html:
    """Parts one after the other, escaped where they are not HTML; None is nothing."""
    return Html("".join(_html(part) for part in parts))


def _html(part) -> str:
    if part is None:
        return ""
    if isinstance(part, Html):
        return part
    if isinstance(part, list | tuple):
        return joined(*part)
    return _BEFORE_PERCENT.sub("\u00a0", safe(part))


def name(words: object, longest: int = MAX_NAME_LENGTH) -> Html:
    """A name somebody else has chosen: cut if long, and of its own writing direction."""
    return tag("bdi", shortened(words, longest))


def heading(source: str) -> Html:
    """The title of a page about data from here: the file's own name, without its folders."""
    return tag("h1", name(source.replace("\\", "/").rstrip("/").rpartition("/")[2] or source))


def names(all_of_them: Iterable, most: int = 12) -> Html:
    """Names with commas, cut after ``most``."""
    listed = list(all_of_them)
    shown = [name(one) for one in listed[:most]]
    parts = [part for one in shown for part in (", ", one)][1:]
    more = f" and {len(listed) - most:,} more" if len(listed) > most else None
    return joined(*parts, more)


def paragraph(*inside, class_: str | None = None) -> Html:
    return tag("p", *inside, class_=class_)


def bullets(items: Sequence) -> Html | None:
    return tag("ul", *(tag("li", item) for item in items)) if items else None


def code(*lines: str) -> Html:
    return tag("pre", tag("code", *(part for line in lines for part in (line, Html("\n")))))


def facts(rows: Iterable[tuple]) -> Html:
    """A table of names and what is to be said of them; what is None is left out."""
    body = [
        tag("tr", tag("th", key, scope="row"), tag("td", value)) for key, value in rows if value
    ]
    return _wide(tag("table", tag("tbody", *body), class_="facts"))


def table(head: Sequence, rows: Sequence[Sequence], caption=None, words=(0,)) -> Html:
    """A table whose columns ``words`` are words, and the others numbers."""
    side = [None if j in words else "n" for j in range(len(head))]
    top = tag("tr", *(tag("th", h, scope="col", class_=s) for h, s in zip(head, side, strict=True)))
    body = [
        tag("tr", *(tag("td", cell, class_=s) for cell, s in zip(row, side, strict=True)))
        for row in rows
    ]
    above = None if caption is None else tag("caption", caption)
    return _wide(tag("table", above, tag("thead", top), tag("tbody", *body)))


def _wide(inside: Html) -> Html:
    """Tables wider than the page scroll by themselves; the page never does."""
    return tag("div", inside, class_="wide", tabindex="0", role="group", aria_label="table")


def beside(left, right) -> Html:
    """Two things side by side where there is room, else one below the other."""
    if not joined(*right):
        return joined(*left)
    return tag("div", tag("div", *left), tag("div", *right), class_="beside")


def cards(items: Iterable[tuple]) -> Html:
    """The few numbers to see first: (name, value, and what to know of it)."""
    return tag(
        "ul",
        *(
            tag("li", tag("span", key, class_="key"), tag("strong", value), tag("small", note))
            for key, value, note in items
        ),
        class_="cards",
    )


class Section(NamedTuple):
    """A part of a page with a title; without parts it is left out.  ``printed``: it belongs to the
    short version, on paper."""

    title: str
    parts: Sequence
    printed: bool = True

    @property
    def place(self) -> str:
        return self.title.lower().replace(" ", "-")


def _section(section: Section) -> Html:
    kind = None if section.printed else "long"
    return tag("section", tag("h2", section.title), *section.parts, id=section.place, class_=kind)


def folded(title: str, *inside) -> Html:
    """What is there for those who ask for it."""
    return tag("details", tag("summary", title), *inside)


def page(title: str, lead: Html, sections: Sequence[Section]) -> str:
    """The whole file; it asks for nothing from anywhere and runs nothing."""
    shown = [section for section in sections if joined(*section.parts)]
    links = [tag("a", section.title, href=f"#{section.place}") for section in shown]
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    head = joined(
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        Html('<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
             "style-src 'unsafe-inline'; img-src data:\">"),
        tag("title", title),
        Html(f"<style>{style}</style>"),
    )  # fmt: skip
    body = tag(
        "main",
        lead,
        paragraph(PAPER_NOTE, class_="paper") if any(not s.printed for s in shown) else None,
        tag("nav", *links, aria_label="Contents"),
        *(_section(section) for section in shown),
        tag("footer", FOOTER),
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'
