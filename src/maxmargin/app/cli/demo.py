"""``maxmargin demo``: fit, prove and explain on bundled data, then say what to type next."""

from __future__ import annotations

import time

from ... import __version__

NEXT_COMMANDS = """
What to type next:
    from maxmargin import LinearSVM, separability, verify
    svm = LinearSVM(C=1.0).fit(X, y)       # arrays, sparse matrices, pandas or polars frames
    print(svm.certificate_)                # how good it provably is
    svm.support_, svm.support_kind_        # which points matter, and why
    print(separability(X, y))              # the exact maximum margin, or a proof of none
    LinearSVM(multiclass="sum")            # k classes: "max", "sum", "rest" or "pairs"
    LogisticRegression(C=1.0).fit(X, y).predict_proba(X)
    PairwiseRanker().fit(items, pairs)     # "this rather than that"; try: maxmargin rank --help
"""

MULTICLASS_RULES = ("max", "sum", "rest", "pairs")


def demo() -> None:
    """Fit, prove and explain on bundled data, then say what to type next."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer, load_iris

    from ...models.separate import separability
    from ...models.svm.linear_svm import LinearSVM
    from ...models.verify import verify

    print(f"maxmargin {__version__}: linear classification with proof\n")
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2][:, [1, 3]], y[y < 2]
    print("iris, setosa against versicolor, sepal and petal width")
    print(f"  {separability(X, y)}\n")
    table("  ", X, y, [np.inf, 10, 3, 2, 1, 0.5, 0.1, 0.01])

    X, y = load_breast_cancer(return_X_y=True)
    print("\nbreast cancer, 30 unscaled features from 1e-3 to 4e3")
    table("  ", X, y, [1e-3, 1.0, 1e3])
    svm = LinearSVM().fit(X, y)
    print(f"\n  recomputed from the data: {verify(svm, X, y)}")
    print(f"  solver: {svm.solver_} ({svm.solver_reason_})")
    many_classes()
    print(NEXT_COMMANDS)


def many_classes() -> None:
    """The four rules for k classes, and softmax, on three kinds of wine."""
    from sklearn.datasets import load_iris, load_wine

    from ...models.regression.logistic_regression import LogisticRegression
    from ...models.separate import separability
    from ...models.svm.linear_svm import LinearSVM

    X, y = load_iris(return_X_y=True)
    print("\niris, all three classes, sepal and petal width")
    print(f"  {separability(X[:, [1, 3]], y)}")
    X, y = load_wine(return_X_y=True)
    print("\nwine, three classes, 13 unscaled features")
    print(f"  {separability(X, y)}\n")
    print(f"  {'method':<24} {'support':>7} {'errors':>6} {'relative gap':>12} {'time':>9}")
    models = {f'LinearSVM "{rule}"': LinearSVM(multiclass=rule) for rule in MULTICLASS_RULES}
    for name, model in (models | {"LogisticRegression": LogisticRegression()}).items():
        model.fit(X, y)  # the first fit compiles
        began = time.perf_counter()
        model.fit(X, y)
        took = time.perf_counter() - began
        support = len(model.support_) if hasattr(model, "support_") else len(y)
        errors = int((model.predict(X) != y).sum())
        gap = model.certificate_.relative_gap
        print(f"  {name:<24} {support:7d} {errors:6d} {gap:12.1e} {took * 1e3:6.1f} ms")


def table(indent: str, X, y, Cs) -> None:
    """One row per C: margin, support vectors by kind, errors, gap and time."""
    from ...models.svm.linear_svm import LinearSVM

    header = f"{'C':>8} {'margin γ':>10} {'on margin':>9} {'inside':>6} {'wrong':>5}"
    print(f"{indent}{header} {'errors':>6} {'relative gap':>12} {'time':>9}")
    for C in Cs:
        began = time.perf_counter()
        svm = LinearSVM(C=C).fit(X, y)
        took = time.perf_counter() - began
        kinds = [int((svm.support_kind_ == k).sum()) for k in ("margin", "inside", "misclassified")]
        errors = int((svm.predict(X) != y).sum())
        print(
            f"{indent}{C:8g} {svm.margin_:10.4g} {kinds[0]:9d} {kinds[1]:6d} {kinds[2]:5d}"
            f" {errors:6d} {svm.certificate_.relative_gap:12.1e} {took * 1e3:6.1f} ms"
        )
