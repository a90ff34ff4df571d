"""A stray word among numbers, and decimal commas: said, and mended by a switch."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.parts.files.columns import Category, Number, UnexpectedValues
from maxmargin.parts.files.learn import learn_table
from maxmargin.parts.files.numerals import is_stray, numerals
from maxmargin.parts.files.preparation import Choices


def _table(words, **more) -> pa.Table:
    return pa.table({"age": pa.array(words, pa.string()), **more})


def _learned(words, **choices):
    found = learn_table(_table(words), ["age"], Choices(**choices))
    return found.preparation.columns[0], " | ".join(found.sentences()), found


NUMBERS = [str(number) for number in range(20, 50)]


def test_a_stray_word_is_told():
    column, said, _ = _learned([*NUMBERS, "unknown"])
    assert isinstance(column, Category)
    assert column.width == 31
    assert "age: understood as 31 different words, because 1 of 31 values is no number" in said
    assert "such as 'unknown'; --number age makes numbers of it" in said


def test_decimal_commas_are_told():
    _, said, _ = _learned(["1,5", "2,5", "3,25", "4", "1,5"])
    assert "age: understood as 4 different words; 5 of 5 values are numbers with a decimal" in said
    assert "--decimal , reads them so" in said


def test_many_numbers_and_few_words_are_numbers_rather_than_left_out():
    words = [f"{number}.5" for number in range(300)] + ["unknown", "?"]
    found = learn_table(_table(words, z=pa.array(np.arange(302))), ["age", "z"], Choices())
    column = found.preparation.columns[0]
    assert isinstance(column, Number)
    assert math.isclose(column.mean, 150.0)
    assert found.missing == {"age": 2}
    said = found.sentences()
    assert not any("age was left out" in note for note in said)
    told = "age: understood as numbers, though 2 of 302 values are no numbers, such as 'unknown'"
    assert any(note.startswith(told) for note in said)
    insisted = learn_table(_table(words), ["age"], Choices(category=("age",)))
    assert isinstance(insisted.preparation.columns[0], Category)


def test_many_words_and_few_numbers_are_left_out_and_told():
    words = [f"name {number}" for number in range(250)] + [str(number) for number in range(52)]
    table = _table(words, z=pa.array(np.arange(302)))
    said = learn_table(table, ["age", "z"], Choices()).sentences()
    assert said[0].startswith("age was left out: it has 302 different values")


@pytest.mark.parametrize(
    "words",
    [
        ["a", "b", "c"] * 10,
        ["1", "2", "3"] * 10,  # a file that says that these are words
        ["1", "2", "3+", "4+"] * 10,
        ["NA", "n/a", "null"] * 10,
        ["a,b", "c,d"] * 10,
        [*["x"] * 20, "1"],
    ],
)
def test_words_are_words(words):
    column, said, _ = _learned(words)
    assert isinstance(column, Category)
    assert "understood" not in said


def test_who_asks_for_words_is_not_told():
    column, said, _ = _learned([*NUMBERS, "unknown"], category=("age",))
    assert isinstance(column, Category)
    assert said == ""


def test_number_makes_the_others_missing():
    column, said, found = _learned([*NUMBERS, "unknown", "NA", None], number=("age",), scale=False)
    assert isinstance(column, Number)
    assert math.isclose(column.mean, np.arange(20, 50).mean())
    assert found.missing == {"age": 3}
    assert "age: 1 of 33 values is no number, such as 'unknown'" in said
    assert "age: 3 missing values, filled with the mean" in said
    odd = UnexpectedValues()
    X = found.preparation(_table(["30", "never seen", None, " +3.5 "]), odd)
    assert X[:, 0].tolist() == [30.0, column.mean, column.mean, 3.5]
    assert odd.missing == {"age": 2}
    assert found.preparation(pa.table({"age": [7, 8]}), odd)[:, 0].tolist() == [7.0, 8.0]
    assert found.preparation.types() == {"age": pa.string()}


def test_decimal_reads_words_and_numbers():
    table = _table(["1,5", "2,5", "3", None], whole=[1, 2, 3, 4], town=["a", "b", "a", "b"])
    found = learn_table(table, ["age", "whole", "town"], Choices(decimal=",", scale=False))
    age, whole, town = found.preparation.columns
    assert (age.mean, age.read_as, whole.read_as) == (7 / 3, "numeral,", "numeral,")
    assert isinstance(town, Category)
    new = pa.table({"age": ["0,25"], "whole": ["2,75"], "town": ["a"]})
    assert found.preparation(new, UnexpectedValues())[0].tolist() == [0.25, 2.75, 1.0, 0.0]


@pytest.mark.parametrize(
    ("words", "numbers", "said"),
    [
        (
            ["1.234,50", "-12,5", "2.000.000"],
            [1234.5, -12.5, 2e6],
            "numbers with separators of thousands",
        ),
        (
            ["1.234,50 €", "€12", "7,25 €"],
            [1234.5, 12.0, 7.25],
            "numbers with separators of thousands",
        ),
        (["2,5 %", "18%", "-,5 %"], [2.5, 18.0, -0.5], "percentages"),
        (["2012/01/31", "2012/02/01", "31.1.2012"], [15370.0, 15371.0, 15370.0], "dates"),
    ],
)
def test_notations_where_the_decimal_mark_is_a_comma(words, numbers, said):
    column, told, found = _learned(words * 10, decimal=",")
    assert f"age: understood as {said}" in told
    values = found.preparation(_table(words), UnexpectedValues())[:, 0]
    assert np.allclose(values * column.scale + column.shift, numbers)


def test_points_and_commas_are_not_mixed():
    """1,234 is a number of a little more than one where decimals are commas."""
    column, told, _ = _learned(["1,234", "2,5", "7"] * 10, decimal=",")
    assert column.mean == pytest.approx((1.234 + 2.5 + 7) / 3)
    assert told == ""


def test_what_contradicts_is_refused():
    with pytest.raises(ValueError, match="--decimal must be"):
        Choices(decimal=";")
    with pytest.raises(ValueError, match="--number a contradicts"):
        Choices(number=("a",), text=("a",))
    with pytest.raises(ValueError, match="--missing drop does not see"):
        Choices(number=("a",), missing="drop")
    with pytest.raises(ValueError, match="infinite"):
        _learned(["1", "2", "1e999"], number=("age",))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_read_exactly(values):
    for mark in ".,":
        words = pa.array([repr(value).replace(".", mark) for value in values])
        assert numerals(words, mark).tolist() == values
        assert not any(is_stray(words, mark).to_pylist())
