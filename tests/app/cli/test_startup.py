"""What commands import: everything they import is waited for."""

import subprocess
import sys

import pytest

from maxmargin.app.cli.postpone import Promise, promised

FIT = "from maxmargin.app.cli.app import main; main(['fit', '--out', 'iris.maxmargin'])"
# Each of these takes a tenth of a second or more, and a fit of iris needs none of them.
HEAVY = (
    *("pandas", "scipy.stats", "scipy.optimize", "scipy.io", "scipy.ndimage"),
    *("sklearn.model_selection", "sklearn.metrics", "sklearn.datasets", "pyarrow.parquet"),
)  # fmt: skip


def loaded_by(code: str, folder) -> set[str]:
    """The modules a Python process has when it has run this."""
    tell = "import sys, atexit; atexit.register(lambda: print(*sys.modules, sep='\\n'))\n"
    done = subprocess.run(
        [sys.executable, "-c", tell + code], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_help_and_version_import_nothing_heavy(tmp_path):
    loaded = loaded_by("from maxmargin.app.cli.app import main; main(['version'])", tmp_path)
    assert "typer" in loaded
    assert not loaded & {"numpy", "pyarrow", "sklearn", "numba", "rich.table"}


def test_fit_imports_what_it_needs_only(tmp_path):
    loaded = loaded_by(FIT, tmp_path)
    assert {"sklearn.base", "numba", "pyarrow"} <= loaded
    assert not loaded & set(HEAVY)


def test_a_promise_is_kept_when_something_is_asked_of_it():
    name = "colorsys"  # any module nobody has imported
    sys.modules.pop(name, None)
    with promised(name):
        import colorsys as early

        assert isinstance(early, Promise)
    assert name not in sys.modules
    assert early.rgb_to_hsv(1.0, 0.0, 0.0) == (0.0, 1.0, 1.0)
    assert not isinstance(sys.modules[name], Promise)
    with promised(name):  # it is there: nothing to promise
        assert not isinstance(sys.modules[name], Promise)
    with pytest.raises(AttributeError):
        early.nothing_of_this_name


def test_a_promise_is_kept_inside_the_block():
    sys.modules.pop("colorsys", None)
    with promised("colorsys"):
        from colorsys import rgb_to_hsv

        assert not isinstance(sys.modules["colorsys"], Promise)
    assert rgb_to_hsv(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
