"""What a model file keeps of an estimator, as its class declares it in ``_stored``.

A line says what a fitted attribute is; letters are lengths that must agree: d features, k
classes, m machines (rows of weights), n training rows, s support vectors, c directions, p pairs,
l landmarks, r features of landmarks.  "m?" is left out where there are two classes; "!" must be
there.  Compiled code reads these arrays without asking how long they are, so the reader lets
nothing pass that disagrees.
"""

from __future__ import annotations

SEEN = {"n_features_in_": "count d !", "feature_names_in_": "words d"}
SOLVED = {
    "certificate_": "Certificate",
    "history_": "list",
    "n_iter_": "count",
    "solver_": "text",
    "solver_reason_": "text",
}
LINEAR = {"classes_": "labels k !", "coef_": "float m d !", "intercept_": "float m !"} | SEEN
SUPPORT = {"support_": "int s", "support_kind_": "words s", "margin_": "number"}
DUAL = {"alpha_": "float n m?", "slack_": "float n", "_codes": "int n"}
# Of a stream only those multipliers that the slacks do not tell.
STREAMED = {"_alpha_rows": "int r", "_alpha_values": "float r", "_alpha_machines": "int r"}
PAIRS = {"alpha_": "float p", "slack_": "float p", "n_pairs_": "count"} | SUPPORT
PASSES = {
    "alpha_": "int n m?",
    "support_": "int s",
    "updates_": "count",
    "radius_": "number",
    "certificate_": "PerceptronCertificate",
    "mistake_bound_": "MistakeBound",
    "history_": "list",
    "n_iter_": "count",
}
RIDGE = {
    "_kernel": "Kernel !",
    "alpha_": "number !",
    "dual_coef_": "float n m !",
    "X_fit_": "rows n d",
    "loo_": "LeaveOneOut",
    "certificate_": "NormalEquations",
} | SEEN
# With ``rank``: a linear machine on r features, made of kernel values with l landmarks.
LANDMARKS = {
    "_linear": "LinearSVM",
    "_map": "float l r",
    "rank_": "count r",
    "trace_error_": "number",
    "_about": "text",
}
# What was learned of the scores from rows that were left out; no training rows.
CALIBRATED = {"calibration_": "Calibration"}
REDUCED = {"classes_": "labels k !", "estimators_": "models !"} | SEEN
