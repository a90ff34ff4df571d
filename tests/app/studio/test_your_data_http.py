"""*Your data* from the outside: files, limits, jobs, sessions, and what is left behind."""

import asyncio
import gzip
import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect
from starlette.testclient import TestClient

import maxmargin
from maxmargin.app.studio import uploads
from maxmargin.app.studio.child import ANSWER_FILE
from maxmargin.app.studio.commands import steps
from maxmargin.app.studio.describe import MAX_WORD_LENGTH, describe
from maxmargin.app.studio.server import STATIC_FOLDER, application
from maxmargin.app.studio.uploads import stored_name
from maxmargin.app.studio.your_data import Workshop
from maxmargin.parts.files.owned import OWNER_FILE

from .data_helpers import (
    HOST,
    OURS,
    RAW,
    as_csv,
    as_parquet,
    begin,
    drop,
    finish,
    flowers,
    noise,
    until,
)
from .helpers import Studio

OTHER_FILES_OF_OURS = [".answer", "owner", "report.html", "predictions.csv", "model.maxmargin"]
OTHER_ENDS = [signal.SIGINT, signal.SIGHUP]
HOSTILE = ["--out=x", "<img src=x onerror=alert(1)>", "‮a=b,c", "prediction"]


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads.tempfile, "tempdir", str(tmp_path))
    made = Workshop(1.0)
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def client(workshop):
    app = application([HOST], more=workshop.routes(), limits=workshop.limits)
    return TestClient(app, base_url=OURS, raise_server_exceptions=False)


