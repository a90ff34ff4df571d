"""Changes of basis as ONNX nodes, in float64.

    quadratic, polynomial    products of two columns known before, degree by degree
    radial                   exp(−γ‖x − c‖²), the square multiplied out around the centres' mean
    polar                    lengths by Sqrt, angles by Atan

onnxruntime has Atan in float32 only.  An angle θ that is nearly right is corrected in float64: the
point, turned back by θ, lies at an angle δ from the axis with
tan δ = (y cos θ − x sin θ)/(x cos θ + y sin θ), and of a δ below 1e-6 that is all float64 can tell.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from ...parts.files.basis import Basis


def basis_nodes(graph, basis: Basis, X: str) -> str:
    """The value that holds φ(X)."""
    if basis.name == "polar":
        return _polar(graph, X, basis.width)
    if basis.name == "radial":
        return _radial(graph, X, np.asarray(basis.centers, dtype=np.float64), float(basis.gamma))
    return _polynomial(graph, X, basis.width, 2 if basis.name == "quadratic" else basis.degree)


def _polynomial(graph, X: str, width: int, degree: int) -> str:
    """Every product is its first column times a product of one column less."""
    parts, last = [X], X
    before: dict[tuple[int, ...], int] = {(j,): j for j in range(width)}
    for each in range(2, degree + 1):
        products = list(combinations_with_replacement(range(width), each))
        first = np.array([product[0] for product in products], dtype=np.int64)
        rest = np.array([before[product[1:]] for product in products], dtype=np.int64)
        shorter = graph("Gather", last, graph.constant(rest), axis=1)
        last = graph("Mul", shorter, graph("Gather", X, graph.constant(first), axis=1))
        parts.append(last)
        before = {product: place for place, product in enumerate(products)}
    return graph("Concat", *parts, axis=1)


def _radial(graph, X: str, centers: np.ndarray, gamma: float) -> str:
    """‖x − c‖² = ‖z‖² − 2 z·e + ‖e‖² with z and e relative to the mean of the centres, so that
    little is lost to rounding where the data are far from the origin."""
    mean = centers.mean(axis=0)
    relative = centers - mean
    z = graph("Sub", X, graph.constant(mean))
    own = graph("ReduceSumSquare", z, axes=[1], keepdims=1)
    cross = graph("MatMul", z, graph.constant(np.ascontiguousarray(-2.0 * relative.T)))
    squares = graph("Add", graph("Add", cross, own), graph.constant((relative**2).sum(axis=1)))
    squares = graph("Max", squares, graph.constant(np.float64(0.0)))
    return graph("Exp", graph("Mul", squares, graph.constant(np.float64(-gamma))))


def _polar(graph, X: str, width: int) -> str:
    """r, the angles of every column with what comes after it, and the last pair's angle."""
    zero = graph.constant(np.float64(0.0))
    X = graph("Where", graph("Equal", X, zero), zero, X)  # −0.0 becomes 0.0
    column = [
        graph("Gather", X, graph.constant(np.array([j], dtype=np.int64)), axis=1)
        for j in range(width)
    ]
    square = graph("Mul", column[-1], column[-1])
    tail = [graph("Abs", column[-1])]  # of the columns from j on, the last first
    for x in column[-2::-1]:
        square = graph("Add", graph("Mul", x, x), square)
        tail.append(graph("Sqrt", square))
    tail.reverse()
    angles = [_angle(graph, tail[j + 1], column[j], tail[j]) for j in range(width - 2)]
    last = _angle(graph, column[-1], column[-2], tail[-2])
    return graph("Concat", tail[0], *angles, last, axis=1)


def _angle(graph, y: str, x: str, r: str) -> str:
    """arctan2(y, x), where r = √(x² + y²); 0 at the origin."""
    kinds = graph.onnx.TensorProto
    zero, two = graph.constant(np.float64(0.0)), graph.constant(np.float64(2.0))
    # tan(θ/2), by the formula that does not cancel.
    right = graph("Div", y, graph("Add", r, x))
    left = graph("Div", graph("Sub", r, x), y)
    half = graph("Where", graph("Greater", x, zero), right, left)
    rough = graph("Atan", graph("Cast", half, to=kinds.FLOAT))
    angle = graph("Mul", graph("Cast", rough, to=kinds.DOUBLE), two)
    cos, sin = graph("Cos", angle), graph("Sin", angle)
    across = graph("Sub", graph("Mul", y, cos), graph("Mul", x, sin))
    along = graph("Add", graph("Mul", x, cos), graph("Mul", y, sin))
    angle = graph("Add", angle, graph("Div", across, along))
    return graph("Where", graph("Equal", r, zero), zero, angle)
