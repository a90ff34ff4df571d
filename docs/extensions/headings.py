"""`{headings}`: the table from every heading of the lectures' texts to its section here."""

from __future__ import annotations

import tomllib
from pathlib import Path

from docutils import nodes
from myst_parser.config.main import MdParserConfig  # noqa: F401  (the parser that makes the slugs)
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.util.docutils import SphinxDirective

LECTURES = Path(__file__).resolve().parent.parent / "lectures"


class Headings(SphinxDirective):
    """One table a lecture."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(LECTURES / "headings.toml"))
        found = tomllib.loads((LECTURES / "headings.toml").read_text(encoding="utf-8"))
        return [node for page, mapped in found.items() for node in self.table(page, mapped)]

    def table(self, page: str, mapped: dict[str, str]) -> list[nodes.Node]:
        title = (LECTURES / f"{page}.md").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in range(2)), cols=2)
        group += nodes.thead("", _row(nodes.Text("in the lecture"), nodes.Text("here")))
        rows = [_row(nodes.Text(told), _link(page, section)) for told, section in mapped.items()]
        group += nodes.tbody("", *rows)
        return [nodes.rubric(title, title), nodes.table("", group)]


def _link(page: str, section: str) -> nodes.reference:
    return nodes.reference("", section, refuri=f"{page}.html#{default_slugify(section)}")


def _row(*cells: nodes.Node) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app) -> dict:
    app.add_directive("headings", Headings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
