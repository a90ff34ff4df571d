"""maxmargin: linear classification with proof.

Every fit returns a certificate, recomputed from the data, of how far it can be from the
optimum.  Names are loaded when first used, so that ``import maxmargin`` costs nothing.
"""

from importlib import import_module

__version__ = "0.2.0"

# Where each name lives that is no estimator.
_HOME = {
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
    "GaussianFit": "models.regression.gaussian_fit",
    "next_pair": "models.ranking.ask",
    "perceptron_steps": "models.perceptron.steps",
    "mistake_bound": "models.perceptron.mistake_bound",
    "verify": "models.verify",
    "conformal_sets": "models.calibration.full_conformal",
    "Costs": "models.calibration.costs",
    "costs_of": "models.calibration.costs",
    "read_costs": "models.calibration.costs",
    "cost_scorer": "models.calibration.costs",
    "leave_one_out": "models.left_out.leave_one_out",
    "LeaveOneOutResult": "models.left_out.result",
    "influence": "models.left_out.influence",
    "Influence": "models.left_out.influence",
    "save": "app.store.files",
    "load": "app.store.files",
    "write_report": "app.report.write",
    "ModelFileError": "app.store.errors",
    "NotStorableError": "app.store.errors",
    "separability": "models.separate",
    "probe": "models.probe",
    "ProbeResult": "models.probe",
    "c_path": "models.tune.path",
    "CPath": "models.tune.path",
    "fit_many": "models.many.fit_many",
    "ManyFits": "models.many.result",
    "compare": "models.tune.compare",
    "Comparison": "models.tune.comparison",
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
    "SeparatedError": "models.regression.maximum_likelihood",
    "MistakeBound": "core.certify.mistakes",
    "NoMistakeBound": "core.certify.mistakes",
    "PerceptronCertificate": "core.certify.mistakes",
    "LossesDisplay": "show.views.losses",
    "PerceptronRunDisplay": "show.views.perceptron_run",
    "PathDisplay": "show.views.path_curves",
    "ChancesDisplay": "show.views.chances",
    "CrossValidationDisplay": "show.views.cross_validation",
    "GapDisplay": "show.views.gap",
    "CoefficientsDisplay": "show.views.coefficients",
    "ConfusionDisplay": "show.views.confusion",
    "ComparisonDisplay": "show.views.comparison",
    "RankingDisplay": "show.views.ranking",
    "BoundariesDisplay": "show.views.boundaries",
    "ClosestPointDisplay": "show.views.closest_point",
    "ErrorSurfaceDisplay": "show.views.error_surface",
    "UpdateCountsDisplay": "show.views.update_counts",
    "SeparatorsDisplay": "show.views.separators",
    "UpdateDisplay": "show.views.separators",
    "ProjectionDisplay": "show.views.projection",
    "GramDisplay": "show.views.gram",
    "RegressionDisplay": "show.views.gram",
    "DistancesDisplay": "show.views.distances",
}


def __getattr__(name):
    from .models.registry import homes  # the estimators; read when the first name is asked for

    known = homes() | _HOME
    if name == "__all__":
        return [*known, "__version__"]
    if name not in known:
        raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")
    value = getattr(import_module(f".{known[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__getattr__("__all__"))