def run(coroutine):
    """In a thread of its own: the browser's tests have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def files(workshop):
    found = (path.name for path in workshop.uploads.folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name != OWNER_FILE)


def test_from_a_file_to_a_model_that_predicts_the_same(client, workshop, tmp_path):
    table = flowers()
    told = drop(client, as_csv(table)).json()
    assert (told["rows"], told["width"], told["target"]) == (60, 4, "kind")
    assert [c["kind"] for c in told["columns"]] == ["number", "number", "category", "category"]
    assert told["preview"][0] == [str(v) for v in table.slice(0, 1).to_pylist()[0].values()]
    assert len(told["preview"]) == 20

    job = begin(client, told["token"], holdout=0.25, drop=["colour"], C=2.0).json()["token"]
    assert finish(client, job)["state"] == "done"
    result = client.get(f"/data/jobs/{job}/result").json()
    assert (result["proved"], result["C"], result["rows"]) == (True, 2.0, 45)
    assert [scene["title"] for scene in result["scenes"]] == [
        f"what speaks for {name}" for name in ("iris", "lily", "rose")
    ]

    file = tmp_path / "m.maxmargin"
    file.write_bytes(client.get(f"/data/jobs/{job}/model").content)
    model = maxmargin.load(file)
    file.unlink()
    wrong = model.predict(table) != np.array(table["kind"].to_pylist())
    rows = client.get(f"/data/jobs/{job}/rows").json()
    assert (rows["total"], rows["errors"]) == (60, int(wrong.sum()))
    assert (
        sorted(row["row"] - 1 for row in rows["rows"] if row["wrong"])
        == np.flatnonzero(wrong).tolist()
    )
    leads = [(not row["wrong"], row["lead"]) for row in rows["rows"]]
    assert leads == sorted(leads)  # the worst first
    assert {row["row"]: row["prediction"] for row in rows["rows"]} == dict(
        enumerate(model.predict(table).tolist(), start=1)
    )

    report = client.get(f"/data/jobs/{job}/report")
    policy = report.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    assert "maxmargin fit flowers.csv" in report.text
    assert "attachment" in client.get(f"/data/jobs/{job}/report?download").headers[
        "content-disposition"
    ]  # fmt: skip
    assert client.delete(f"/data/files/{told['token']}").status_code == 200
    assert files(workshop) == []
    assert client.get(f"/data/jobs/{job}").status_code == 404


def test_a_saved_model_is_looked_into_and_not_kept(client, workshop, tmp_path):
    X, y = np.array([[0.0, 0], [1, 0], [0, 3], [1, 4]]), ["no", "no", "yes", "yes"]
    file = maxmargin.save(maxmargin.LinearSVM(C=1).fit(X, y), tmp_path / "m.maxmargin")
    content = file.read_bytes()
    file.unlink()
    told = drop(client, content, "any name.bin", "/data/models").json()
    assert (told["model"], told["classes"]) == ("LinearSVM", ["no", "yes"])
    assert "proved within" in told["certificate"]
    assert told["scenes"][0]["title"] == "what speaks for yes rather than no"
    refused = drop(client, content[:-40], "cut.maxmargin", "/data/models")
    assert refused.status_code == 422
    assert "cut.maxmargin" in refused.json()["error"]
    assert files(workshop) == []


# --- what is refused ------------------------------------------------------------------------


def test_large_files_are_refused_by_their_header_and_while_they_arrive(client, workshop):
    refused = drop(client, bytes(workshop.most + 1))
    assert refused.status_code == 413
    assert f"{workshop.most:,}" in refused.json()["error"]

    def endless():
        for _ in range(100):
            yield b"1," * 50_000

    refused = client.post("/data/files?name=x.csv", content=endless(), headers=RAW)
    assert refused.status_code == 413
    assert "too much" in refused.json()["error"]
    assert files(workshop) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("a.csv", b"", "empty"), ("b.png", b"\x89PNG\r\n" + bytes(range(256)), "b.png is not UTF-8"),
     ("c.parquet", b"PAR1" + bytes(99), "c.parquet could not be read")],
)  # fmt: skip
def test_bad_files_are_refused_in_words_and_not_kept(client, workshop, name, content, words):
    refused = drop(client, content, name)
    assert refused.status_code == 422
    assert words in refused.json()["error"]
    assert files(workshop) == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("a.csv", b"\n\n", "empty"), ("a.csv", b"a,b\n", "no rows"), ("a.csv", b"a,a\n1,2\n", "two"),
     ("a.csv", b"a,b\n1,2,3\n", "Expected 2"), ("a.npz", b"PK" + bytes(50), "npz"),
     ("a.svm", b"1 1:2 2:zz\n", "svmlight"), ("a.csv.gz", b"no gzip", "gzip"),
     ("a.csv.gz", gzip.compress(as_csv(flowers()), mtime=0)[:200], "cut off"),
     ("a.arrow", b"ARROW1" + bytes(80), "a.arrow")],
)  # fmt: skip
def test_files_that_cannot_be_read(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ValueError, OSError), match=words):
        describe(str(tmp_path / name))


def test_a_huge_line_is_told_in_few_letters(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(b"a,b\n1," + b"x" * 3_000_000 + b"\n2,y\n")
    told = describe(str(file))
    assert told["rows"] == 2
    assert len(told["preview"][0][1]) == MAX_WORD_LENGTH


def test_a_wide_file_is_told_in_part_with_its_last_column(tmp_path):
    table = {f"x{j}": np.arange(4.0) for j in range(1200)} | {"class": ["a", "b", "a", "b"]}
    (tmp_path / "a.parquet").write_bytes(as_parquet(pa.table(table)))
    told = describe(str(tmp_path / "a.parquet"))
    assert (told["width"], len(told["columns"]), told["target"]) == (1201, 1000, "class")
    assert len(told["preview"][0]) == 40


@pytest.mark.parametrize(
    ("names", "target"),
    [(["a", "Species", "b"], "Species"), (["a", "words", "b"], "words"), (["a", "b"], None)],
)
def test_a_likely_target_is_suggested(tmp_path, names, target):
    rng = np.random.default_rng(0)
    few = np.array(["u", "v"])[rng.integers(0, 2, 50)]
    table = {n: few if n in ("Species", "words") else rng.standard_normal(50) for n in names}
    (tmp_path / "a.csv").write_bytes(as_csv(pa.table(table)))
    assert describe(str(tmp_path / "a.csv"))["target"] == target


TOLD = {"table": True, "columns": [{"name": "kind"}, {"name": "--x"}, {"name": "z\0"}]}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"command": "rm"}, "fit or compare"),
        ({"command": ["fit"]}, "fit or compare"),
        ({"target": None}, "Which column"),
        ({"target": "nobody"}, "no column 'nobody'"),
        ({"target": ["kind"]}, "no column"),
        ({"target": "z\0"}, "zero byte"),
        ({"drop": ["nobody"]}, "no column"),
        ({"drop": "kind"}, "list"),
        ({"C": -1}, "above 0"),
        ({"C": "1; rm"}, "number"),
        ({"C": True}, "number"),
        ({"C": 10**400}, "at most 1e308"),
        ({"C": -(10**400)}, "at most 1e308"),
        ({"holdout": 10**400}, "at most 1e308"),
        ({"holdout": 1}, "between 0 and 1"),
        ({"method": 7}, "word"),
        ({"basis": "a\0"}, "word"),
    ],
)
def test_nonsense_is_refused_before_anything_is_started(asked, words):
    with pytest.raises(ValueError, match=words):
        steps({"command": "fit", "target": "kind"} | asked, TOLD)


def test_values_cannot_become_options():
    made = steps(
        {"command": "fit", "target": "kind", "drop": ["--x"], "C": "inf", "method": "-v"}, TOLD
    )
    fit, rows = made("f.csv")
    assert fit.arguments == ["maxmargin", "fit", "f.csv", "--target=kind", "--drop=--x",
                             "--budget=60s", "--method=-v", "--C=inf", "--json"]  # fmt: skip
    assert not rows.needed


def test_what_a_command_refuses_is_said(client):
    token = drop(client, as_csv(flowers())).json()["token"]
    job = begin(client, token, method="magic").json()["token"]
    status = finish(client, job)
    assert status["state"] == "failed"
    assert "--method must be one of" in status["words"]
    assert client.get(f"/data/jobs/{job}/result").status_code == 409


def test_the_page_offers_what_the_commands_know():
    """Names in plan.js, which the page puts into its questions."""
    from maxmargin.core.kernels.kernels import KERNELS
    from maxmargin.models.registry import METHODS
    from maxmargin.models.tune.candidates import CANDIDATE_BASES
    from maxmargin.parts.files.basis import learn_basis

    text = (STATIC_FOLDER / "plan.js").read_text()

    def keys(name):
        inside = re.search(rf"const {name} = {{(.*?)}};", text, re.DOTALL).group(1)
        return [a or b for a, b in re.findall(r'(?:"([^"]*)"|(\w+)):\s', inside)]

    assert set(keys("METHODS")) <= set(METHODS)
    assert {m for names in keys("COMPARED") for m in names.split(",")} <= {"all", *METHODS}
    assert {b for names in keys("COMPARED_BASES") for b in names.split(",")} <= {
        "all",
        *CANDIDATE_BASES,
    }
    assert set(keys("KERNELS")) <= set(KERNELS)
    for basis in keys("BASES")[1:]:
        learn_basis(basis, np.random.default_rng(0).standard_normal((80, 2)))


@given(st.text(max_size=300))
def test_names_cannot_leave_their_folder(name):
    stored = stored_name(name)
    assert os.path.basename(stored) == stored
    assert stored.lstrip("-.") == stored
    assert 0 < len(os.fsencode(stored)) < 255
    assert not set(stored) & set("/\\\0:\n ")


@pytest.mark.parametrize(
    ("name", "stored"),
    [("iris.csv", "iris.csv"), ("a b.csv.GZ", "a_b.csv.gz"), ("../../etc/passwd", "passwd"),
     ("-rf.parquet", "rf.parquet"), ("numpy.py", "numpy"), (".csv", "data.csv"), ("", "data"),
     ("C:\\x\\y.tsv", "y.tsv"), ("Größe.csv", "Größe.csv"),
     ("model.maxmargin", "data-model.maxmargin"), (".answer", "data"), ("answer", "answer")],
)  # fmt: skip
def test_what_becomes_of_names(name, stored):
    assert stored_name(name) == stored


ROUTES = [
    ("POST", "/data/files"), ("POST", "/data/models"), ("DELETE", "/data/files/x"),
    ("POST", "/data/jobs"), ("GET", "/data/jobs/x"), ("DELETE", "/data/jobs/x"),
    ("GET", "/data/jobs/x/result"), ("GET", "/data/jobs/x/rows"), ("GET", "/data/jobs/x/report"),
    ("GET", "/data/jobs/x/model"), ("GET", "/data/jobs/x/predictions"), ("GET", "/data/limits"),
]  # fmt: skip


def test_foreign_pages_are_refused_everywhere(client, workshop):
    assert {(m, route.path.replace("{token}", "x")) for route in workshop.routes()
            for m in route.methods - {"HEAD"}} == set(ROUTES)  # fmt: skip
    for method, path in ROUTES:
        for header in (
            {"host": "evil.example"},
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
        ):
            answer = client.request(method, path, headers=RAW | header)
            assert answer.status_code == 403, (method, path, header)
    assert len(workshop.uploads) == 0


def test_forms_of_other_sites_cannot_send_files(client):
    for kind in ("text/plain", "multipart/form-data", "application/x-www-form-urlencoded", ""):
        answer = client.post("/data/files", content=b"a,b\n", headers={"content-type": kind})
        assert answer.status_code == 415


def test_tokens_of_others_are_unknown(client):
    assert begin(client, "x" * 32).status_code == 404
    assert begin(client, None).status_code == 404
    assert client.get("/data/jobs/" + "x" * 32).status_code == 404
    for path in ("/data/jobs/../../etc/passwd/report", "/data/jobs/%2e%2e/report"):
        assert client.get(path).status_code == 404


# --- many files, many sessions --------------------------------------------------------------


def test_files_are_kept_in_moderate_numbers_and_for_a_while(workshop, monkeypatch):
    async def content():
        yield b"a,b\n1,2\n"

    def receive(name):
        return run(workshop.uploads.receive(name, content()))

    monkeypatch.setattr(uploads, "MAX_KEPT_FILES", 3)
    first, second, third = (receive(f"{n}.csv") for n in "abc")
    workshop.uploads.find(first.token)  # used again
    second.busy = True
    receive("d.csv")
    assert [u.path.exists() for u in (first, second, third)] == [True, True, False]
    workshop.uploads.sweep(first.used + uploads.MAX_IDLE_SECONDS + 60)
    assert files(workshop) == ["b.csv"]  # in use, however long


def test_what_does_not_arrive_whole_leaves_nothing(workshop):
    async def torn():
        yield b"a,b\n"
        raise ClientDisconnect

    with pytest.raises(ClientDisconnect):
        run(workshop.uploads.receive("a.csv", torn()))
    assert files(workshop) == []
    assert len(workshop.uploads) == 0


@pytest.mark.parametrize(
    "name",
    ["answer", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHER_FILES_OF_OURS)],
)
def test_no_upload_is_overwritten_by_a_file_of_ours(client, workshop, name):
    content = as_csv(flowers())
    told = drop(client, content, name).json()
    upload = workshop.uploads.find(told["token"])
    assert told["rows"] == 60
    assert upload.path.read_bytes() == content
    job = begin(client, told["token"], C=1).json()["token"]
    assert finish(client, job)["state"] == "done"
    assert upload.path.read_bytes() == content
    assert client.get(f"/data/jobs/{job}/result").json()["rows"] == 60


def test_two_sessions_at_once_one_of_them_hostile(client):
    """The same name, the same moment, different data; hostile names are columns, nothing else."""
    hostile = flowers(60, 1).rename_columns(HOSTILE)
    asked = {"drop": [HOSTILE[0]], "category": [HOSTILE[2]], "target": HOSTILE[3]}
    tables = [(hostile, asked), (flowers(90, 2, shift=5.0), {})]
    tokens = [drop(client, as_parquet(table), "x.parquet").json()["token"] for table, _ in tables]
    jobs = [
        begin(client, token, C=1, **more).json()["token"]
        for token, (_, more) in zip(tokens, tables, strict=True)
    ]
    assert [finish(client, job)["state"] for job in jobs] == ["done", "done"]
    first, second = (client.get(f"/data/jobs/{job}/result").json() for job in jobs)
    assert (first["rows"], second["rows"]) == (60, 90)
    assert (first["target"], second["target"]) == (HOSTILE[3], "kind")
    features = {row["feature"] for row in first["coefficients"]["rose"]}
    assert HOSTILE[1] in features
    assert HOSTILE[0] not in features
    assert HOSTILE[1] not in client.get(f"/data/jobs/{jobs[0]}/report").text
    labels = {row["label"] for row in client.get(f"/data/jobs/{jobs[0]}/rows").json()["rows"]}
    assert labels == {"rose", "lily", "iris"}

    client.delete(f"/data/files/{tokens[0]}")
    assert client.get(f"/data/jobs/{jobs[0]}/model").status_code == 404
    assert client.get(f"/data/jobs/{jobs[1]}/model").status_code == 200


def test_a_comparison_is_cancelled_and_leaves_nothing(client, workshop):
    token = drop(client, as_csv(noise(2000, 12)), "noise.csv").json()["token"]
    job = begin(client, token, "compare", "y", budget="").json()["token"]  # minutes of work
    assert until(lambda: client.get(f"/data/jobs/{job}").json()["seconds"] > 1)
    process = workshop.jobs.known[job].child.process
    began = time.monotonic()
    assert client.delete(f"/data/jobs/{job}").status_code == 200
    assert client.get(f"/data/jobs/{job}").status_code == 404
    assert process.wait(10) != 0
    assert time.monotonic() - began < 1.0
    assert until(lambda: files(workshop) == [ANSWER_FILE, "noise.csv"])  # the upload itself
    assert until(lambda: not workshop.uploads.find(token).busy)


# --- the end --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", [signal.SIGTERM, *(pytest.param(s, marks=pytest.mark.slow) for s in OTHER_ENDS)]
)
def test_the_studio_ends_its_jobs_and_removes_its_files(tmp_path, monkeypatch, how):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    studio = Studio("--port", "0", "--max-upload", "2")
    with httpx.Client(base_url=studio.url, timeout=60) as client:
        assert client.get("/data/limits").json() == {"bytes": 2_000_000}
        token = drop(client, as_csv(noise(1000, 10)), "noise.csv").json()["token"]
        job = begin(client, token, "compare", "y").json()["token"]
        assert until(lambda: client.get(f"/data/jobs/{job}").json()["seconds"] > 0.3)
    (folder,) = tmp_path.glob("maxmargin-studio-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    studio.process.send_signal(how)
    studio.process.wait(30)
    assert list(tmp_path.glob("maxmargin-studio-*")) == []
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "compare noise.csv" not in running
    studio.reader.join(5)
    assert "Traceback" not in "".join(studio.said)


def test_what_a_killed_studio_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads.tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    names = {"dead": str(gone.pid), "living": str(os.getppid()), "silent": None, "odd": "me"}
    for name, process in names.items():
        folder = tmp_path / f"{uploads.STUDIO_FOLDER_PREFIX}{name}"
        (folder / "token").mkdir(parents=True)
        (folder / "token" / "data.csv").write_text("a,b\n")
        if process is not None:
            (folder / OWNER_FILE).write_text(process)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / OWNER_FILE).write_text(str(gone.pid))
    Workshop(1.0).close()
    left = {path.name.removeprefix(uploads.STUDIO_FOLDER_PREFIX) for path in tmp_path.iterdir()}
    assert left == {"living", "silent", "odd", "other"}


def test_a_studio_that_is_killed_is_tidied_up_after(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    first = Studio("--port", "0")
    with httpx.Client(base_url=first.url, timeout=60) as client:
        assert drop(client, as_csv(flowers())).status_code == 200
    (folder,) = tmp_path.glob("maxmargin-studio-*")
    first.process.kill()
    first.process.wait(30)
    assert folder.exists()
    second = Studio("--port", "0")
    assert not folder.exists()
    second.stop()
