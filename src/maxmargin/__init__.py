"""maxmargin: linear classification with proof.

Every fit returns a certificate, recomputed from the data, of how far it can be from the
optimum.  Names are loaded when first used, so that ``import maxmargin`` costs nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {
    "LinearSVM": "models.svm.linear_svm",
    "KernelSVM": "models.kernel.kernel_svm",
    "LogisticRegression": "models.regression.logistic_regression",
    "LeastSquaresClassifier": "models.regression.least_squares",
    "FisherDiscriminant": "models.regression.fisher",
    "KernelRidge": "models.kernel.kernel_ridge",
    "KernelRidgeClassifier": "models.kernel.kernel_ridge",
    "OneVsRest": "models.reduction.one_vs_rest",
    "OneVsOne": "models.reduction.one_vs_one",
    "Perceptron": "models.perceptron.perceptron",
    "KernelPerceptron": "models.perceptron.kernel_perceptron",
    "PairwiseRanker": "models.ranking.pairwise_ranker",
    "LabelRanker": "models.ranking.label_ranker",
    "LabelPairs": "models.ranking.label_preferences",
    "label_pairs": "models.ranking.label_preferences",
    "pairs_from_rankings": "models.ranking.label_preferences",
    "pairs_from_scores": "models.ranking.label_preferences",
    "pairs_from_labels": "models.ranking.label_preferences",
    "rankings_from_scores": "models.ranking.label_preferences",
    "pairs_from_grades": "models.ranking.object_preferences",
    "pairs_from_comparisons": "models.ranking.object_preferences",
    "pair_accuracy": "models.ranking.metrics",
    "PolarBasis": "models.bases",
    "QuadraticBasis": "models.bases",
    "PolynomialBasis": "models.bases",
    "RadialBasis": "models.bases",
    "FunctionBasis": "models.bases",
    "perceptron_steps": "models.perceptron.steps",
    "mistake_bound": "models.perceptron.mistake_bound",
    "verify": "models.verify",
    "save": "app.store.files",
    "load": "app.store.files",
    "write_report": "app.report.write",
    "ModelFileError": "app.store.errors",
    "NotStorableError": "app.store.errors",
    "separability": "models.separate",
    "c_path": "models.tune.path",
    "CPath": "models.tune.path",
    "KernelSVMCV": "models.tune.kernel_svm_cv",
    "compare": "models.tune.compare",
    "Comparison": "models.tune.compare",
    "LinearSVMCV": "models.tune.linear_svm_cv",
    "LogisticRegressionCV": "models.tune.logistic_regression_cv",
    "text_experiment": "models.tune.sentiment",
    "TextExperiment": "models.tune.sentiment",
    "read_sentences": "models.tune.sentiment",
    "BoundaryDisplay": "show.views.boundary",
    "UnknownRegionsDisplay": "show.views.unknown",
    "BasisDisplay": "show.views.basis",
    "fit_stream": "parts.stream.fit",
    "verify_stream": "parts.stream.verify",
    "open_source": "parts.files.sources",
    "Certificate": "core.certify.certificate",
    "NormalEquations": "core.certify.normal_equations",
    "FisherCriterion": "core.certify.fisher",
    "Separation": "core.certify.separability",
    "NotSeparableError": "core.certify.separability",
    "MistakeBound": "core.certify.mistakes",
    "NoMistakeBound": "core.certify.mistakes",
    "PerceptronCertificate": "core.certify.mistakes",
    "LossesDisplay": "show.views.losses",
    "PerceptronRunDisplay": "show.views.perceptron_run",
    "PathDisplay": "show.views.path_curves",
    "CrossValidationDisplay": "show.views.cross_validation",
    "GapDisplay": "show.views.gap",
    "CoefficientsDisplay": "show.views.coefficients",
    "ConfusionDisplay": "show.views.confusion",
    "ComparisonDisplay": "show.views.comparison",
    "RankingDisplay": "show.views.ranking",
    "DistancesDisplay": "show.views.distances",
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
