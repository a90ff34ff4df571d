"""Classes of which there may be instances, told without importing them.

Wherever there is an instance, its module is loaded; importing one only to say "no" takes longer
than drawing most pictures (scikit-learn's pipelines and kernels: half a second).
"""

from __future__ import annotations

import sys


def is_a(thing, module: str, name: str) -> bool:
    """Whether this is an instance of the class of this name."""
    there = sys.modules.get(module)
    # Another thread may be in the middle of importing it: nothing is an instance of it yet.
    kind = getattr(there, name, None)
    return kind is not None and isinstance(thing, kind)


def is_pipeline(thing) -> bool:
    return is_a(thing, "sklearn.pipeline", "Pipeline")


def is_kernel_svm(thing) -> bool:
    return is_a(thing, "maxmargin.models.kernel.kernel_svm", "KernelSVM")
