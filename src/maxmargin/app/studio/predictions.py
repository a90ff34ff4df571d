"""What a file of predictions holds: how many of each label, and the first rows.

Run in a process of its own: ``python -m maxmargin.app.studio.predictions FILE`` prints JSON.
"""

from __future__ import annotations

import sys

from .describe import answer, word

MAX_SHOWN_PREDICTIONS = 200
MAX_COUNTED_LABELS = 20


def predictions(path: str) -> dict:
    """Counts by label, the commonest first, and the first rows as the page shows them."""
    import pyarrow.compute as pc
    from pyarrow import csv

    text = csv.ConvertOptions(column_types={"prediction": "string", "set": "string"})
    table = csv.read_csv(path, convert_options=text)
    counts = pc.value_counts(table["prediction"]).to_pylist()
    counts.sort(key=lambda entry: -entry["counts"])
    shown = table.slice(0, MAX_SHOWN_PREDICTIONS)
    rows = zip(*(column.to_pylist() for column in shown.columns), strict=True)
    return {
        "predicted": table.num_rows,
        "counts": [[word(c["values"]), c["counts"]] for c in counts[:MAX_COUNTED_LABELS]],
        "labels": len(counts),
        "columns": table.column_names,
        "rows": [[word(value) for value in row] for row in rows],
    }


if __name__ == "__main__":
    sys.exit(answer(predictions, *sys.argv[1:]))
