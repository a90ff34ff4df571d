"""Every heading of the five texts has a section, every section a heading; claims are asserted."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "extensions"))
from pages import assertions, python_blocks  # noqa: E402

HEADINGS = tomllib.loads((DOCS / "lectures" / "headings.toml").read_text(encoding="utf-8"))
LEAST_CLAIMS = 150


def text_of(page):
    return (DOCS / "lectures" / f"{page}.md").read_text(encoding="utf-8")


def sections(page):
    """Title and text of every section of a page."""
    _, *parts = re.split(r"^## (.+)$", text_of(page), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_lecture_has_its_page():
    pages = {path.stem for path in (DOCS / "lectures").glob("*.md")} - {"index", "headings"}
    assert pages == set(HEADINGS)


@pytest.mark.parametrize("page", HEADINGS)
def test_headings_and_sections_answer_each_other(page):
    assert list(dict.fromkeys(HEADINGS[page].values())) != []
    assert set(HEADINGS[page].values()) == set(sections(page))


@pytest.mark.parametrize("page", HEADINGS)
def test_every_section_runs_something(page):
    assert [title for title, text in sections(page).items() if not python_blocks(text)] == []


def test_claims_are_asserted():
    assert sum(assertions(text_of(page)) for page in HEADINGS) >= LEAST_CLAIMS
