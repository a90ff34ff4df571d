"""`{measured}`: the tables of one file of results, with machine, date and command."""

from __future__ import annotations

from cells import RESULTS, Table
from docutils import nodes
from other_tables import cost_curves, crossover_curves, sentiment_curves
from running import picture
from sphinx.util.docutils import SphinxDirective
from tables import measured

# Files of results that have pictures as well.
CURVES = {"sentiment": sentiment_curves, "crossover": crossover_curves, "curves": cost_curves}


class MeasuredTables(SphinxDirective):
    """```{measured} linear_svm```"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        self.env.note_dependency(str(RESULTS / f"{name}.json"))
        found = measured(name)
        told = nodes.paragraph("", "", nodes.literal(found.command, found.command),
                               nodes.Text(f" ({found.when})"), classes=["source"])  # fmt: skip
        tables = [node for table in found.tables for node in _titled(table)]
        return [told, *tables, *(picture(svg=svg) for svg in CURVES.get(name, list)())]


def _titled(table: Table) -> list[nodes.Node]:
    title = [nodes.rubric(table.title, table.title)] if table.title else []
    return [*title, table_node(table)]


def table_node(table: Table) -> nodes.table:
    """Heads and rows as a table."""
    columns = [nodes.colspec(colwidth=1) for _ in table.heads]
    group = nodes.tgroup("", *columns, cols=len(columns))
    group += nodes.thead("", _row(table.heads))
    group += nodes.tbody("", *(_row(row) for row in table.rows))
    return nodes.table("", group, classes=["measured"])


def _row(cells: tuple[str, ...]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph(cell, cell)) for cell in cells))


def setup(app) -> dict:
    app.add_directive("measured", MeasuredTables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
