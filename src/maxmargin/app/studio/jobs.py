"""Jobs: commands on uploaded files, two at a time, the others in line with their place told."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from starlette.exceptions import HTTPException

from .child import ANSWER_FILE, Child
from .uploads import MAX_IDLE_SECONDS, Upload, Uploads, link

MAX_RUNNING_JOBS = 2
MAX_WAITING_JOBS = 20
# Results kept at a time, and seconds that a job may take.
MAX_KEPT_JOBS = 40
MAX_JOB_SECONDS = 3600


@dataclass(frozen=True)
class JobStep:
    """One command of a job: its words, its arguments, whether the job fails with it, and whether
    it prints an answer."""

    words: str
    arguments: list[str]
    name: str
    needed: bool = True
    prints: bool = True  # JSON; otherwise its notes are the answer


@dataclass
class Job:
    """A job and where it stands: waiting, running, done or failed."""

    token: str
    folder: Path
    steps: list[JobStep]
    upload: Upload
    state: str = "waiting"
    cancelled: bool = False
    words: str = ""
    answers: dict = field(default_factory=dict)
    asked: float = field(default_factory=time.monotonic)
    began: float | None = None
    ended: float | None = None
    used: float = field(default_factory=time.monotonic)
    child: Child | None = None
    future: Future | None = None

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed")

    def seconds(self) -> float:
        if self.began is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.began

    def run(self) -> None:
        """All steps, in a thread of the line."""
        self.state, self.began = "running", time.monotonic()
        try:
            self._run()
        except Exception as error:  # of ours: the page must not wait for ever
            self.state, self.words = "failed", f"The studio made a mistake: {error}"
            raise
        finally:
            self.ended = time.monotonic()

    def _run(self) -> None:
        for step in self.steps:
            self.words = step.words
            self.child = Child(step.arguments, self.folder, MAX_JOB_SECONDS)
            if self.cancelled:
                return
            code = self.child.run()
            if self.cancelled:
                return
            answer = _answer(self.folder / ANSWER_FILE) if code in (0, 1) else None
            if not step.prints and code == 0:
                answer = {"notes": self.child.notes}
            if answer is None and step.needed:
                self.words, self.state = self.child.complaint(code), "failed"
                return
            self.answers[step.name] = answer
        self.words, self.state = "Done", "done"

    def status(self, place: int) -> dict:
        """Where it stands, for the page."""
        line = self.child.line if self.child is not None and not self.over else ""
        return {
            "state": self.state,
            "words": self.words,
            "said": line,
            "place": place,
            "seconds": round(self.seconds(), 2),
        }


def _answer(path: Path) -> dict | None:
    """What a command has printed; None where it is not the JSON it should be."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


class Jobs:
    """The line of jobs, and what came of them."""

    def __init__(self, uploads: Uploads):
        self.uploads = uploads
        self.pool = ThreadPoolExecutor(MAX_RUNNING_JOBS, thread_name_prefix="studio-job")
        self.known: dict[str, Job] = {}
        self._turn = threading.Lock()

    def ask(
        self, upload: Upload, steps: Callable[[str], list[JobStep]], beside: Path | None = None
    ) -> Job:
        """A new job at the end of the line; ``steps`` of the name that its file has.

        ``beside`` is a file that they need, too.
        """
        with self._turn:
            if sum(job.state == "waiting" for job in self.known.values()) >= MAX_WAITING_JOBS:
                raise HTTPException(503, "Too many jobs are in line. Try again in a moment.")
            self._tidy()
            token, folder = self.uploads.room()
            file = link(upload.path, folder)
            if beside is not None:
                link(beside, folder)
            job = Job(token, folder, steps(file.name), upload)
            self.known[token] = job
            upload.busy = True
            job.future = self.pool.submit(job.run)
            job.future.add_done_callback(lambda _: self._after(job))
        return job

    def find(self, token: str) -> Job:
        job = self.known.get(token)
        if job is None:
            raise HTTPException(404, "The studio does not know this job; it may be long over.")
        job.used = job.upload.used = time.monotonic()
        return job

    def place(self, job: Job) -> int:
        """How many are to begin before it, and itself; 0 once it runs."""
        if job.state != "waiting":
            return 0
        waiting = [other for other in self.known.values() if other.state == "waiting"]
        return 1 + sum(other.asked < job.asked for other in waiting)

    def forget(self, token: str) -> None:
        """Stop it if it runs, and remove all it has written."""
        job = self.known.pop(token, None)
        if job is None:
            return
        job.cancelled = True
        if job.over or (job.future is not None and job.future.cancel()):
            self._after(job)
        elif job.child is not None:
            job.child.stop()

    def forget_of(self, upload: Upload) -> None:
        for job in list(self.known.values()):
            if job.upload is upload:
                self.forget(job.token)

    def _after(self, job: Job) -> None:
        """The file is free again, unless another job works on it; cancelled jobs leave nothing."""
        if job.cancelled:
            shutil.rmtree(job.folder, ignore_errors=True)
        others = [other for other in list(self.known.values()) if other.upload is job.upload]
        job.upload.busy = any(not other.over for other in others)

    def _tidy(self) -> None:
        """Old results go: those unused for long, and the oldest of too many."""
        now = time.monotonic()
        over = sorted((job for job in self.known.values() if job.over), key=lambda job: job.used)
        many = len(self.known) + 1 - MAX_KEPT_JOBS
        for count, job in enumerate(over):
            if count < many or now - job.used > MAX_IDLE_SECONDS:
                self.forget(job.token)

    def close(self) -> None:
        """End everything at once."""
        jobs = list(self.known.values())
        self.known.clear()
        for job in jobs:
            job.cancelled = True
            if job.future is not None:
                job.future.cancel()
        for job in jobs:
            if job.child is not None:
                job.child.end()
        self.pool.shutdown(wait=True, cancel_futures=True)
