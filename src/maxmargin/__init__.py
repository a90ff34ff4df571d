"""maxmargin: linear classification with proof.

Every fit returns a certificate, recomputed from the data, of how far it can be from the
optimum.  Names are loaded when first used, so that ``import maxmargin`` costs nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {
    "LinearSVM": "estimators.linear_svm",
    "KernelSVM": "estimators.kernel_svm",
    "LogisticRegression": "estimators.logistic_regression",
    "LeastSquaresClassifier": "estimators.least_squares",
    "FisherDiscriminant": "estimators.fisher",
    "KernelRidge": "estimators.kernel_ridge",
    "KernelRidgeClassifier": "estimators.kernel_ridge",
    "OneVsRest": "estimators.one_vs_rest",
    "OneVsOne": "estimators.one_vs_one",
    "Perceptron": "estimators.perceptron",
    "KernelPerceptron": "estimators.kernel_perceptron",
    "PairwiseRanker": "estimators.pairwise_ranker",
    "LabelRanker": "estimators.label_ranker",
    "LabelPairs": "estimators.label_preferences",
    "label_pairs": "estimators.label_preferences",
    "pairs_from_rankings": "estimators.label_preferences",
    "pairs_from_scores": "estimators.label_preferences",
    "pairs_from_labels": "estimators.label_preferences",
    "rankings_from_scores": "estimators.label_preferences",
    "pairs_from_grades": "estimators.object_preferences",
    "pairs_from_comparisons": "estimators.object_preferences",
    "pair_accuracy": "estimators.ranking_metrics",
    "PolarBasis": "represent.bases",
    "QuadraticBasis": "represent.bases",
    "PolynomialBasis": "represent.bases",
    "RadialBasis": "represent.bases",
    "FunctionBasis": "represent.bases",
    "perceptron_steps": "estimators.steps",
    "mistake_bound": "estimators.bound",
    "verify": "estimators.verify",
    "save": "store.files",
    "load": "store.files",
    "write_report": "report.write",
    "ModelFileError": "store.errors",
    "NotStorableError": "store.errors",
    "separability": "estimators.separate",
    "c_path": "select.path",
    "CPath": "select.path",
    "KernelSVMCV": "select.kernel_svm_cv",
    "compare": "select.compare",
    "Comparison": "select.compare",
    "LinearSVMCV": "select.linear_svm_cv",
    "LogisticRegressionCV": "select.logistic_regression_cv",
    "text_experiment": "select.sentiment",
    "TextExperiment": "select.sentiment",
    "read_sentences": "select.sentiment",
    "BoundaryDisplay": "show.boundary",
    "UnknownRegionsDisplay": "show.unknown",
    "BasisDisplay": "show.basis",
    "fit_stream": "stream.fit",
    "verify_stream": "stream.verify",
    "open_source": "stream.sources",
    "Certificate": "certify.certificate",
    "NormalEquations": "certify.normal_equations",
    "FisherCriterion": "certify.fisher",
    "Separation": "certify.separability",
    "NotSeparableError": "certify.separability",
    "MistakeBound": "certify.mistakes",
    "NoMistakeBound": "certify.mistakes",
    "PerceptronCertificate": "certify.mistakes",
    "LossesDisplay": "show.losses",
    "PerceptronRunDisplay": "show.perceptron_run",
    "PathDisplay": "show.path_curves",
    "CrossValidationDisplay": "show.cross_validation",
    "GapDisplay": "show.gap",
    "CoefficientsDisplay": "show.coefficients",
    "ConfusionDisplay": "show.confusion",
    "ComparisonDisplay": "show.comparison",
    "RankingDisplay": "show.ranking",
    "DistancesDisplay": "show.distances",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
