"""``maxmargin studio`` from the outside: port, address, Ctrl-C, what is missing."""

import asyncio
import logging
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import pytest
import uvicorn

from maxmargin.app.cli import studio as command
from maxmargin.app.studio.run import Server, listen

from .helpers import Studio


def test_it_says_where_it_is_answers_there_and_stops_at_ctrl_c():
    studio = Studio("--port", "0")
    assert httpx.get(studio.url).status_code == 200
    assert studio.stop() == 0
    assert "stopped" in "".join(studio.said)
    assert "Traceback" not in "".join(studio.said)


def test_questions_nobody_waits_for_end_without_a_traceback(monkeypatch):
    """uvicorn would tell of those that take longer than its patience."""
    told, logger = [], logging.getLogger("uvicorn.error")

    async def shutdown(server, sockets=None):
        told.append(logger.disabled)

    monkeypatch.setattr(logger, "disabled", False)
    monkeypatch.setattr(uvicorn.Server, "shutdown", shutdown)
    workshop = SimpleNamespace(close=lambda: told.append("closed"))
    server = Server(uvicorn.Config(None), "", False, workshop, lambda: None)
    with ThreadPoolExecutor(1) as pool:  # the browser's tests have a loop in this thread
        pool.submit(asyncio.run, server.shutdown()).result()
    assert told == [True, "closed"]


def test_it_listens_on_loopback_only():
    with listen(0, 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_said():
    with listen(0, 0) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "maxmargin", "studio", "--no-browser", "--port", str(port)],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert f"Port {port} cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_port_the_next_free_one_is_used():
    with listen(0, 0) as taken:
        usual = taken.getsockname()[1]
        with listen(None, usual) as found:
            assert usual < found.getsockname()[1] < usual + 20


def test_ports_that_cannot_be_are_said():
    with pytest.raises(ValueError, match="0 to 65535"):
        listen(70000, 0)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "maxmargin.app.studio.run", raising=False)
    with pytest.raises(ImportError, match=r'pip install "maxmargin\[studio\]"'):
        command.studio(0, False)


def test_a_second_start_at_the_same_port_works_at_once():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    for _ in range(2):
        studio = Studio("--port", port)
        assert httpx.get(studio.url).status_code == 200
        assert studio.stop() == 0
