"""``maxmargin probe``: a linear probe on embeddings, by a published protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import AsJson, Report
from .run import command_line, print_json


def probe(
    embeddings: Annotated[Path, typer.Argument(help="Rows of numbers: .npy, or .pt of a tensor.")],
    labels: Annotated[Path, typer.Argument(help="One label for every row: .npy, .pt or .txt.")],
    protocol: Annotated[
        str, typer.Option(help="dino, clip or mteb: how C is chosen and what is judged.")
    ] = "dino",
    test_embeddings: Annotated[
        Path | None, typer.Option(help="Rows to be judged by; default: a tenth, put aside.")
    ] = None,
    test_labels: Annotated[Path | None, typer.Option(help="Their labels.")] = None,
    device: Annotated[
        str | None, typer.Option(help="Where to compute, such as cuda; default: the CPU.")
    ] = None,
    tol: Annotated[float, typer.Option(help="Relative gap of the final fit.")] = 1e-6,
    seed: Annotated[int, typer.Option(help="Of the choice of rows.")] = 0,
    model: Annotated[Path | None, typer.Option(help="Write the final model here.")] = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Choose C, refit on all rows, judge on rows that chose nothing; every fit is proved.

    maxmargin probe embeddings.npy labels.npy --device cuda
    maxmargin probe train.npy train_y.npy --test-embeddings test.npy --test-labels test_y.npy
    maxmargin probe embeddings.npy labels.npy --model probe.maxmargin --report probe.html
    """
    from rich.console import Console
    from rich.table import Table

    from ...models.probe import probe as run
    from ..store.files import save
    from .output import check_outputs, write_page

    inputs = {
        "the embeddings": embeddings, "the labels": labels,
        "the test embeddings": test_embeddings, "the test labels": test_labels,
    }  # fmt: skip
    check_outputs({"--model": model, "--report": report}, inputs)
    found = run(
        _rows(embeddings), _labels(labels), protocol,
        X_test=None if test_embeddings is None else _rows(test_embeddings),
        y_test=None if test_labels is None else _labels(test_labels),
        tol=tol, device=device, seed=seed,
    )  # fmt: skip
    if model is not None:
        save(found.model, model)
    if report is not None:
        from ..report.probe import probe_report

        write_page(report, probe_report(found, embeddings.name, command_line()))
    if as_json:
        print_json(found.to_dict())
    else:
        console = Console()
        console.print(str(found), highlight=False)
        table = Table(box=None)
        for title in ("C", "accuracy of the choice", "relative gap"):
            table.add_column(title, justify="right")
        for C, share, gap in zip(found.Cs, found.choice_accuracy, found.gaps, strict=True):
            table.add_row(f"{C:.3g}", f"{share:.2%}", f"{gap:.1e}")
        console.print(table, highlight=False)
        console.print(f"{found.seconds:.1f} s", highlight=False)
    if not found.proved:
        raise typer.Exit(1)


def _rows(path: Path) -> Any:
    """An array or a tensor, as the file has it."""
    if path.suffix == ".pt":
        import torch

        return torch.load(path, weights_only=True)
    import numpy as np

    return np.load(path, allow_pickle=False)


def _labels(path: Path) -> Any:
    import numpy as np

    if path.suffix == ".txt":
        return np.array(path.read_text(encoding="utf-8").splitlines())
    return _rows(path)
