"""`{commands}`: what `maxmargin COMMAND --help` prints, for every command."""

from __future__ import annotations

import os

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

# As wide as a terminal is by default, and narrower than a page.
COLUMNS = "80"


def help_of(command: str) -> str:
    """The text of ``maxmargin COMMAND --help``, as a terminal without colours shows it."""
    from typer.testing import CliRunner

    from maxmargin.app.cli.app import app

    plain = {"COLUMNS": COLUMNS, "TERMINAL_WIDTH": COLUMNS, "NO_COLOR": "1", "TERM": "dumb"}
    asked = [command, "--help"] if command else ["--help"]
    said = CliRunner().invoke(app, asked, prog_name="maxmargin", env=os.environ | plain)
    return "\n".join(line.rstrip() for line in said.output.strip("\n").splitlines())


def command_names() -> list[str]:
    """All commands, in the order of ``maxmargin --help``."""
    from typer.main import get_command

    from maxmargin.app.cli.app import app

    return list(get_command(app).commands)


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        return [self.section(name) for name in command_names()]

    def section(self, name: str) -> nodes.section:
        title = f"maxmargin {name}"
        section = nodes.section(ids=[f"maxmargin-{name}"], names=[title])
        section += nodes.title(title, title)
        section += nodes.literal_block(help_of(name), help_of(name), language="text")
        return section


def setup(app) -> dict:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
