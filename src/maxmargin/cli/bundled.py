"""Bundled data as tables, for those who have no file at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data.training import Labelled

DEMOS = ("iris", "wine", "digits", "breast-cancer", "circles")


def bundled(name: str) -> Labelled:
    """The data of this name, labels as words where they have some."""
    import pyarrow as pa
    from sklearn import datasets

    from ..data.training import label_table

    if name not in DEMOS:
        raise ValueError(f"--demo must be one of {', '.join(DEMOS)}, got {name!r}.")
    if name == "circles":
        X, y = datasets.make_circles(400, noise=0.08, factor=0.4, random_state=0)
        names, labels = ["x", "y"], [("outer", "inner")[c] for c in y]
    else:
        found = getattr(datasets, f"load_{name.replace('-', '_')}")()
        X, names = found.data, [str(n) for n in getattr(found, "feature_names", [])]
        words = [str(n) for n in found.target_names]
        labels = [words[c] for c in found.target]
    columns = {title: X[:, j] for j, title in enumerate(names)}
    return label_table(pa.table(columns | {"label": labels}), "label", None, f"{name} (bundled)")
