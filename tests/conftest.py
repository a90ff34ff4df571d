"""Compiled kernels are cached per state of the sources: numba does not see edits in other files."""

import hashlib
import os
import signal
from pathlib import Path

_ROOT = Path(__file__).parent.parent


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for source in sorted((_ROOT / "src").rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


os.environ.setdefault("NUMBA_CACHE_DIR", str(_ROOT / ".numba_cache" / _fingerprint()))

# A shell without a terminal starts background jobs with Ctrl-C ignored; the tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
