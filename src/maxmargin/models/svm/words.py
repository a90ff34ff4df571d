"""The support vector machine in a sentence, and its objective: linear, or in a kernel's space."""

from __future__ import annotations

import numpy as np

HINGE_OBJECTIVE = "½‖w‖² + C Σ max(0, 1 − yᵢ(w·xᵢ + b))"
MULTICLASS_OBJECTIVES = {
    "max": "½‖W‖² + C Σ max(0, 1 − s_y(xᵢ) + s_c(xᵢ)), the largest over all wrong classes c",
    "sum": "½‖W‖² + C Σ Σ_c max(0, 1 − s_y(xᵢ) + s_c(xᵢ)), summed over all wrong classes c",
    "rest": "for each class against all others:  " + HINGE_OBJECTIVE,
    "pairs": "for each pair of classes:  " + HINGE_OBJECTIVE,
}


def svm_in_words(model) -> tuple[str, str]:
    """What it looks for, and the formula."""
    k = len(model.classes_)
    squared = getattr(model, "loss", "hinge") == "squared_hinge"
    text = (
        "A support vector machine: the widest margin between the classes, at a price C for slack."
    )
    formula = HINGE_OBJECTIVE if k == 2 else MULTICLASS_OBJECTIVES[model.multiclass]
    if np.isinf(model.C):
        text = "A hard-margin support vector machine: the widest margin with no point inside it."
        formula = "½‖w‖²  subject to  yᵢ(w·xᵢ + b) ≥ 1" if k == 2 else "½‖W‖², all margins ≥ 1"
    if k > 2:
        text += f" {k} classes by the “{model.multiclass}” rule, with a free bias for each."
    if squared:
        formula = formula.replace("max(0, 1 −", "max²(0, 1 −")
    return text, "minimise  " + formula
