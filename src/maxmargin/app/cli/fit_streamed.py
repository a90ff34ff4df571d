"""``maxmargin fit --memory``: the same for data larger than memory."""

from __future__ import annotations

from pathlib import Path

import typer

from .output import write_fit
from .run import print_json


def fit_streamed(asked, plan, choices, holdout: float, memory, resume: bool, out: Path,
                 page: Path | None, as_json: bool) -> None:  # fmt: skip
    """Fit, tell and store; ``asked``: data, target, weights, format and test."""
    data, target, weights, format, test = asked
    if memory is None:
        raise ValueError("--resume goes with --memory, as in the fit that is to go on.")
    if data is None:
        raise ValueError("--memory is for files of your own: name one, or a folder of them.")
    if holdout:
        raise ValueError("--holdout needs all rows in memory. Give --test a file of its own.")
    from ...parts.files.readers import BadData
    from ...parts.stream.memory_limit import parse_memory
    from ..workflow.stream_fit import checkpoint_of, fit_files
    from .interrupt import cautiously
    from .show import as_plain, next_steps, show_fit

    limit = parse_memory(memory)
    kept = checkpoint_of(out)
    try:
        with cautiously():  # Ctrl-C must leave time to remove the cache
            fitted = fit_files(
                data, plan, choices, limit, kept, resume, target, weights, format, test
            )
    except KeyboardInterrupt:
        if kept.exists():
            typer.echo(
                f"maxmargin: {kept} has where the fit stood, without its cache. The same command "
                "with --resume goes on from there.", err=True,
            )  # fmt: skip
        raise
    except BadData as error:
        if not kept.exists():
            raise
        text = f"{error} Correct it and go on with --resume: {kept} has what was read before."
        raise ValueError(text) from None
    if weights is not None:
        fitted.model.summary["weights"] = weights
    written = write_fit(fitted, out, page)
    if as_json:
        print_json(as_plain(fitted, written))
    else:
        show_fit(fitted, written)
        next_steps(out, page, data)
    if not fitted.proved:
        raise typer.Exit(1)
