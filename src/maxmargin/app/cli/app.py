"""The command ``maxmargin``.

Exit codes: 0 done and proved, 1 done but not proved (or the answer is no), 2 bad input,
70 a fault of the program, 130 interrupted.  Commands import what they need when they run, so that
help is quick.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Annotated

import typer

from ... import __version__
from .ask import ask
from .compare import compare
from .demo import demo
from .evaluate import evaluate
from .export import export
from .fit import fit
from .forget import forget
from .inspect import inspect
from .interrupt import WORK_THREAD, leave
from .path import path
from .predict import predict
from .probe import probe
from .rank import rank
from .run import command, command_line, typed
from .separable import separable
from .studio import studio
from .verify import verify
from .welcome import welcome

# What the system's headers call an internal software error.
FAULT_EXIT_CODE = 70
DEBUG_OPTION, DEBUG_VARIABLE = "--debug", "MAXMARGIN_DEBUG"

app = typer.Typer(
    name="maxmargin",
    no_args_is_help=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
COMMANDS = (
    fit, predict, evaluate, verify, forget, inspect, separable, path, compare, rank, ask, probe,
    export, demo,
)  # fmt: skip
for body in COMMANDS:
    app.command()(command(body))
app.command()(studio)  # imports what is heavy when its page has been shown, and ends by Ctrl-C


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


@app.callback()
def without_command(
    context: typer.Context,
    debug: Annotated[
        bool, typer.Option(DEBUG_OPTION, help="Show where in the program an error arose.")
    ] = False,
) -> None:
    """Linear classification with proof.

    From a file to a model you can trust, and back:

        maxmargin fit data.csv --target label        # writes model.maxmargin, report.html
        maxmargin predict model.maxmargin new.csv
        maxmargin verify model.maxmargin data.csv    # recompute the proof

    Without a command: what there is, and a question for a file.

    Exit codes: 0 done and proved, 1 done but not proved, 2 bad input,
    70 a fault of the program, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        command(welcome)()


def main(arguments: list[str] | None = None) -> None:
    """Run a command; what is wrong with the input is said in one sentence."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = bool(os.environ.get(DEBUG_VARIABLE)) or DEBUG_OPTION in words
    words = [word for word in words if word != DEBUG_OPTION]  # it may stand anywhere
    try:
        typed.set(tuple(words))
        app(args=words)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has had enough
        sys.exit(0)
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        print(f"maxmargin: {_sentence(error)}", file=sys.stderr)
        code = 2 if _is_foreseen(error) else FAULT_EXIT_CODE
        if any(thread.name == WORK_THREAD for thread in threading.enumerate()):
            leave(code)  # it would be waited for
        sys.exit(code)


def _is_foreseen(error: Exception) -> bool:
    """What is raised for input that cannot be used, by us and by Arrow; memory is short for large
    input."""
    known = isinstance(error, ValueError | OSError | ImportError | MemoryError)
    return known or type(error).__module__.startswith("pyarrow.")


def _sentence(error: Exception) -> str:
    """An error of the system as "reason: file", ours as they are, and what nobody foresaw."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        said = f" ({error})" if str(error) else ""
        return (
            f"This needs more memory than there is{said}. Use fewer rows or columns; fit "
            "--memory 1GB reads a file in pieces."
        )
    if _is_foreseen(error):
        return str(error)
    return (
        f"This is a fault of maxmargin {__version__}, not of yours: {type(error).__name__}: "
        f"{' '.join(str(error).split())[:300]}. Please report it, with what "
        f"`{command_line()} {DEBUG_OPTION}` prints."
    )
