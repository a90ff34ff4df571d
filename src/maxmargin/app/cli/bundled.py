"""Bundled data as tables, for those who have no file at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from ...parts.files.training import Labelled

EXAMPLES_FOLDER = Path(__file__).parent / "examples"
DEMOS = ("iris", "wine", "digits", "breast-cancer", "circles")


def bundled(name: str) -> Labelled:
    """The data of this name, labels as words where they have some."""
    from ...parts.files.training import label_table

    if name not in DEMOS:
        raise ValueError(f"--demo must be one of {', '.join(DEMOS)}, got {name!r}.")
    return label_table(_table(name), "label", None, f"{name} (bundled)")


def _table(name: str) -> pa.Table:
    if name == "iris":  # a file of ours: the first thing everybody runs should not wait
        from ...parts.files.source import find_source
        from ...parts.files.tables import read_table

        return read_table(find_source(EXAMPLES_FOLDER / "iris.csv"))
    import numpy as np
    import pyarrow as pa
    from sklearn import datasets

    if name == "circles":
        X, y = datasets.make_circles(400, noise=0.08, factor=0.4, random_state=0)
        names, labels = ["x", "y"], np.array(["outer", "inner"])[y]
    else:
        found = getattr(datasets, f"load_{name.replace('-', '_')}")()
        X, names = found.data, [str(n) for n in getattr(found, "feature_names", [])]
        labels = np.array([str(n) for n in found.target_names])[found.target]
    columns = {title: X[:, j] for j, title in enumerate(names)}
    return pa.table(columns | {"label": labels})
