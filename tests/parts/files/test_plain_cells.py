"""What the compiled loop makes of a piece of CSV is what Arrow makes of it, or it says nothing."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.parts.files import plain_cells, source, tables
from maxmargin.parts.files.source import Source, find_source

NAMES = ["x", "k", "w"]
TYPES = dict(zip(NAMES, (pa.float64(), pa.int64(), pa.string()), strict=True))
PLAIN = Source(None, "csv")


def both(text: str, of: Source = PLAIN, only=None):
    piece = memoryview(text.encode())
    try:
        told = tables._parse(piece, NAMES, of, TYPES, only)
    except (ValueError, tables.TooNarrow):
        told = None
    return plain_cells.parse(piece, NAMES, of, TYPES, only), told


def same(one: pa.Table, other: pa.Table) -> bool:
    """Bit by bit: a zero has a sign."""
    if one.schema != other.schema or not one.equals(other):
        return False
    one, other = (t.column("x").to_numpy() if "x" in t.schema.names else () for t in (one, other))
    return np.array_equal(np.signbit(one), np.signbit(other))


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e3, 1e3).map(lambda x: f"{x:.6f}"),
    st.from_regex(r"\A-?[0-9]{1,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?\Z"),
)
WHOLES = st.integers(-(10**17), 10**17)
ODD = st.text(alphabet='0.-+eE,"\n\r x\u00e9', max_size=5)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(NUMBERS, WHOLES, st.text("abcn A\"'", max_size=4)), min_size=1))
def test_plain_cells_are_what_arrow_reads(rows):
    found, told = both("".join(f"{x},{k},{w}\n" for x, k, w in rows))
    if found is not None:
        assert same(found, told)
    elif told is not None:  # it gave up: then there was a quote, or a number that is rare
        assert any('"' in w or len(x) > 18 or x.endswith(".") for x, _, w in rows) or any(
            "e" in x.lower() for x, _, _ in rows
        )


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(ODD, ODD, ODD, st.sampled_from(["\n", "\r\n", "\n\n"])), max_size=3))
def test_what_is_odd_is_left_to_arrow(rows):
    found, told = both("".join(f"{x},{k},{w}{end}" for x, k, w, end in rows) + "1.5,2,b\n")
    assert found is None or same(found, told)


@settings(max_examples=500, deadline=None)
@given(st.integers(2**52, 10**18 - 1), st.integers(0, 17), st.booleans())
def test_numbers_of_many_digits_are_rounded_once(m, shift, middle):
    if middle:  # next to the middle of two float64s
        x = float(m) if m < 2**53 else float(m >> 6 << 6)
        m = (int(x) + int(np.nextafter(x, np.inf))) // 2
    digits = str(m).rjust(shift + 1, "0")
    text = digits[: len(digits) - shift] + ("." + digits[len(digits) - shift :] if shift else "")
    found, _ = both(f"{text},1,a\n")
    assert found is None or found.column("x")[0].as_py() == float(text)


@pytest.mark.parametrize(
    "text",
    ['1,2,"a"\n', '-0.0,-0,"a,b"\n', "1,2,\n", "1,2,a\r\n3,4,\r\n", "007,08,x\n", "1e5,3,x\n"],
)
def test_these_are_plain(text):
    found, told = both(text)
    assert same(found, told)


@pytest.mark.parametrize(
    "text",
    [
        *(",2,a\n", "1,,a\n", "1,2\n", "1,2,a,b\n", "nan,1,a\n", "1,2.5,a\n", '"1",2,a\n', "1,2,a"),
        *("1,2,é\n", '1,2,"a""b"\n', '1,2,"a\nb"\n', "\n", "1e999,2,a\n", "+1,2,a\n", " 1,2,a\n"),
    ],
)
def test_these_are_arrows(text):
    assert both(text)[0] is None


@pytest.mark.parametrize("only", [["w", "x"], ["k"], []])
def test_columns_are_those_asked_for(only):
    found, told = both("1.5,2,a\n2.5,3,b\n", only=only)
    assert only == [] or same(found, told)


def test_words_for_missing_values_are_none():
    of = Source(None, "csv", missing=("NA", "?", ""))
    found, told = both("1,2,NA\n2,3,no\n3,4, ?\n4,5,\n", of)
    assert same(found, told)
    assert found.column("w").null_count == 3


def test_a_large_file_is_the_table_that_a_small_one_is(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    numbers = zip(rng.normal(size=900).tolist(), range(900), strict=True)
    lines = [f"{x!r},{k},w{k % 3}" for x, k in numbers]
    lines[30] = "-3,1.5,w"  # beyond the lines from which types are guessed
    lines[700] = "1.25,,"  # a piece that is Arrow's
    path = tmp_path / "it.csv"
    path.write_text("x,k,w\n" + "\n".join(lines))
    monkeypatch.setattr(tables, "PIECE_BYTES", 2_000)
    monkeypatch.setattr(tables, "GUESSED_BYTES", 500)
    small = tables.read_table(find_source(path))
    monkeypatch.setattr(source, "MIN_LARGE_BYTES", 1_000)
    large = tables.read_table(find_source(path))
    assert large.equals(small)
    assert [str(kind) for kind in large.schema.types] == ["double", "double", "string"]
