"""A command in a process of its own: bounded in memory and time, heard while it works.

Files of strangers are read and fitted here and never in the server, so that one that is hostile,
or too large, ends this process and disturbs nobody.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

# Between "please stop" (Ctrl-C) and the end: whoever cancels waits a second at most.
GRACE_SECONDS = 0.5
# How often a child is looked at, in seconds.
CHILD_POLL_SECONDS = 0.1
# What is kept of its words.
MAX_OUTPUT_LETTERS = 20_000
MIN_CHILD_BYTES = 2e9
# In its folder, what it prints; no file that was sent has a name that begins with a dot.
ANSWER_FILE = ".answer"
# How libraries say that there is no memory left.
MEMORY_WORDS = ("MemoryError", "bad_alloc", "out of memory", "allocate memory", "malloc failed")
CRASH_SIGNALS = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")


class Child:
    """``python -m …`` in ``folder``; its standard output goes to ``ANSWER_FILE`` there.

    Its standard error is a terminal where there are such: commands then tell what they are at, as
    they would tell a user, and the last line is ``line``.
    """

    def __init__(self, arguments: list[str], folder: Path, seconds: float):
        self.arguments, self.folder, self.seconds = arguments, folder, seconds
        self.process: subprocess.Popen | None = None
        self.heard = ""
        self.late = self._stopped = False
        self._turn = threading.Lock()

    def run(self) -> int:
        """Run it to its end; the exit code, negative where a signal ended it."""
        ear, mouth = _terminal()
        with self._turn, (self.folder / ANSWER_FILE).open("wb") as answer:
            if self._stopped:
                os.close(ear)
                os.close(mouth)
                return -signal.SIGINT
            self.process = subprocess.Popen(
                # -P: the folder's files are data, not modules
                [sys.executable, "-P", "-m", *self.arguments],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=answer, stderr=mouth,
                start_new_session=True,  # to be stopped with all it has started
            )  # fmt: skip
        _bound(self.process.pid)
        os.close(mouth)
        listener = threading.Thread(target=self._listen, args=(ear,), daemon=True)
        listener.start()
        code = self._wait(time.monotonic() + self.seconds)
        listener.join(GRACE_SECONDS)
        return code

    def _wait(self, deadline: float) -> int:
        assert self.process is not None
        while True:
            try:
                return self.process.wait(CHILD_POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline and not self.late:
                    self.late = True
                    self.stop()

    def stop(self) -> None:
        """Ctrl-C; whoever does not hear it in time is ended."""
        with self._turn:
            self._stopped = True
            if self.process is None:
                return
        self._signal(signal.SIGINT)
        patience = threading.Timer(GRACE_SECONDS, self._signal, [getattr(signal, "SIGKILL", 9)])
        patience.daemon = True
        patience.start()

    def end(self) -> None:
        """At once."""
        with self._turn:
            self._stopped = True
        if self.process is not None:
            self._signal(getattr(signal, "SIGKILL", 9))
            self.process.wait(GRACE_SECONDS)

    def _signal(self, number: int) -> None:
        assert self.process is not None
        if self.process.poll() is not None:
            return
        try:
            os.killpg(self.process.pid, number)
        except (OSError, AttributeError):  # it has just ended; or there are no groups here
            self.process.kill()

    def _listen(self, ear: int) -> None:
        while True:
            try:
                heard = os.read(ear, 1 << 14)
            except OSError:  # how a terminal says that the other side has left
                heard = b""
            if not heard:
                break
            text = self.heard + heard.decode("utf-8", "replace").replace("\r\n", "\n")
            self.heard = text[-MAX_OUTPUT_LETTERS:]
        os.close(ear)

    @property
    def line(self) -> str:
        """The latest it has told of its progress."""
        lines = self.heard.replace("\r", "\n").split("\n")[:-1]
        progress = [
            line[len(MESSAGE_PREFIX) :].strip() for line in lines if line.startswith(MESSAGE_PREFIX)
        ]
        return progress[-1] if progress else ""

    @property
    def notes(self) -> list[str]:
        """What it has remarked on."""
        lines = self.heard.replace("\r", "\n").split("\n")
        return [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]

    def complaint(self, code: int) -> str:
        """Why it failed, in words."""
        if self.late:
            return f"Stopped after {self.seconds:g} seconds. The command line has no such limit."
        for line in reversed(self.heard.split("\n")):
            if line.startswith("maxmargin: "):
                return line.removeprefix("maxmargin: ")
        if any(words in self.heard for words in MEMORY_WORDS):
            return (
                f"This needs more than the {memory() / 1e9:.0f} GB of memory that one task of the "
                "studio may use. The command line has no such limit."
            )
        if code < 0:
            return _signalled(-code)
        last = self.heard.strip().rpartition("\n")[2]
        return f"The command failed (code {code}): {last[:300] or 'it gave no reason'}"


MESSAGE_PREFIX = "[maxmargin] "


def _signalled(number: int) -> str:
    """What a signal that ended a command tells of the reason, and what it does not."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    if name == "SIGKILL":
        return (
            "The command was killed from outside (SIGKILL): by somebody, or by the system, which "
            "does so where the memory of the whole machine runs out. Close what else is large, and "
            "ask again."
        )
    if name == "SIGXCPU":
        return "The command was ended (SIGXCPU): this account may not use more processor time."
    if name in CRASH_SIGNALS:
        return (
            f"The command crashed ({name}), which no file should bring about. Please report it, "
            "with the file if you can."
        )
    return f"The command was ended from outside ({name}) before it was done. Ask again."


def memory() -> float:
    """Half of the machine's memory, since two tasks may run."""
    try:
        return max(MIN_CHILD_BYTES, 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 2 * MIN_CHILD_BYTES


def _bound(pid: int) -> None:
    """Where the system can, limit memory from outside, which needs no code in a forked process."""
    try:
        import resource

        most = int(memory())
        resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))
    except (ImportError, AttributeError, OSError):
        pass


def _terminal() -> tuple[int, int]:
    """Two ends of a terminal, or of a pipe where there are no terminals."""
    try:
        import pty

        return pty.openpty()
    except (ImportError, OSError):
        return os.pipe()
