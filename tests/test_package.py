"""The package as it is released: built, installed where nothing of ours is, and used."""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy
import pytest

import maxmargin

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_one_version():
    assert PROJECT["version"] == maxmargin.__version__
    assert f"version: {maxmargin.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {maxmargin.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_extra_all_has_every_extra_of_users():
    extras = PROJECT["optional-dependencies"]
    developers = {"test", "check", "bench", "docs", "all"}
    (everything,) = extras["all"]
    assert set(everything.removeprefix("maxmargin[").rstrip("]").split(",")) <= set(extras)
    named = set(everything.removeprefix("maxmargin[").rstrip("]").split(","))
    assert {"plot", "bokeh", "studio", "onnx", "dask"} <= named
    assert not named & developers


def run(*words, **given):
    return subprocess.run(words, check=True, capture_output=True, text=True, **given)


@pytest.mark.slow
def test_wheel_and_sdist_are_built_and_work_in_a_clean_environment(tmp_path):
    """Dependencies are borrowed from this environment, so that nothing is fetched but hatchling."""
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("maxmargin-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert "maxmargin/py.typed" in names
    assert any(name.endswith("static/index.html") for name in names)
    assert not any(name.startswith(("tests/", "docs/")) for name in names)

    bare = tmp_path / "bare"
    venv.create(bare, with_pip=False)
    python = bare / "bin" / "python"
    there = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"
    ).stdout.strip()
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--target", there, wheel)
    borrowed = str(Path(numpy.__file__).parents[1])
    (Path(there) / "borrowed.pth").write_text(borrowed + "\n")
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    said = run(python, "-m", "maxmargin", "fit", "--json", cwd=tmp_path, env=outside)
    assert '"relative_gap"' in said.stdout
    assert (tmp_path / "model.maxmargin").exists()
    home = run(python, "-c", "import maxmargin; print(maxmargin.__file__)", env=outside).stdout
    assert str(bare) in home


@pytest.mark.slow
def test_the_sdist_has_what_building_and_testing_need(tmp_path):
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--target",
        tmp_path / "tools",
        "hatchling",
    )
    tools = os.environ | {"PYTHONPATH": str(tmp_path / "tools")}
    code = "import hatchling.build as b, sys; print(b.build_sdist(sys.argv[1]))"
    name = run(sys.executable, "-c", code, tmp_path, cwd=ROOT, env=tools).stdout.split()[-1]
    with tarfile.open(tmp_path / name) as packed:
        names = {member.name.split("/", 1)[-1] for member in packed.getmembers()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "Makefile"} <= names
    assert {"src/maxmargin/py.typed", "docs/conf.py"} <= names
    assert not any(name.startswith((".venv", "build/", ".numba_cache")) for name in names)
