"""The rows of a file by how badly a model does on them, the worst first.

Run in a process of its own: ``python -m maxmargin.app.studio.worst MODEL FILE`` prints JSON.
"""

from __future__ import annotations

import sys

import numpy as np

from .describe import answer, word

MAX_WORST_ROWS = 2000
MAX_WORST_COLUMNS = 8


def worst(model_file: str, data_file: str) -> dict:
    """Label, prediction and distance of the rows, and what the file says in them."""
    from ...parts.files.training import read_labelled
    from ..report.rows import leads
    from ..store.files import load

    model = load(model_file)
    data = read_labelled(data_file, model.target if model.is_table else None, None, model.form())
    X = model.features(data.rows)
    f = model.model.decision_function(X)
    classes = model.model.classes_
    predicted = classes[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]
    lead, true = leads(model.model, f, data.y)
    wrong = predicted != data.y
    order = np.lexsort((lead, ~wrong))[:MAX_WORST_ROWS]
    places = order if data.numbers is None else data.numbers[order]
    names = [c.name for c in model.preparation.columns][:MAX_WORST_COLUMNS] if data.is_table else []
    values = [data.rows.column(name).take(order).to_pylist() for name in names]
    return {
        "rows": [
            {
                "row": int(place) + 1,
                "label": word(data.y[i]),
                "prediction": word(predicted[i]),
                "lead": float(f"{lead[i]:.4g}"),
                "wrong": bool(wrong[i]),
                "values": [word(column[at]) for column in values],
            }
            for at, (i, place) in enumerate(zip(order.tolist(), places.tolist(), strict=True))
        ],
        "columns": names,
        "total": len(wrong),
        "errors": int(wrong.sum()),
        "measure": "distance" if true else "lead",
    }


if __name__ == "__main__":
    sys.exit(answer(worst, *sys.argv[1:]))
