"""save and load: fitted models in files that hold numbers and words, and no code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

from ... import __version__
from ...models.registry import ESTIMATORS
from ...models.sparse_weights import with_dense_weights
from ...parts.files.atomic import replacing
from . import container
from .budget import allowance
from .codec import Reader, Writer
from .errors import ModelFileError, NotStorableError, shown
from .kinds import read_model, write_model
from .records import RECORDS


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
    if hasattr(model, "sparsify"):
        model = with_dense_weights(model)
    writer = Writer(write_model)
    name = type(model).__name__
    if name not in ESTIMATORS and name not in RECORDS:
        raise NotStorableError(
            f"save stores fitted models of maxmargin ({', '.join(ESTIMATORS)}), got {name}."
        )
    if name in ESTIMATORS and not hasattr(model, "n_features_in_"):
        raise NotStorableError(f"This {name} is not fitted yet: call fit before save.")
    header = {"maxmargin": __version__, "model": writer(model, name)}
    if writer.made > allowance(sum(array.nbytes for array in writer.arrays)):
        raise NotStorableError(
            f"This {name} cannot be stored: its words would take {writer.made / 1e6:,.0f} MB when "
            "they are read, since an array of words is as wide as its longest. Shorten the labels."
        )
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
        try:
            return _read(file, name)
        except (ModelFileError, OSError, ImportError):
            raise
        except RecursionError:
            raise ModelFileError(f"{name} is damaged: its values are nested too deeply.") from None
        except Exception as error:
            # Not foreseen: every check we know of has a sentence of its own.
            raise ModelFileError(
                f"{name} is damaged, in a way that has no name yet ({type(error).__name__}: "
                f"{str(error)[:200]}). If maxmargin has written it just so, please report it."
            ) from error


def _read(file: BinaryIO, name: str) -> tuple[dict, object]:
    header, arrays = container.read(file, name)
    if not isinstance(header.get("maxmargin", ""), str):
        raise ModelFileError(f"{name} is damaged: it does not say which version has written it.")
    node = header.pop("model", None)
    if not isinstance(node, dict):
        raise ModelFileError(f"{name} is damaged: there is no model in it.")
    if node.get("~") not in ("model", "record"):
        raise ModelFileError(f"{name} is damaged: it holds {shown(node.get('~'))}, no model.")
    model = Reader(arrays, name, read_model, os.fstat(file.fileno()).st_size)(node)
    if node["~"] == "model" and not hasattr(model, "n_features_in_"):
        raise ModelFileError(f"{name} is damaged: its {node['of']} is not fitted.")
    return header, model
