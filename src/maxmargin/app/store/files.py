"""save and load: fitted models in files that hold numbers and words, and no code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ... import __version__
from ...models.registry import ESTIMATORS
from ...parts.files.atomic import replacing
from . import container
from .codec import RECORDS, Reader, Writer
from .errors import ModelFileError, NotStorableError
from .kinds import read_model, write_model


def save(model: Any, path: Any) -> Path:
    """Write a fitted model to a file, whole or not at all.

    The format is described in docs/model-format.md: a header in JSON, the arrays as they are,
    and a checksum; no pickle, and nothing that runs when it is read.  Predictions of the model
    read again are the same to the last bit.  Functions (a callable kernel, ``FunctionBasis``)
    cannot be stored, and say so.  A ``…CV`` model is stored as the estimator with the C it chose.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVM, load, save, verify
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(LinearSVM().fit(X, y), Path(folder) / "iris.maxmargin")
    ...     svm = load(path)
    >>> bool((svm.predict(X) == y).mean() > 0.9), verify(svm, X, y).holds(1e-6)
    (True, True)
    """
    from ...models.tune.search import CSearch  # reading a model needs no search

    if isinstance(model, CSearch) and hasattr(model, "C_"):
        model = model.plain()
    writer = Writer(write_model)
    name = type(model).__name__
    if name not in ESTIMATORS and name not in RECORDS:
        raise NotStorableError(
            f"save stores fitted models of maxmargin ({', '.join(ESTIMATORS)}), got {name}."
        )
    if name in ESTIMATORS and not hasattr(model, "n_features_in_"):
        raise NotStorableError(f"This {name} is not fitted yet: call fit before save.")
    header = {"maxmargin": __version__, "model": writer(model, name)}
    with replacing(path) as file:
        container.write(file, header, writer.arrays)
    return Path(path)


def load(path: Any) -> Any:
    """Read a model that ``save`` or ``maxmargin fit`` has written.

    Nothing in the file is run.  A file that is truncated, altered, too new or no model at all
    is refused with a ``ModelFileError`` before memory is taken for what it claims to hold.
    """
    return read_header(path)[1]


def read_header(path) -> tuple[dict, object]:
    """The header without the model, and the model."""
    name = os.fspath(path)
    if Path(path).is_dir():
        raise ModelFileError(f"{name} is a folder, not a model file.")
    with open(path, "rb") as file:
        header, arrays = container.read(file, name)
    node = header.pop("model", None)
    if not isinstance(node, dict):
        raise ModelFileError(f"{name} is damaged: there is no model in it.")
    reader = Reader(arrays, name, read_model)
    try:
        return header, reader(node)
    except RecursionError:
        raise ModelFileError(f"{name} is damaged: its values are nested too deeply.") from None
