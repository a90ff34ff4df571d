"""The gallery's page is what its functions say, and every function makes its picture."""

import importlib.util
from pathlib import Path

import pytest

from .drawn import drawn

DOCS = Path(__file__).parent.parent.parent / "docs"
SPEC = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
gallery = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gallery)


def test_the_page_is_up_to_date():
    written = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert written == gallery.page(), "run `make gallery`"


def test_every_picture_is_there_and_small():
    files = {file.stem: file.stat().st_size for file in (DOCS / "gallery").glob("*.png")}
    assert set(files) == {picture.__name__ for picture in gallery.PICTURES}
    assert sum(files.values()) < 2_000_000


@pytest.mark.parametrize("picture", gallery.PICTURES, ids=lambda picture: picture.__name__)
def test_every_picture_can_be_made(picture):
    drawn(picture())


def test_the_code_of_the_page_is_a_script():
    for picture in gallery.PICTURES:
        code = compile(gallery.code_of(picture), picture.__name__, "exec")
        assert any(name.endswith("Display") for name in code.co_names)
