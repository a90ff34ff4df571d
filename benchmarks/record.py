"""What a file of results says of itself: when, where, with what and by which command."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

from maxmargin import __version__

RESULTS = Path(__file__).parent / "results"


def machine() -> str:
    """The processor by its name, where the system tells it, and how many cores may be used."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {cores} cores"


def command() -> str:
    """What was typed; folders, which differ from machine to machine, are called so."""
    module = Path(sys.argv[0]).stem
    given = ["FOLDER" if os.sep in word else word for word in sys.argv[1:]]
    return " ".join(["python -m", f"benchmarks.{module}", *given])


def about() -> dict[str, str]:
    """What results were measured on, and when."""
    return {
        "version": __version__,
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "machine": machine(),
        "command": command(),
        "clock": time.get_clock_info("perf_counter").implementation,
    }


def write(results: Any, path: Path, note: str = "") -> Path:
    """Write results, what they are about, and a note if there is one; returns where they are."""
    path.parent.mkdir(exist_ok=True)
    whole = about() | ({"note": note} if note else {}) | {"results": results}
    path.write_text(json.dumps(whole, indent=1, default=float) + "\n")
    return path
