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


# --- cells, columns and formats ---------------------------------------------------------------


def test_one_odd_cell_costs_one_value_not_the_file(maxmargin, tmp_path):
    (tmp_path / "a.csv").write_text(flowers())
    maxmargin("fit", "a.csv", "-t", "kind", "--C", 1)
    (tmp_path / "new.csv").write_text("length,width\n1.5,2\nrotary,2\n3,?\n4,1\n")
    assert maxmargin("predict", "model.maxmargin", "new.csv").count("\n") == 5
    said = "length: 1 value is no number, such as 'rotary': taken for missing"
    assert said in maxmargin.err
    assert "width: 1 missing" in maxmargin.err
    refused = maxmargin.complaint("predict", "model.maxmargin", "new.csv", "--strict")
    assert "row 2: the column 'length' held numbers" in refused
    (tmp_path / "judged.csv").write_text("length,width,kind\n1.5,2,lily\nrotary,2,rose\n2,1,rose\n")
    told = maxmargin.json("evaluate", "model.maxmargin", "judged.csv")
    assert told["notes"] == [said]
    (tmp_path / "other.csv").write_text("length,width\nlong,2\nshort,2\n3,1\n")
    assert "held numbers" in maxmargin.complaint("predict", "model.maxmargin", "other.csv")


def test_odd_days_and_truth_values(maxmargin, tmp_path):
    lines = [f"2020-01-{1 + i % 28:02d},{i % 3 == 0},{i % 28 > 13}" for i in range(60)]
    (tmp_path / "a.csv").write_text("day,member,y\n" + "\n".join(lines))
    maxmargin("fit", "a.csv", "-t", "y", "--C", 1)
    new = "day,member\n2020-01-02,true\nsoon,false\n2020-01-27 00:00:00,perhaps\n2020-01-03,true\n"
    (tmp_path / "new.csv").write_text(new)
    out = maxmargin("predict", "model.maxmargin", "new.csv").splitlines()
    assert [line.split(",")[0] for line in out[1::2]] == ["false", "true"]
    assert "day: 1 value is no number, such as 'soon'" in maxmargin.err
    assert "member: 1 value is no number, such as 'perhaps'" in maxmargin.err


@STREAMED
def test_row_numbers_and_ids_are_left_out_and_named(maxmargin, tmp_path, memory):
    rows = flowers(header=None).splitlines()
    lines = [f"{i},{100 + 7 * i},{line}" for i, line in enumerate(rows)]
    (tmp_path / "a.csv").write_text(",customer_id,length,width,kind\n" + "\n".join(lines))
    told = maxmargin.json("fit", "a.csv", "-t", "kind", "--C", 1, *memory)
    assert mm.load("model.maxmargin").feature_names == ["length", "width"]
    assert (
        'a column without a name was left out: it numbers the rows (--number "" keeps it)'
        in told["notes"]
    )
    assert (
        "customer_id was left out: it numbers the rows (--number customer_id keeps it)"
        in (told["notes"])
    )
    given = ("--number", "customer_id", *memory)
    maxmargin("fit", "a.csv", "-t", "kind", "--C", 1, *given)
    assert mm.load("model.maxmargin").feature_names == ["customer_id", "length", "width"]


def test_measurements_that_happen_to_differ_are_kept(maxmargin, tmp_path):
    lines = [f"{50 * i},{i % 3},{'a' if i > 20 else 'b'}" for i in range(40)]
    (tmp_path / "a.csv").write_text("income,x,y\n" + "\n".join(lines))
    maxmargin("fit", "a.csv", "--C", 1)
    assert mm.load("model.maxmargin").feature_names == ["income", "x"]


ARFF = """% a comment
@RELATION flowers
@attribute 'petal length' numeric
@attribute width real [0, 4]
@attribute kind {rose, 'a lily'}
@data
"""


@STREAMED
def test_arff_and_keel(maxmargin, tmp_path, memory):
    rows = [line.replace("lily", "'a lily'") for line in flowers(header=None).splitlines()]
    for name in ("a.arff", "a.dat"):
        (tmp_path / name).write_text(ARFF + "\n".join(rows) + "\n%end\n?, 1, rose\n")
        told = maxmargin.json("fit", name, "-t", "kind", "--C", 1, *memory)
        assert told["classes"] == {"a lily": 30, "rose": 31}
        assert mm.load("model.maxmargin").feature_names == ["petal length", "width"]
        assert maxmargin("predict", "model.maxmargin", name).count("\n") == 62
    (tmp_path / "b.arff").write_text(ARFF + "{0 1.5, 2 rose}\n")
    assert "sparse ARFF" in maxmargin.complaint("fit", "b.arff", "-t", "kind", *memory)


def test_excel(maxmargin, tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in flowers().splitlines():
        book.active.append([float(c) if c[0].isdigit() else c for c in line.split(",")])
    book.save(tmp_path / "a.xlsx")
    told = maxmargin.json("fit", "a.xlsx", "-t", "kind", "--C", 1)
    assert (told["rows"], told["features"]) == (60, 2)
    # Where progress is told the file is read through something that cannot jump about in it.
    told = maxmargin("fit", "a.xlsx", "-t", "kind", "--method", "fisher", "--no-report")
    assert "a.xlsx: 60 rows, 2 features" in told
    assert maxmargin("predict", "model.maxmargin", "a.xlsx").count("\n") == 61
    (tmp_path / "b.xlsx").write_bytes(b"PK no more")
    assert "b.xlsx could not be read as an Excel file" in maxmargin.complaint("fit", "b.xlsx")
    (tmp_path / "c.xls").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(99))
    assert "Save them as .xlsx" in maxmargin.complaint("fit", "c.xls")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    assert "pip install 'maxmargin[excel]'" in maxmargin.complaint("fit", "a.xlsx", "-t", "kind")


