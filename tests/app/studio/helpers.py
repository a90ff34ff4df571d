"""A real studio in a process of its own."""

import os
import re
import signal
import subprocess
import sys
import threading


class Studio:
    """``maxmargin studio`` as a user starts it."""

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "maxmargin", "studio", "--no-browser", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self.said: list[str] = []
        self.url = ""
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
                self.url = found.group()
                break
        # Somebody must read on, or a full pipe would stop the server.
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        self.said.extend(self.process.stdout)

    @property
    def port(self):
        return int(self.url.rstrip("/").rpartition(":")[2])

    def stop(self):
        """Ctrl-C; returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=120)
        self.reader.join(timeout=30)
        return code


def clouds(k=2, n=40, seed=0, spread=0.7):
    """Points [x, y, class] in k clouds on a circle."""
    import numpy as np

    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    angle = 2 * np.pi * codes / k
    X = 2 * np.column_stack([np.cos(angle), np.sin(angle)]) + spread * rng.standard_normal((n, 2))
    return [
        [round(float(x), 3), round(float(y), 3), int(c)] for (x, y), c in zip(X, codes, strict=True)
    ]


def asked(points, method="svm", labels=None, **more):
    """A question to /solve."""
    labels = labels or list("abcde")[: max(2, 1 + max((p[2] for p in points), default=1))]
    window = [-5.0, 5.0, -4.0, 4.0]
    return {"points": points, "labels": labels, "names": ["x", "y"], "method": method,
            "window": window, "values": {}} | more  # fmt: skip
