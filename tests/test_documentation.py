"""Every example in the documentation runs."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import maxmargin
from maxmargin import spread as maxmargin_spread

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


def public_functions():
    """Functions and methods that users call, of every public name."""
    for module in (maxmargin, maxmargin_spread):
        for name in module.__all__:
            thing = getattr(module, name)
            for owner in thing.__mro__ if inspect.isclass(thing) else ():
                if owner.__module__.startswith("maxmargin"):
                    for key, member in vars(owner).items():
                        if not key.startswith("_") or key == "__init__":
                            yield (
                                f"{name}.{key}",
                                getattr(member, "fget", getattr(member, "__func__", member)),
                            )
            yield name, thing


def test_public_functions_are_annotated():
    bare = []
    for name, function in public_functions():
        function = inspect.unwrap(function) if callable(function) else function
        if not inspect.isfunction(function) or not function.__module__.startswith("maxmargin"):
            continue
        given = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
        told = function.__annotations__
        missing = [p for p in given if p not in told]
        if missing or not ("return" in told or function.__name__ == "__init__"):
            bare.append((name, missing))
    assert not bare


PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md", *(p.name for p in (ROOT / "docs/design").glob("*"))]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page):
    """A path in backticks, from the package's root, the room's or by its name alone."""
    path = ROOT / page if (ROOT / page).exists() else ROOT / "docs/design" / page
    files = {str(p.relative_to(ROOT)) for p in ROOT.glob("[stbd]*/**/*.*") if p.is_file()}
    ends = {f[i:] for f in files for i in (0, *(m.end() for m in re.finditer("/", f)))}
    text = path.read_text()
    named = re.findall(r"`([\w/.-]+\.(?:py|js|css|md))`", text)
    links = re.findall(r"\]\((?!http)([\w/.-]+)\)", text)
    assert [name for name in named if name not in ends] == []
    assert [link for link in links if not (path.parent / link).exists()] == []
