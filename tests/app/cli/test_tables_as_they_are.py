"""Tables as people have them: no header, words for what is missing, ids, odd cells."""

import pytest

import maxmargin as mm

STREAMED = pytest.mark.parametrize("memory", [(), ("--memory", "100MB")])


def flowers(n=60, header="length,width,kind"):
    lines = [f"{i % 7 + (i % 2) * 3 + 0.5},{i % 5},{'rose' if i % 2 else 'lily'}" for i in range(n)]
    return "\n".join([*([header] if header else []), *lines, ""])


@STREAMED
def test_no_header(maxmargin, tmp_path, memory):
    (tmp_path / "a.csv").write_text(flowers(header=None))
    assert "It has: x1, x2, x3" in maxmargin.complaint("fit", "a.csv", *memory)
    told = maxmargin.json("fit", "a.csv", "-t", "x3", "--C", 1, *memory)
    assert told["rows"] == 60
    assert any("has no header, its first line looks like data" in note for note in told["notes"])
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
    assert maxmargin("predict", "model.maxmargin", "a.csv").count("\n") == 61
    lines = [line.rpartition(",")[0] for line in flowers(header=None).splitlines()]
    (tmp_path / "new.csv").write_text("\n".join(lines))
    assert maxmargin("predict", "model.maxmargin", "new.csv").count("\n") == 61
    (tmp_path / "named.csv").write_text("x2,x1\n1,2\n")
    assert maxmargin("predict", "model.maxmargin", "named.csv").count("\n") == 2
    said = maxmargin.complaint("fit", "a.csv", "-t", "x3", "--header", *memory)
    assert "a.csv has no column 'x3'" in said
    (tmp_path / "b.csv").write_text(flowers())
    assert (
        maxmargin.json("fit", "b.csv", "--no-header", "-t", "x3", "--C", 1, *memory)["rows"] == 61
    )


@STREAMED
def test_words_for_what_is_missing(maxmargin, tmp_path, memory):
    lines = flowers().splitlines()
    for at, word in enumerate(["?", "-", "NA", "null", "", " ?", "n/a"], start=1):
        lines[at] = f"{word},{lines[at].partition(',')[2]}"
    lines[20] = "1.5,2,NA"
    lines[21] = "1.5,2,?"
    (tmp_path / "a.csv").write_text("\n".join(lines))
    told = maxmargin.json("fit", "a.csv", "-t", "kind", "--C", 1, *memory)
    assert told["classes"] == {"lily": told["classes"]["lily"], "rose": told["classes"]["rose"]}
    assert "2 rows without a label in 'kind' were left out" in told["notes"]
    assert any(note.startswith("length: 7 missing values") for note in told["notes"])
    (tmp_path / "new.csv").write_text("length,width\n?,1\n2,-\n")
    assert maxmargin("predict", "model.maxmargin", "new.csv").count("\n") == 3
    assert "length: 1 missing" in maxmargin.err
    said = maxmargin.json("fit", "a.csv", "-t", "kind", "--C", 1, "--na", "?", "--na", "-", *memory)
    assert "NA" in said["classes"]


def test_a_minus_among_labels(maxmargin, tmp_path):
    lines = [f"{i % 9},{'+' if i % 9 > 4 else '-'}" for i in range(60)]
    (tmp_path / "a.csv").write_text("x,y\n" + "\n".join(lines))
    assert set(maxmargin.json("fit", "a.csv", "--C", 1)["classes"]) == {"+", "-"}


def test_whole_numbers_and_a_word_for_none_on_a_stream(maxmargin, tmp_path):
    lines = [f"{i % 9},{'NA' if i == 7 else int(i % 9 > 4)}" for i in range(60)]
    (tmp_path / "a.csv").write_text("x,y\n" + "\n".join(lines))
    maxmargin("fit", "a.csv", "--C", 1, "--memory", "100MB")
    assert mm.load("model.maxmargin").model.classes_.tolist() == [0, 1]


@STREAMED
def test_decimal_commas_are_seen(maxmargin, tmp_path, memory):
    lines = [f"{i},{i % 10};{'b' if i > 20 else 'a'}" for i in range(40)]
    (tmp_path / "a.csv").write_text("x;label\n" + "\n".join(lines))
    told = maxmargin.json("fit", "a.csv", "--C", 1, *memory)
    assert mm.load("model.maxmargin").feature_names == ["x"]
    assert any("has decimal commas" in note for note in told["notes"])
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
