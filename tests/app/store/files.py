"""Model files to alter: the golden ones, and fresh ones of every family."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import maxmargin as mm

from .golden.make_golden import LABELS, X

HERE = Path(__file__).parent
GOLDEN, CASES = HERE / "golden", HERE / "cases"


def fresh_models():
    """Small models of every family, with words, sparse rows and models in models."""
    import numpy as np
    import pyarrow as pa
    from scipy import sparse

    from maxmargin.app.workflow.fit import fit_table
    from maxmargin.app.workflow.plan import Plan
    from maxmargin.parts.files.preparation import Choices
    from maxmargin.parts.files.training import label_table

    yield mm.LinearSVM(multiclass="pairs", class_weight={"low": 2.0}).fit(X, LABELS)
    yield mm.KernelSVM(rank=3).fit(X, LABELS)
    yield mm.KernelSVM().fit(sparse.csr_matrix(X), LABELS)
    yield mm.OneVsRest(mm.LogisticRegression(), unknown="nobody").fit(X, LABELS)
    yield mm.OneVsOne(mm.KernelSVM(kernel="precomputed")).fit(X @ X.T, LABELS)
    yield mm.Perceptron(max_passes=5, average=True).fit(X, LABELS)
    yield mm.KernelPerceptron("poly", degree=2, max_passes=5).fit(X, LABELS)
    yield mm.KernelRidge(1e-3, gamma=1.0).fit(X, np.sin(X))
    yield mm.LeastSquaresClassifier(alphas=[0.1, 1.0]).fit(X, LABELS)
    yield mm.FisherDiscriminant().fit(X, LABELS)
    rows = np.random.default_rng(0).standard_normal((12, 2))
    yield mm.QuadraticDiscriminant().fit(rows, np.repeat(["low", "mid", "high"], 4))
    yield mm.LinearUnit(max_passes=5, trace=True).fit(X, LABELS)
    yield mm.PairwiseRanker().fit(X, [(0, 1), (1, 2), (5, 3)])
    table = {
        "city": [f"city {i % 20}" for i in range(40)],
        "words": [f"some words {i % 7} and {i % 5} more" for i in range(40)],
        "size": list(range(40)),
        "kind": ["a", "b"] * 20,
    }
    data = label_table(pa.table(table), "kind", None, "fuzz")
    yield fit_table(data, Plan(C=1.0), Choices(text=("words",), category=("city",))).model


def base_files() -> list[bytes]:
    """What is altered: the golden files, and fresh ones."""
    found = [path.read_bytes() for path in sorted(GOLDEN.glob("*.maxmargin"))]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model"
        found += [mm.save(model, path).read_bytes() for model in fresh_models()]
    return found