@STREAMED
def test_percentages_thousands_and_dates_are_understood_and_said(maxmargin, tmp_path, memory):
    lines = [
        f'"{1000 + 97 * i:,}.50",{i}%,2012/01/{1 + i % 28:02d},"${500 + 13 * i:,}",{i > 30}'
        for i in range(60)
    ]
    (tmp_path / "a.csv").write_text("price,share,day,cost,y\n" + "\n".join(lines))
    told = maxmargin.json("fit", "a.csv", "--C", 1, *memory)
    model = mm.load("model.maxmargin")
    assert model.feature_names == ["price", "share", "day", "cost"]
    means = [column.mean for column in model.preparation.columns]
    assert means == pytest.approx([1000.5 + 97 * 29.5, 29.5, 15352.9, 500 + 13 * 29.5], rel=1e-4)
    for name, said in {"price": "numbers with separators of thousands", "share": "percentages",
                       "day": "dates, in days"}.items():  # fmt: skip
        assert any(note.startswith(f"{name}: understood as {said}") for note in told["notes"])
    assert maxmargin.json("evaluate", "model.maxmargin", "a.csv")["wrong"] < 6
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
    (tmp_path / "new.csv").write_text('price,share,day,cost\n"1,234",5%,2012/01/05,soon\n')
    assert maxmargin("predict", "model.maxmargin", "new.csv").count("\n") == 2
    assert "cost: 1 missing" in maxmargin.err


# --- rare classes, and what is said -----------------------------------------------------------


def rare(n=400):
    lines = [f"{(i * 37) % 101 / 10 + 4 * (i % 20 == 0):.1f},{'yes' if i % 20 == 0 else 'no'}"
             for i in range(n)]  # fmt: skip
    return "x,y\n" + "\n".join(lines)


def test_a_rare_class_is_not_forgotten(maxmargin, tmp_path):
    (tmp_path / "a.csv").write_text(rare())
    told = maxmargin.json("fit", "a.csv")
    assert told["tuning"]["score"] == "balanced_accuracy"
    assert any("only 20 of 400 rows are 'yes'" in note for note in told["notes"])
    assert maxmargin.json("fit", "a.csv", "--score", "accuracy")["tuning"]["score"] == "accuracy"
    maxmargin.json("fit", "a.csv", "--weights", "balanced")
    model = mm.load("model.maxmargin").model
    assert model.class_weight == "balanced"
    found = maxmargin.json("evaluate", "model.maxmargin", "a.csv")["confusion"]
    assert found[1][1] >= 10  # of the 20
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
    assert "--score must be one of" in maxmargin.complaint("fit", "a.csv", "--score", "luck")
    said = maxmargin.complaint("fit", "a.csv", "-m", "fisher", "--weights", "balanced")
    assert "fisher has no weights of classes" in said
    said = maxmargin.complaint("fit", "a.csv", "-m", "fisher", "--score", "accuracy")
    assert "--score says how to choose C" in said


def test_the_class_with_one_example_is_named(maxmargin, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,a\n3,b\n4,b\n5,lonely\n")
    assert "the class 'lonely' has one example only" in maxmargin.complaint("fit", "a.csv")


def test_what_verify_says(maxmargin, tmp_path):
    (tmp_path / "a.csv").write_text(flowers())
    maxmargin("fit", "a.csv", "-t", "kind", "--C", 1, "--holdout", 0.25)
    assert maxmargin.json("verify", "model.maxmargin", "a.csv")["holds"]
    (tmp_path / "b.csv").write_text("width,kind\n1,rose\n2,lily\n")
    assert "b.csv has no column 'length'" in maxmargin.complaint(
        "verify", "model.maxmargin", "b.csv"
    )
    maxmargin("fit", "a.csv", "-t", "kind", "--C", 1, "--tol", "1e-300", code=1)
    said = maxmargin("verify", "model.maxmargin", "a.csv", code=1)
    assert "was not proved when the model was fitted, and is not now" in said


def test_what_is_no_table_is_said(maxmargin, tmp_path):
    (tmp_path / "a.json").write_text('[{"x": 1}]')
    assert "look like JSON" in maxmargin.complaint("fit", "a.json")
    assert "`maxmargin fit --memory 1GB` does" in maxmargin.complaint("fit", ".")


def test_a_small_file_takes_the_way_of_memory(maxmargin, tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.app.cli.fit.BYTES_IN_MEMORY", 40)
    (tmp_path / "a.csv").write_text(flowers())
    told = maxmargin.json("fit", "a.csv", "-t", "kind", "--C", 1, "--memory", "300MB")
    assert "streamed" not in told
    assert "a.csv is small beside --memory 300MB: it was read at once" in told["notes"]
    (tmp_path / "b.csv").write_text(flowers(60_000))
    told = maxmargin.json("fit", "b.csv", "-t", "kind", "--C", 1, "--memory", "16MB")
    assert "streamed" in told
