"""Files that are not what they say are refused, in words, and before they cost memory."""

import errno
import hashlib
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.app.store.container import ALIGNMENT_BYTES, FORMAT_VERSION, MAGIC, PREFIX_STRUCT
from maxmargin.parts.files import atomic

X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 4.0], [0.0, 1.0]])
MODEL = mm.LinearSVM().fit(X, ["low", "low", "high", "high", "low"])


@pytest.fixture
def path(tmp_path):
    return mm.save(MODEL, tmp_path / "model.maxmargin")


def rebuilt(data: bytes, change=None, *, version=FORMAT_VERSION, text=None) -> bytes:
    """The file with another header, and everything that guards it made right again."""
    _, _, length, _ = PREFIX_STRUCT.unpack(data[: PREFIX_STRUCT.size])
    header = json.loads(data[PREFIX_STRUCT.size : PREFIX_STRUCT.size + length])
    if change is not None:
        change(header)
    text = json.dumps(header).encode() if text is None else text
    start = -(-(PREFIX_STRUCT.size + length) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    room = start - PREFIX_STRUCT.size
    if len(text) > room:  # arrays move back by whole blocks
        more = -(-(len(text) - room) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES + ALIGNMENT_BYTES
        for entry in header["arrays"] if isinstance(header.get("arrays"), list) else []:
            if isinstance(entry, dict) and isinstance(entry.get("offset"), int):
                entry["offset"] += more
        text = json.dumps(header).encode() if change is not None else text
        room += more
    body = text.ljust(room) + data[start:-32]
    whole = PREFIX_STRUCT.pack(MAGIC, version, room, PREFIX_STRUCT.size + len(body) + 32) + body
    return whole + hashlib.sha256(whole).digest()


def refuses(path, data: bytes, words: str):
    path.write_bytes(data)
    with pytest.raises(mm.ModelFileError, match=words) as caught:
        mm.load(path)
    assert str(path) in str(caught.value)


def test_rebuilding_alone_changes_nothing(path):
    path.write_bytes(rebuilt(path.read_bytes(), lambda header: None))
    np.testing.assert_array_equal(mm.load(path).coef_, MODEL.coef_)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.2, 0.5, 0.99])
def test_truncated(path, share):
    data = path.read_bytes()
    refuses(path, data[: int(share * len(data))], "truncated|not a maxmargin model")


