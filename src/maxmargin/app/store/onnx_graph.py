"""Linear models with their preprocessing and change of basis as ONNX graphs, in float64.

    column ──(x − shift)/scale──┐
    column ──one-hot────────────┼─ concat ── φ ── W x + b ── label, scores, probabilities
    …                           ┘

One input for every column of the table, (n, 1); or one matrix "X", (n, d).
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ...parts.files.atomic import replacing
from ...parts.files.columns import Category, Number, as_words
from ...parts.files.model import TableModel
from ...parts.files.preparation import MatrixPreparation
from .errors import NotStorableError
from .onnx_bases import basis_nodes
from .onnx_probabilities import calibrated, probability_nodes

LINEAR_MODELS = (
    "LinearSVM", "LogisticRegression", "LeastSquaresClassifier", "FisherDiscriminant", "Perceptron",
    "LinearUnit",
)  # fmt: skip
# Labels of these kinds become words; the others whole numbers.
STRING_DTYPE_KINDS = "UOb"
OPSET, ML_OPSET, IR_VERSION = 17, 3, 9


def need_onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "Writing ONNX needs the extra `onnx`: pip install 'maxmargin[onnx]'."
        ) from None
    return onnx


class Graph:
    """Nodes and constants, with a name for every value."""

    def __init__(self, onnx):
        self.onnx, self.nodes, self.constants, self.inputs = onnx, [], [], []

    def constant(self, value) -> str:
        name = f"c{len(self.constants)}"
        array = np.asarray(value)
        if array.dtype.kind == "U":
            array = array.astype(object)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def __call__(self, operator: str, *inputs: str, domain: str = "", **attributes) -> str:
        name = f"v{len(self.nodes)}"
        make = self.onnx.helper.make_node
        self.nodes.append(make(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def input(self, name: str, kind: int, width: int) -> str:
        info = self.onnx.helper.make_tensor_value_info(name, kind, [None, width])
        self.inputs.append(info)
        return name


def build(model: TableModel):
    """The ONNX model, checked by onnx itself."""
    onnx = need_onnx()
    _refuse_others(model)
    graph = Graph(onnx)
    X = _features(graph, model)
    if model.basis is not None:
        X = basis_nodes(graph, model.basis, X)
    width, outputs = _scores(graph, model, X)
    helper, kinds = onnx.helper, onnx.TensorProto
    estimator = model.model
    label = "STRING" if estimator.classes_.dtype.kind in STRING_DTYPE_KINDS else "INT64"
    results: list[tuple] = [("label", getattr(kinds, label), [None])]
    results += [("scores", kinds.DOUBLE, [None, width])]
    if "probabilities" in outputs:
        results += [("probabilities", kinds.DOUBLE, [None, len(estimator.classes_)])]
    for name, source in outputs.items():
        graph.nodes.append(helper.make_node("Identity", [source], [name]))
    body = helper.make_graph(
        graph.nodes, "maxmargin", graph.inputs,
        [helper.make_tensor_value_info(*result) for result in results], graph.constants,
    )  # fmt: skip
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    made = helper.make_model(
        body, opset_imports=opsets, ir_version=IR_VERSION, producer_name="maxmargin"
    )
    onnx.checker.check_model(made)
    return made


def write_onnx(model: TableModel, path) -> Path:
    """Build the graph and write it, whole or not at all."""
    data = build(model).SerializeToString()
    with replacing(path) as file:
        file.write(data)
    return Path(path)


def inputs_of(model: TableModel, rows) -> dict[str, np.ndarray]:
    """What the graph is fed for these rows: an Arrow table or a matrix."""
    if isinstance(model.preparation, MatrixPreparation):
        X = rows.toarray() if hasattr(rows, "toarray") else rows
        return {"X": np.asarray(X, dtype=np.float64)}
    out = {}
    for column in model.preparation.columns:
        values = rows.column(column.name)
        values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
        if isinstance(column, Number):
            out[column.name] = column.values(values)[:, None]
        else:
            words = [word or "" for word in as_words(values).to_pylist()]
            out[column.name] = np.array(words, dtype=object)[:, None]
    return out


def compare(path, model: TableModel, rows) -> float:
    """The largest difference of scores between the graph, run by onnxruntime, and the model,
    relative to the largest score; ∞ where a label differs."""
    try:
        import onnxruntime
    except ImportError:
        raise ImportError(
            "Checking ONNX needs the extra `onnx`: pip install 'maxmargin[onnx]'."
        ) from None
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], inputs_of(model, rows))[:2]
    X = model.features(rows)
    f = model.model.decision_function(X)
    f = f[:, None] if f.ndim == 1 else f
    difference = float(np.abs(scores - f).max() / max(1.0, float(np.abs(f).max())))
    ties = np.abs(f).min(axis=1) < 1e-9 if f.shape[1] == 1 else _close(f)
    differ = (np.asarray(label).astype(str) != model.model.predict(X).astype(str)) & ~ties
    return float("inf") if differ.any() else difference


def _close(f: np.ndarray) -> np.ndarray:
    best = np.sort(f, axis=1)
    return best[:, -1] - best[:, -2] < 1e-9


def _refuse_others(model: TableModel) -> None:
    estimator = model.model
    name = type(estimator).__name__
    if name not in LINEAR_MODELS:
        raise NotStorableError(
            f"ONNX export is for linear models ({', '.join(LINEAR_MODELS)}), got {name}."
        )
    columns = getattr(model.preparation, "columns", ())
    texts = [column.name for column in columns if not isinstance(column, Number | Category)]
    if texts:
        raise NotStorableError(
            f"ONNX has no operator that splits a text into words as the model does, and the "
            f"column {texts[0]!r} is text. Predict with `maxmargin predict` or maxmargin.load, or "
            f"fit with --drop {texts[0]} and columns of numbers in its place, such as counts of "
            "the words that matter."
        )


def _features(graph: Graph, model: TableModel) -> str:
    """The value that holds the matrix of features."""
    kinds = graph.onnx.TensorProto
    prepared = model.preparation
    if isinstance(prepared, MatrixPreparation):
        X = graph.input("X", kinds.DOUBLE, prepared.width)
        if prepared.scale is None:
            return X
        shifted = graph("Sub", X, graph.constant(np.asarray(prepared.shift, dtype=np.float64)))
        return graph("Div", shifted, graph.constant(np.asarray(prepared.scale, dtype=np.float64)))
    parts = []
    for column in prepared.columns:
        if isinstance(column, Number):
            x = graph.input(column.name, kinds.DOUBLE, 1)
            x = graph("Where", graph("IsNaN", x), graph.constant(np.float64(column.mean)), x)
            x = graph("Sub", x, graph.constant(np.float64(column.shift)))
            parts.append(graph("Div", x, graph.constant(np.float64(column.scale))))
        else:
            x = graph.input(column.name, kinds.STRING, 1)
            hot = graph(
                "OneHotEncoder", x, domain="ai.onnx.ml", cats_strings=column.levels, zeros=1
            )
            shape = graph.constant(np.array([-1, column.width], dtype=np.int64))
            parts.append(graph("Cast", graph("Reshape", hot, shape), to=kinds.DOUBLE))
    return graph("Concat", *parts, axis=1)


def _scores(graph: Graph, model: TableModel, X: str) -> tuple[int, dict[str, str]]:
    """The number of scores, and where label, scores and probabilities are found."""
    estimator, kinds = model.model, graph.onnx.TensorProto
    W = np.asarray(estimator.coef_, dtype=np.float64)
    b = np.asarray(estimator.intercept_, dtype=np.float64)
    f = graph(
        "Add", graph("MatMul", X, graph.constant(np.ascontiguousarray(W.T))), graph.constant(b)
    )
    width, duels = len(W), f
    if getattr(estimator, "multiclass", "") == "pairs" and len(W) > 1:
        width = len(estimator.classes_)
        f = _votes(graph, f, width)
    out = {"scores": f}
    if len(W) == 1:
        zero = graph.constant(np.float64(0.0))
        place = graph("Cast", graph("Greater", f, zero), to=kinds.INT64)
        place = graph("Reshape", place, graph.constant(np.array([-1], dtype=np.int64)))
    else:
        place = graph("ArgMax", f, axis=1, keepdims=0)
    classes = estimator.classes_
    labels = (
        classes.astype(str)
        if classes.dtype.kind in STRING_DTYPE_KINDS
        else classes.astype(np.int64)
    )
    out["label"] = graph("Gather", graph.constant(labels), place)
    if calibrated(estimator):
        out["probabilities"] = probability_nodes(graph, estimator, duels, place)
    elif getattr(estimator, "_log_odds", False):
        if len(W) == 1:
            minus = graph("Sigmoid", graph("Neg", f))
            out["probabilities"] = graph("Concat", minus, graph("Sigmoid", f), axis=1)
        else:
            out["probabilities"] = graph("Softmax", f, axis=1)
    return width, out


def _votes(graph: Graph, f: str, k: int) -> str:
    """``votes`` of the duels f: those won by each class, ties broken by how clearly."""
    duels = list(combinations(range(k), 2))
    sides = np.zeros((len(duels), k))
    for q, (a, c) in enumerate(duels):
        sides[q, a], sides[q, c] = 1.0, -1.0
    first = graph("GreaterOrEqual", f, graph.constant(np.float64(0.0)))
    first = graph("Cast", first, to=graph.onnx.TensorProto.DOUBLE)
    both = graph.constant(sides)
    lost = graph.constant((sides < 0).sum(axis=0).astype(np.float64))  # if no first one won
    won = graph("Add", graph("MatMul", first, both), lost)
    clearly = graph("MatMul", f, both)
    size = graph("Add", graph("Abs", clearly), graph.constant(np.float64(1.0)))
    size = graph("Mul", size, graph.constant(np.float64(3.0)))
    return graph("Add", won, graph("Div", clearly, size))
