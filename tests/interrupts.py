"""Ctrl-C in the middle of a fit."""

import os
import signal

from maxmargin.core.solve.contract import Monitor


def press_ctrl_c(monkeypatch, iteration: int) -> None:
    """A real signal, sent at this iteration of the next fit."""
    original, calls = Monitor.step, []

    def step(monitor, count=1):
        calls.append(count)
        if len(calls) == iteration:
            os.kill(os.getpid(), signal.SIGINT)
        return original(monitor, count)

    monkeypatch.setattr(Monitor, "step", step)
