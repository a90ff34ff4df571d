"""Every example in the documentation runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(__file__).parent.parent
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(maxmargin.__path__, "maxmargin.")
    if not name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


@pytest.mark.parametrize("page", ["README.md"])
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    space: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), space)


def test_everything_public_can_be_imported():
    for name in maxmargin.__all__:
        assert getattr(maxmargin, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = maxmargin.Nothing
