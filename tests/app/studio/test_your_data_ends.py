"""*Your data*, how it ends: cancelled jobs, studios that stop, and what is left behind."""

import os
import signal
import subprocess
import time

import httpx
import pytest

from maxmargin.app.studio import uploads
from maxmargin.app.studio.child import ANSWER_FILE
from maxmargin.app.studio.your_data import Workshop
from maxmargin.parts.files.owned import OWNER_FILE

from .data_helpers import as_csv, begin, drop, flowers, noise, stored_files, until
from .helpers import Studio

OTHER_ENDS = [signal.SIGINT, signal.SIGHUP]


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
    assert until(lambda: stored_files(workshop) == [ANSWER_FILE, "noise.csv"])  # the upload itself
    assert until(lambda: not workshop.uploads.find(token).busy)


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
