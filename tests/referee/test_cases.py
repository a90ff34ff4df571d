"""Every case in which a certificate was once found false, fitted and judged again.

A case whose JSON gives a reason under ``xfail`` is known to fail still; take the reason out when it
is mended, and it stays mended.
"""

from __future__ import annotations

import json

import pytest

from .problems import Posed
from .soak import CASES, judge

FILES = sorted(CASES.glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_certificate_is_false_any_more(file):
    told = json.loads(file.read_text(encoding="utf-8"))
    model, report = judge(Posed.from_dict(told))
    if model is None:
        return  # refused in words: nothing is claimed
    if report.verdict == "refuted" and told["xfail"]:
        pytest.xfail(f"{told['xfail']}: {report.notes[0]}")
    assert report.verdict != "refuted", report
