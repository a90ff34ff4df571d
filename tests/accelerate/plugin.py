"""A plugin for pytest: run any tests of scikit-learn's with maxmargin inside, and note outcomes.

``MAXMARGIN_OUTCOMES``: the file for outcomes; ``MAXMARGIN_PLAIN``: set to leave scikit-learn alone.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from maxmargin import accelerate
from maxmargin.accelerate.settings import SETTINGS

_outcomes: dict[str, str] = {}
_solved: dict[str, int] = {}


def pytest_configure(config):
    if not os.environ.get("MAXMARGIN_PLAIN"):
        SETTINGS.every_size = True
        accelerate.install(load="now")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        _outcomes[report.nodeid] = report.outcome


def pytest_runtest_teardown(item):
    for fit in accelerate.fits():
        _solved[fit.solver] = _solved.get(fit.solver, 0) + 1
    accelerate.clear()


def pytest_sessionfinish(session):
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if name := os.environ.get("MAXMARGIN_OUTCOMES"):
        told = {"outcomes": _outcomes, "solved": _solved}
        Path(f"{name}{worker}.json").write_text(json.dumps(told))
