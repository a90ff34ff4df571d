"""The command ``maxmargin``.

Exit codes: 0 done and proved, 1 done but not proved (or the answer is no), 2 bad input,
130 interrupted.  Commands import what they need when they run, so that help is quick.
"""

from __future__ import annotations

import sys

import typer

from ... import __version__
from .compare import compare
from .demo import demo
from .evaluate import evaluate
from .export import export
from .fit import fit
from .inspect import inspect
from .path import path
from .predict import predict
from .rank import rank
from .run import command, typed
from .separable import separable
from .studio import studio
from .verify import verify

app = typer.Typer(
    name="maxmargin",
    no_args_is_help=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
COMMANDS = (fit, predict, evaluate, verify, inspect, separable, path, compare, rank, export, demo)
for body in COMMANDS:
    app.command()(command(body))
app.command()(studio)  # imports what is heavy when its page has been shown, and ends by Ctrl-C


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


@app.callback()
def without_command(context: typer.Context) -> None:
    """Linear classification with proof.

    From a file to a model you can trust, and back:

        maxmargin fit data.csv --target label        # writes model.maxmargin, report.html
        maxmargin predict model.maxmargin new.csv
        maxmargin verify model.maxmargin data.csv    # recompute the proof

    Without a command: the demonstration.

    Exit codes: 0 done and proved, 1 done but not proved, 2 bad input,
    130 interrupted.
    """
    if context.invoked_subcommand is None:
        command(demo)()


def main(arguments: list[str] | None = None) -> None:
    """Run a command; what is wrong with the input is said in one sentence."""
    try:
        typed.set(tuple(sys.argv[1:] if arguments is None else arguments))
        app(args=arguments)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has had enough
        sys.exit(0)
    except (ValueError, OSError, ImportError) as error:
        print(f"maxmargin: {_sentence(error)}", file=sys.stderr)
        sys.exit(2)


def _sentence(error: Exception) -> str:
    """An error of the system as "reason: file", ours as they are."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error)