def test_longer_than_it_should_be(path):
    refuses(path, path.read_bytes() + b"\0", "damaged: it has")


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_every_altered_byte_is_noticed(path, data):
    content = bytearray(mm.save(MODEL, path).read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    with pytest.raises(mm.ModelFileError):
        mm.load(path)


def test_too_new(path):
    refuses(path, rebuilt(path.read_bytes(), version=2), "format 2.*up to format 1. Update")


def test_not_a_model(path):
    refuses(path, b"a,b\n1,2\n", "is not a maxmargin model")
    refuses(path, b"\x80\x04\x95pickle", "is not a maxmargin model")
    path.unlink()
    path.mkdir()
    with pytest.raises(mm.ModelFileError, match="is a folder"):
        mm.load(path)
    with pytest.raises(FileNotFoundError):
        mm.load(path / "nothing")


def test_a_pipe_is_no_file(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, MAGIC + bytes(100))
    os.close(writer)
    try:
        with pytest.raises(mm.ModelFileError, match="no regular file"):
            mm.load(f"/dev/fd/{reader}")
    finally:
        os.close(reader)


def test_declared_sizes_are_compared_first(path):
    data = path.read_bytes()
    for length in (2**63, 2**31, len(data)):
        lying = MAGIC + struct.pack("<IQQ", 1, length, len(data)) + data[PREFIX_STRUCT.size : -32]
        refuses(path, lying + hashlib.sha256(lying).digest(), "declares a header")


ARRAYS = {
    "huge": lambda e: e.update(shape=[2**40, 2**40]),
    "huge and empty": lambda e: e.update(shape=[2**46, 0]),
    "beyond the end": lambda e: e.update(offset=10**6),
    "in the header": lambda e: e.update(offset=0),
    "negative": lambda e: e.update(offset=-8),
    "negative shape": lambda e: e.update(shape=[-1, -1]),
    "fraction": lambda e: e.update(offset=1.5),
    "truth": lambda e: e.update(offset=True),
    "object": lambda e: e.update(dtype="|O"),
    "fields": lambda e: e.update(dtype=[["a", "<f8"]]),
    "void": lambda e: e.update(dtype="|V8"),
    "words": lambda e: e.update(dtype="<U4"),
    "half": lambda e: e.update(dtype="<f2"),
    "dates": lambda e: e.update(dtype="<M8[s]"),
    "many dimensions": lambda e: e.update(shape=[1] * 40),
    "no shape": lambda e: e.pop("shape"),
    "more": lambda e: e.update(path="../../etc/passwd"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_hostile_tables_of_arrays(path, name):
    refuses(path, rebuilt(path.read_bytes(), lambda h: ARRAYS[name](h["arrays"][0])), "damaged")


def test_overlapping_arrays(path):
    def change(header):
        header["arrays"][1]["offset"] = header["arrays"][0]["offset"]

    refuses(path, rebuilt(path.read_bytes(), change), "two arrays share|damaged")


def fitted(header):
    return header["model"]["fitted"]


HEADERS = {
    "another class": lambda h: h["model"].update(of="os.system"),
    "another module": lambda h: h["model"].update(of="../../LinearSVM"),
    "unhashable class": lambda h: h["model"].update(of=["LinearSVM"]),
    "dunder": lambda h: fitted(h).update(__class__=1),
    "method": lambda h: fitted(h).update(predict=1),
    "parameter": lambda h: h["model"]["parameters"].update(__init__=1),
    "no weights": lambda h: fitted(h).pop("coef_"),
    "weights of another length": lambda h: fitted(h).update(coef_=fitted(h)["alpha_"]),
    "biases": lambda h: fitted(h).update(intercept_=fitted(h)["alpha_"]),
    "more features": lambda h: fitted(h).update(n_features_in_=5000),
    "no array": lambda h: fitted(h)["coef_"].update(at=99),
    "negative place": lambda h: fitted(h)["coef_"].update(at=-1),
    "unknown kind": lambda h: fitted(h)["coef_"].update({"~": "eval"}),
    "private kind": lambda h: fitted(h)["coef_"].update({"~": "_call__"}),
    "record": lambda h: fitted(h)["certificate_"].update(of="Popen"),
    "record's field": lambda h: fitted(h)["certificate_"]["fields"].update(extra=1),
    "record's type": lambda h: fitted(h)["certificate_"]["fields"].update(primal="low"),
    "one class": lambda h: fitted(h)["classes_"].update(ends=0),
    "words": lambda h: fitted(h)["classes_"].update({"as": "<U999999999"}),
    "no model": lambda h: h.pop("model"),
    "model is a list": lambda h: h.update(model=[]),
    "codes": lambda h: fitted(h).update(_codes=fitted(h)["support_"]),
}


@pytest.mark.parametrize("name", HEADERS)
def test_hostile_headers(path, name):
    refuses(path, rebuilt(path.read_bytes(), HEADERS[name]), "damaged")


@pytest.mark.parametrize(
    "text",
    [b"{", b"[]", b"1e999", b'{"arrays":NaN}', b'{"a":1,"a":2}', b"[" * 100_000, b"9" * 10_000,
     b'{"arrays":[],"model":' + b'{"~":"tuple","values":[' * 5000 + b"]}" * 5000 + b"}", b"\xff"],
    ids=lambda text: text[:12].decode("latin-1"),
)  # fmt: skip
def test_headers_that_are_no_json(path, text):
    refuses(path, rebuilt(path.read_bytes(), text=text), "damaged")


def test_support_outside_the_training_rows(path):
    data = bytearray(path.read_bytes())
    _, _, length, _ = PREFIX_STRUCT.unpack(data[: PREFIX_STRUCT.size])
    header = json.loads(data[PREFIX_STRUCT.size : PREFIX_STRUCT.size + length])
    at = header["arrays"][fitted(header)["support_"]["at"]]["offset"]
    data[at : at + 8] = struct.pack("<q", 10**9)
    refuses(path, rebuilt(bytes(data), lambda h: None), "support_ points outside")


def test_a_lying_file_costs_no_memory(path, tmp_path):
    """Half a gigabyte of address space would not do for what the file claims."""
    lying = tmp_path / "lying"
    for shape in ([2**33], [2**29, 3]):
        lying.write_bytes(
            rebuilt(path.read_bytes(), lambda h, shape=shape: h["arrays"][0].update(shape=shape))
        )
        code = (
            "import sys, resource, maxmargin.app.store.kinds, maxmargin.models.svm.linear_svm\n"
            "from maxmargin import load, ModelFileError\n"
            "used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "try: load(sys.argv[1])\n"
            "except ModelFileError: pass\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, lying], capture_output=True, text=True, check=True
        )
        assert int(done.stdout) < 20_000  # kilobytes


def test_hostile_tables(tmp_path):
    """A model of columns whose columns were changed."""
    golden = (Path(__file__).parent / "golden" / "table-1.maxmargin").read_bytes()
    path = tmp_path / "table"

    def fields(header):
        return header["model"]["fields"]

    def column(header, place):
        return fields(header)["preparation"]["fields"]["columns"]["values"][place]["fields"]

    changes = {
        "a scale of zero": lambda h: column(h, 0).update(scale=0.0),
        "a mean in words": lambda h: column(h, 0).update(mean="one"),
        "another type": lambda h: column(h, 0).update(read_as="eval"),
        "levels of numbers": lambda h: column(h, 1).update(levels=[1, 2, 3]),
        "fewer levels": lambda h: column(h, 1).update(levels=["red"]),
        "a huge basis": lambda h: fields(h)["basis"]["fields"].update(name="polynomial", degree=20),
        "no basis": lambda h: fields(h).update(basis=None),
        "a basis of words": lambda h: fields(h).update(basis="quadratic"),
        "no model": lambda h: fields(h).update(model=None),
        "a summary in words": lambda h: fields(h).update(summary="good"),
        "no preparation": lambda h: fields(h).pop("preparation"),
    }
    for change in changes.values():
        refuses(path, rebuilt(golden, change), "damaged")


RANKED = mm.KernelSVM(rank=3).fit(X, ["low", "low", "high", "high", "low"])
LANDMARKS = {
    "no machine": lambda f: f.pop("_linear"),
    "no map": lambda f: f.pop("_map"),
    "a map of another size": lambda f: f.update(_map=f["_linear"]["fitted"]["coef_"]),
    "another rank": lambda f: f.update(rank_=7),
    "another model": lambda f: f["_linear"].update(of="LogisticRegression"),
    "a machine that is not fitted": lambda f: f["_linear"].update(fitted={}),
    "another rule": lambda f: f["_linear"]["parameters"].update(multiclass="sum"),
    "weights of another length": lambda f: f["_linear"]["fitted"].update(coef_=f["alpha_"]),
    "fewer landmarks": lambda f: f["_expansion"]["fields"].update(places=f["_codes"]),
    "words for a number": lambda f: f.update(trace_error_="small"),
}


@pytest.mark.parametrize("name", LANDMARKS)
def test_hostile_landmarks(path, name):
    data = mm.save(RANKED, path).read_bytes()
    refuses(path, rebuilt(data, lambda header: LANDMARKS[name](fitted(header))), "damaged")


# --- writing ----------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_model(path, monkeypatch):
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*nothing was changed"):
        mm.save(MODEL, path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_interrupted_writing_leaves_the_old_model(path, monkeypatch):
    before = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        mm.save(MODEL, path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_no_folder_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="could not be written"):
        mm.save(MODEL, tmp_path / "nowhere" / "model")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        mm.save(MODEL, tmp_path)


def test_no_permission(tmp_path, monkeypatch):
    """Root may write anywhere, so the refusal is simulated where the tests run as root."""
    tmp_path.chmod(0o500)
    if os.geteuid() == 0:
        monkeypatch.setattr(atomic.os, "open", _forbidden)
    with pytest.raises(PermissionError, match="could not be written"):
        mm.save(MODEL, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def _forbidden(path, *rest, really=os.open, **named):
    if str(path).endswith(".part"):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return really(path, *rest, **named)


def test_a_link_goes_on_pointing(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    mm.save(mm.LogisticRegression().fit(X, [0, 0, 1, 1, 0]), link)
    assert link.is_symlink()
    assert type(mm.load(path)).__name__ == "LogisticRegression"
