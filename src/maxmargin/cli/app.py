"""The command ``maxmargin``; exit codes: 0 done and proved, 1 done but not proved, 2 bad input."""

from __future__ import annotations

import sys

import typer

from .. import __version__
from .demo import demo
from .rank import rank

app = typer.Typer(
    name="maxmargin",
    help="Linear classification with proof.",
    no_args_is_help=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(demo)
app.command()(rank)


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


@app.callback()
def without_command(context: typer.Context) -> None:
    """Linear classification with proof.  Without a command: the demonstration."""
    if context.invoked_subcommand is None:
        demo()


def main() -> None:
    """Run a command; what is wrong with the input is said in one sentence."""
    try:
        app()
    except (ValueError, OSError) as error:
        print(f"maxmargin: {error}", file=sys.stderr)
        sys.exit(2)
