"""The linear estimators on Dask arrays and dataframes, with the same optimum and the same proof.

    from maxmargin.spread import LinearSVM
    LinearSVM(C=1.0).fit(dask_X, dask_y)

Needs the extra ``dask``.  Names are loaded when first used.
"""

from importlib import import_module

_HOME = {
    "LinearSVM": "estimators",
    "LogisticRegression": "estimators",
    "LeastSquaresClassifier": "estimators",
    "FisherDiscriminant": "estimators",
    "Perceptron": "estimators",
    "c_path": "search",
    "LinearSVMCV": "search",
    "LogisticRegressionCV": "search",
    "verify": "verification",
    "ClusterLost": "cluster_wait",
}

__all__ = list(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'maxmargin.spread' has no attribute {name!r}")
    value = getattr(import_module(f"maxmargin.parts.dask.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
