"""Commands in processes of their own: bounds, cancel, a line with places."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from maxmargin.app.studio import child as children
from maxmargin.app.studio.child import ANSWER_FILE, Child
from maxmargin.app.studio.jobs import Jobs, JobStep
from maxmargin.app.studio.uploads import Upload, Uploads

from .data_helpers import until

SLEEP = "import time; time.sleep(60)"


def program(text):
    """Any Python, as a module that is run."""
    return ["timeit", "-n", "1", "-r", "1", text]


def gone(process):
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_it_is_heard_as_a_user_at_a_terminal_would_hear_it(tmp_path):
    text = "import sys; print('[maxmargin] reading:', sys.stderr.isatty(), file=sys.stderr)"
    child = Child(program(text), tmp_path, 30)
    assert child.run() == 0
    assert child.line == "reading: True"
    assert b"loop" in (tmp_path / ANSWER_FILE).read_bytes()


def test_files_beside_it_are_not_run(tmp_path):
    (tmp_path / "timeit.py").write_text("print('mine')")
    Child(program("1"), tmp_path, 30).run()
    assert b"mine" not in (tmp_path / ANSWER_FILE).read_bytes()


def test_a_time_limit_is_kept_and_said(tmp_path):
    child = Child(program(SLEEP), tmp_path, 0.3)
    code = child.run()
    assert code != 0
    assert "Stopped after 0.3 seconds" in child.complaint(code)


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="memory is bounded on Linux")
def test_a_memory_limit_is_kept_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(children, "memory", lambda: 3e8)
    # The bound comes from outside, some time after the start.
    greedy = "import time; [bytearray(10**9) and time.sleep(0.1) for _ in range(500)]"
    child = Child(program(greedy), tmp_path, 60)
    code = child.run()
    assert code != 0
    assert "memory" in child.complaint(code)


def ended_by(folder, name):
    """What is said of a command that a signal ends."""
    text = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    child = Child(program(text), folder, 60)
    return child.complaint(child.run())


@pytest.mark.parametrize(
    ("name", "words"),
    [("SIGKILL", "killed from outside"), ("SIGTERM", "ended from outside"),
     ("SIGSEGV", "crashed"), ("SIGABRT", "crashed")],
)  # fmt: skip
def test_signals_are_told_apart(tmp_path, name, words):
    said = ended_by(tmp_path, name)
    assert words in said
    assert name in said
    assert "GB of memory" not in said


def test_who_does_not_hear_ctrl_c_is_ended_with_all_it_started(tmp_path, monkeypatch):
    monkeypatch.setattr(children, "GRACE_SECONDS", 0.3)
    text = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        "print('[maxmargin] ready', file=sys.stderr, flush=True); time.sleep(60)"
    )
    child = Child(program(text), tmp_path, 60)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(child.run)
        assert until(lambda: child.line == "ready")
        child.stop()
        assert running.result(60) < 0
    assert until(lambda: gone(child.process))


def test_stopped_before_it_began_it_never_begins(tmp_path):
    child = Child(program(SLEEP), tmp_path, 60)
    child.stop()
    assert child.run() < 0
    assert child.process is None


@pytest.fixture
def line(tmp_path):
    """A line of jobs on one small file."""
    uploads = Uploads()
    _, folder = uploads.room()
    file = folder / "data.csv"
    file.write_text("a,b\n1,2\n")
    jobs = Jobs(uploads)
    upload = Upload("token", "data.csv", file, busy=False)

    def ask(text):
        return jobs.ask(upload, lambda name: [JobStep("Working", program(text), "told")])

    yield jobs, upload, ask
    jobs.close()
    uploads.close()


def test_two_run_and_the_others_are_told_their_place(line):
    jobs, upload, ask = line
    first, second, third, fourth = (ask(SLEEP) for _ in range(4))
    assert until(lambda: second.state == "running" and second.child.process is not None)
    assert [jobs.place(job) for job in (first, second, third, fourth)] == [0, 0, 1, 2]
    assert upload.busy

    jobs.forget(third.token)  # one in line goes at once
    assert not third.folder.exists()
    assert jobs.place(fourth) == 1

    jobs.forget(first.token)  # one that runs makes room
    assert until(lambda: fourth.state == "running")
    assert until(lambda: not first.folder.exists())
    assert gone(first.child.process)
    assert second.state == "running"

    for job in (second, fourth):
        jobs.forget(job.token)
    assert until(lambda: not upload.busy)
    assert jobs.known == {}


def test_a_command_that_fails_is_a_job_that_says_why(line):
    _, _, ask = line
    text = "import sys; print('maxmargin: the reason', file=sys.stderr); sys.exit(2)"
    job = ask(text)
    assert until(lambda: job.over)
    assert (job.state, job.words) == ("failed", "the reason")


def test_an_answer_that_is_no_json_is_a_failure(line):
    _, _, ask = line
    job = ask("1")
    assert until(lambda: job.over)
    assert job.state == "failed"


def test_a_fault_of_ours_does_not_leave_a_page_waiting(line, monkeypatch):
    _, _, ask = line
    monkeypatch.setattr(Child, "run", lambda self: json.loads("{"))
    job = ask("1")
    assert until(lambda: job.over)
    assert "made a mistake" in job.words


def test_results_are_kept_in_moderate_numbers(line, monkeypatch):
    from maxmargin.app.studio import jobs as module

    monkeypatch.setattr(module, "MAX_KEPT_JOBS", 3)
    jobs, _, ask = line
    made = []
    for _ in range(5):
        made.append(ask("1"))
        assert until(lambda: made[-1].over)
        time.sleep(0.01)
    assert list(jobs.known) == [job.token for job in made[-3:]]
    assert [job.folder.exists() for job in made] == [False, False, True, True, True]
