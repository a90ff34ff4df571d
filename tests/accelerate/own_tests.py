"""scikit-learn's own tests under the patch:  python -m tests.accelerate.own_tests [--quick | FILES]

Runs the test files that are installed with scikit-learn for the classes that are accelerated and
for what is built on them, with every fit solved by maxmargin that can be, whatever its size.  What
fails is run again without the patch: what passes then is a difference, and must stand in
``differences.txt`` with its reason.  Exits with 1 for a difference that does not.  As many files at
a time as there are cores; ``MAXMARGIN_JOBS=1``: one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sklearn

HERE = Path(__file__).parent
SITE = Path(sklearn.__file__).parent.parent
QUICK = [
    "sklearn/svm/tests/test_svm.py",
    "sklearn/tests/test_discriminant_analysis.py",
    "sklearn/tests/test_kernel_ridge.py",
    "sklearn/linear_model/tests/test_perceptron.py",
]
ALL = [
    *QUICK,
    "sklearn/svm/tests",
    "sklearn/linear_model/tests/test_logistic.py",
    "sklearn/linear_model/tests/test_ridge.py",
    "sklearn/model_selection/tests",
    "sklearn/ensemble/tests",
    "sklearn/feature_selection/tests",
    "sklearn/tests/test_calibration.py",
    "sklearn/tests/test_pipeline.py",
    "sklearn/tests/test_multiclass.py",
]


def outcomes(names: list[str], plain: bool) -> tuple[dict[str, str], dict[str, int]]:
    """Of every test that ran: passed, failed or skipped; and who solved how many fits."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "outcomes"
        # Of a worker of our own tests, too: it must not take itself for one of theirs.
        ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment = ours | {
            "MAXMARGIN_OUTCOMES": str(told),
            "MAXMARGIN_PLAIN": "1" if plain else "",
            "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]),
        }
        options = ["-c", str(HERE / "own_tests.ini"), "--rootdir", str(SITE)]
        command = [sys.executable, "-m", "pytest", *options, *names]
        done = subprocess.run(
            command, cwd=SITE, env=environment, capture_output=True, text=True, check=False
        )
        if not told.with_suffix(".json").exists():
            raise RuntimeError(f"pytest did not end as it should:\n{done.stdout}\n{done.stderr}")
        found = json.loads(told.with_suffix(".json").read_text())
        return found["outcomes"], found["solved"]


def side_by_side(names: list[str], plain: bool) -> tuple[dict[str, str], dict[str, int]]:
    """The same, a process to a file of tests, as many at a time as there are cores."""
    files = [str(f.relative_to(SITE)) for name in names for f in _files(SITE / name)]
    found, solved = dict[str, str](), Counter[str]()
    with ThreadPoolExecutor(int(os.environ.get("MAXMARGIN_JOBS", os.cpu_count() or 1))) as pool:
        for some, by in pool.map(lambda name: outcomes([name], plain), dict.fromkeys(files)):
            found |= some
            solved.update(by)
            print(f"{len(found)} tests so far", file=sys.stderr, flush=True)
    return found, dict(solved)


def _files(place: Path) -> list[Path]:
    return sorted(place.glob("test_*.py")) if place.is_dir() else [place]


def listed() -> dict[str, str]:
    """Test → reason; a name without parameters stands for all of them."""
    lines = (HERE / "differences.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("  ", 1) for line in lines if line and not line.startswith("#"))


def reason(test: str, known: dict[str, str]) -> str | None:
    return known.get(test) or known.get(test.split("[")[0])


def main() -> int:
    names = QUICK if "--quick" in sys.argv else sys.argv[1:] or ALL
    found, solved = side_by_side(names, plain=False)
    failed = [test for test, outcome in found.items() if outcome == "failed"]
    again = outcomes(failed, plain=True)[0] if failed else {}
    different = [test for test in failed if again.get(test) == "passed"]
    known = listed()
    fresh = [test for test in different if reason(test, known) is None]
    ran = sum(outcome == "passed" for outcome in found.values()) + len(different)
    print(f"{ran - len(different)} of {ran} tests that pass without the patch pass with it")
    print(f"fits solved by: {solved}")
    for test in different:
        print(f"  {test}  {reason(test, known) or 'NOT LISTED'}")
    return 1 if fresh else 0


if __name__ == "__main__":
    sys.exit(main())
