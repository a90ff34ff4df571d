"""``maxmargin evaluate``: how often a model is wrong on a file with labels."""

from __future__ import annotations

from .options import AsJson, CostsFile, Format, ModelFile, Rows, costs_for
from .run import print_json, reading


def evaluate(
    model: ModelFile,
    data: Rows,
    costs: CostsFile = None,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Whether it is better than the commonest answer, errors with their uncertainty, by class, and
    log-loss where there are probabilities.

    With costs, what its decisions cost on average, too.

    maxmargin evaluate model.maxmargin test.csv
    maxmargin evaluate model.maxmargin test.csv --costs costs.csv
    maxmargin evaluate model.maxmargin test.csv --json
    """
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from ...models.calibration.verdict import by_table
    from ...parts.files.columns import UnexpectedValues
    from ...parts.files.model import with_columns
    from ...parts.files.training import read_like
    from ..store.files import load
    from ..workflow.judge import confusion, count_errors, log_loss, mean_costs
    from .show import show_verdict

    fitted = with_columns(load(model))
    rows = read_like(data, fitted, format, reading(as_json))
    classes = fitted.model.classes_
    unknown = np.setdiff1d(rows.y, classes)
    if len(unknown):
        raise ValueError(
            f"{rows.name} has labels the model does not know: {unknown[:5].tolist()}. "
            f"It was fitted on {classes[:20].tolist()}."
        )
    notes = UnexpectedValues(strict=False)
    X = fitted.features(rows.rows, notes)
    predicted = fitted.model.predict(X)
    errors = count_errors(predicted, rows.y)
    counts, labels = confusion(predicted, rows.y, classes), [str(label) for label in classes]
    trained = _training_counts(fitted, counts)
    verdict = by_table(labels, trained, counts, errors.estimate)
    result: dict = {"data": rows.name, **errors.to_dict(), "verdict": verdict.to_dict()}
    if hasattr(fitted.model, "predict_proba"):
        result["log_loss"] = log_loss(fitted.model.predict_proba(X), rows.y, classes)
    prices = costs_for(fitted, costs)
    if prices is not None:
        result["cost"] = mean_costs(prices, fitted.model, X, rows.y, predicted)
    result["classes"] = [str(label) for label in classes]
    result["confusion"] = counts.tolist()
    result["notes"] = list(notes.sentences())
    if as_json:
        print_json(result)
        return
    console = Console()
    show_verdict(console, verdict, [], "")
    console.print(f"error {errors}", highlight=False)
    if "log_loss" in result:
        console.print(f"log-loss {result['log_loss']:.4f}", highlight=False)
    for said, cost in result.get("cost", {}).items():
        console.print(f"mean cost {cost:.4g} {said}", highlight=False)
    table = Table(title="true class by row, predicted by column", box=None)
    table.add_column("")
    for label in result["classes"][:12]:
        table.add_column(label, justify="right")
    for label, line in zip(result["classes"][:12], counts[:12, :12].tolist(), strict=True):
        table.add_row(label, *map(str, line))
    console.print(table, highlight=False)
    for note in result["notes"]:
        console.print(f"note: {note}", highlight=False)


def _training_counts(fitted, table):
    """Rows of each class that the model was fitted to; of a bare estimator those of this file."""
    import numpy as np

    known = [count for _, count in fitted.summary.get("classes", [])]
    return np.array(known) if len(known) == len(table) else table.sum(axis=1)
