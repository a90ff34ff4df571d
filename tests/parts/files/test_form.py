"""How a text file is written, where it does not say so."""

import pytest

from maxmargin.parts.files.form import (
    MISSING_WORDS,
    FileForm,
    column_names,
    has_decimal_commas,
    looks_like_data,
    missing_words,
)


def rows(text: str, mark: str = ",") -> list[list[str]]:
    return [line.split(mark) for line in text.strip().split("\n")]


@pytest.mark.parametrize(
    "text",
    [
        "5.1,3.5,setosa\n4.9,3.0,setosa\n6.1,2.9,virginica",
        "39, State-gov, 77516, <=50K\n50, Private, 83311, <=50K\n38, State-gov, 215646, >50K",
        "1,2\n3,4\n5,6.5",
        "?,2.5,a\n1,3,a\n2,4,b",
        "p,x,s\ne,x,s\np,b,y",
    ],
)
def test_a_first_line_that_is_a_row(text):
    assert looks_like_data(rows(text))


@pytest.mark.parametrize(
    "text",
    [
        "a,b,kind\n5.1,3.5,setosa\n4.9,3.0,setosa",
        "0,1,2\n5.1,3.5,1\n4.9,3.0,0",
        "2019,2020,2021\n5.1,3.5,1\n4.9,3.0,0",
        "country,1990\nChile,3.5\nPeru,3.0",
        "name,town\nAnn,Rome\nBob,Oslo",
        "x,y\n1,2",
        "town\nRome\nOslo",
    ],
)
def test_a_first_line_that_names_the_columns(text):
    assert not looks_like_data(rows(text))


def test_names_of_columns_without_a_header():
    bare = rows("1,2,a\n3,4,a\n5,6,b")
    assert column_names(FileForm(), bare) == ["x1", "x2", "x3"]
    assert column_names(FileForm(header=True), bare) is None
    assert column_names(FileForm(header=False), rows("a,b\n1,2")) == ["x1", "x2"]
    like = FileForm(names=("x1", "x2", "x3", "x4"), target="x2", known=frozenset({"x1", "x3"}))
    assert column_names(like, bare) == ["x1", "x3", "x4"]  # new rows have no target
    assert column_names(like, rows("x1,x3\n1,2")) is None
    assert column_names(FileForm(known=frozenset({"5.1"})), rows("5.1,a\n1,a\n2,b")) is None


def test_a_minus_means_something_where_there_is_a_plus():
    form = FileForm(missing=MISSING_WORDS)
    assert "-" in missing_words(form, rows("x,y\n1,-\n2,a"))
    assert "-" not in missing_words(form, rows("x,y\n1,-\n2,+"))
    assert missing_words(FileForm(missing=("", "x")), rows("x,+")) == ("", "x")


def test_decimal_commas_are_seen():
    assert has_decimal_commas(rows("x;y\n1,5;2\n2;3", ";"), ";")
    assert not has_decimal_commas(rows("x;y\n1,5;2.5", ";"), ";")
    assert not has_decimal_commas(rows("x;y\n15;2", ";"), ";")
