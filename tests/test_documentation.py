"""Every example in the documentation runs."""

import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import maxmargin
from maxmargin import spread as maxmargin_spread

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs" / "extensions"))
import pages  # noqa: E402

# The gallery's blocks are functions that tests/show runs; the designs say how, not what.
RUN_FOLDERS = ("docs/howto", "docs/lectures", "docs/reference")
WRITTEN = [path for folder in RUN_FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
RUN_PAGES = [
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", ROOT / "docs/index.md", *WRITTEN]
    if pages.python_blocks(path.read_text(encoding="utf-8"))
]
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(maxmargin.__path__, "maxmargin.")
    if not name.endswith("__main__")
]


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """matplotlib warns of more than twenty that are open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name not in ("torch", "triton"):
            raise
        pytest.skip(f"{missing.name} is not installed")
    results = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


@pytest.mark.parametrize("page", RUN_PAGES)
def test_python_blocks_run(page):
    """From top to bottom, each page on its own, in a folder of its own."""
    pages.run_page(ROOT / page)


def test_pages_with_python_blocks_are_found():
    assert "README.md" in RUN_PAGES
    assert sum(page.startswith("docs/howto") for page in RUN_PAGES) >= 10


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


def test_the_reference_lists_public_names_once():
    """What it does not list stands on its last page."""
    pytest.importorskip("sphinx", reason="the site's extensions need Sphinx: make docs")
    sys.modules.pop("api", None)
    api = importlib.import_module("api")
    listed = api.listed_names()
    assert len(listed) == len(set(listed)) > 50
    assert set(listed) <= api.public_names()


def test_every_file_of_results_has_a_table_with_machine_date_and_command():
    """But the optima, which are what races are judged by."""
    tables = importlib.import_module("tables")
    index = (ROOT / "docs/measured/index.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "benchmarks/results").glob("*.json")):
        if path.stem != "multiclass-optima":
            found = tables.measured(path.stem)
            assert re.match(r"20\d\d-\d\d-\d\d, \w.*, maxmargin 0", found.when), path
            assert found.command.startswith(("python -m benchmarks.", "make bench"))
            assert all(len(row) == len(table.heads) for table in found.tables for row in table.rows)
            assert all(all(table.heads) for table in found.tables), path  # read aloud, too
            assert f"```{{measured}} {path.stem}\n" in index


def test_the_rows_that_the_readme_tells_were_measured():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in importlib.import_module("tables").readme_lines():
        assert line in text, "run `python docs/extensions/tables.py`"
