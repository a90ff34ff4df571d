"""How the golden files of format 1 were made; run once, from the root of the repository."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

import maxmargin as mm
from maxmargin.app.workflow.fit import fit_table
from maxmargin.app.workflow.plan import Plan
from maxmargin.parts.files.preparation import Choices
from maxmargin.parts.files.training import label_table

HERE = Path(__file__).parent
X = np.array([[0.0, 1.0], [1.0, 1.5], [2.0, 0.5], [3.0, 3.0], [4.0, 2.0], [5.0, 3.5]])
LABELS = ["low", "low", "low", "high", "high", "middle"]
TABLE = {"size": [1, 2, 3, 4, None, 6], "colour": ["red", "rot", "red", "blue", "blue", "red"]}


def models():
    yield "linear-svm", mm.LinearSVM().fit(X, LABELS)
    yield "logistic", mm.LogisticRegression().fit(X, LABELS)
    yield "kernel-ridge", mm.KernelRidgeClassifier(0.1).fit(X, LABELS)
    table = pa.table(TABLE | {"kind": ["a", "b", "a", "b", "b", "a"]})
    data = label_table(table, "kind", None, "golden")
    yield "table", fit_table(data, Plan(C=1.0, basis="quadratic"), Choices()).model


if __name__ == "__main__":
    told = {}
    for name, model in models():
        mm.save(model, HERE / f"{name}-1.maxmargin")
        rows = pa.table(TABLE) if name == "table" else X
        told[name] = {
            "labels": model.predict(rows).tolist(),
            "scores": model.decision_function(rows).tolist(),
        }
    (HERE / "predictions-1.json").write_text(json.dumps(told, indent=1))
