"""Whether something is a tensor or is to be computed on a device, without importing torch."""

from __future__ import annotations

from copy import copy
from importlib.util import find_spec
from typing import Any

import numpy as np


def is_tensor(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach")


def wants_device(estimator: Any, X: Any) -> bool:
    """Whether a fit to X is one of torch's: X is a tensor, or a device is named."""
    device = getattr(estimator, "device", None)
    if device is not None and find_spec("torch") is None:
        raise ImportError(
            f"device={device!r} needs PyTorch, which is not installed. Install it with "
            "pip install 'maxmargin[gpu]', or leave device out."
        )
    return is_tensor(X) or device is not None


def as_numpy(value: Any) -> Any:
    """Tensors as arrays, in the host's memory; anything else as it is."""
    return value.detach().cpu().numpy() if is_tensor(value) else value


def as_arrays(model: Any) -> Any:
    """A model with its tensors as arrays; itself where it has none."""
    found = {name: as_numpy(value) for name, value in vars(model).items() if is_tensor(value)}
    if not found:
        return model
    other = copy(model)
    vars(other).update(found)
    return other


def labels_of(classes: np.ndarray, scores: Any, several: bool = False) -> Any:
    """The labels that scores, in a tensor, stand for: a tensor too, but for words.

    ``several``: every column is a label of its own, 0 or 1.
    """
    import torch

    if several:
        return (scores > 0).to(torch.int64)
    codes = (scores > 0).long() if scores.ndim == 1 else scores.argmax(1)
    if classes.dtype.kind in "iufb":
        return torch.from_numpy(classes).to(scores.device)[codes]
    return classes[codes.cpu().numpy()]


def log_probabilities(scores: Any, several: bool = False) -> Any:
    """log p of every class from scores in a tensor; of two classes both columns."""
    from torch import stack
    from torch.nn.functional import log_softmax, logsigmoid

    if several:
        return logsigmoid(scores)
    if scores.ndim == 1:
        return stack([logsigmoid(-scores), logsigmoid(scores)], dim=1)
    return log_softmax(scores, dim=1)


def refuse_tensors(name: str, X: Any) -> None:
    """For what works on arrays in memory alone: tensors there, of float32 or wider, are such."""
    if is_tensor(X) and (X.device.type != "cpu" or X.dtype.itemsize < 4):
        raise ValueError(
            f"{name} works on arrays in the host's memory, got a tensor of {X.dtype} on "
            f"{X.device}. Pass X.float().cpu(); LinearSVM, LogisticRegression, "
            "LeastSquaresClassifier and FisherDiscriminant are fitted to tensors where they are."
        )
