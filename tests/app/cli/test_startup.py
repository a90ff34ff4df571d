"""What commands import: everything they import is waited for."""

import gc
import subprocess
import sys
from importlib import import_module

import pytest

from maxmargin.app.cli.postpone import OBJECTS_PER_SEARCH, Promise, all_kept, promised

FIT = "from maxmargin.app.cli.app import main; main(['fit', *{}, '--out', 'it.maxmargin'])"
# Each of these takes a tenth of a second or more, and a fit of a small table needs none of them.
HEAVY = (
    *("pandas", "scipy.stats", "scipy.optimize", "scipy.io", "scipy.ndimage", "scipy.fft"),
    *("sklearn.model_selection", "sklearn.metrics", "sklearn.datasets", "sklearn.linear_model"),
    *("pyarrow.parquet", "pyarrow.dataset", "matplotlib", "dask", "torch", "polars", "cffi"),
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


@pytest.mark.parametrize("said", [[], ["few.csv"], ["few.csv", "--method", "logistic"]])
def test_fit_imports_what_it_needs_only(tmp_path, said):
    few = "".join(f"{i},{i % 7},{'abc'[i % 7 // 3]}\n" for i in range(60))
    (tmp_path / "few.csv").write_text("x,z,label\n" + few)
    loaded = loaded_by(FIT.format(said), tmp_path)
    assert {"sklearn.base", "numba", "pyarrow"} <= loaded
    assert not loaded & set(HEAVY)


def test_nothing_that_was_imported_is_looked_through_for_garbage(tmp_path):
    tell = "import gc, atexit; atexit.register(lambda: print(gc.get_freeze_count(), gc.isenabled()"
    loaded = loaded_by(f"{tell}, gc.get_threshold()[0]))\n{FIT.format([])}", tmp_path)
    assert {"True", str(OBJECTS_PER_SEARCH)} <= loaded
    assert max(int(word) for word in loaded if word.isdecimal()) > 100_000  # it was 400,000


def test_garbage_is_looked_for_again_where_an_import_fails():
    threshold = gc.get_threshold()
    try:
        with pytest.raises(ModuleNotFoundError), all_kept():
            import_module("nothing_of_this_name")
        assert gc.isenabled()
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)


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
