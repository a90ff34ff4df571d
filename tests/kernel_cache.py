"""Compiled kernels are cached per state of their sources: numba sees no edits in other files."""

import hashlib
import os
from pathlib import Path

_ROOT = Path(__file__).parent.parent


def fingerprint() -> str:
    """All of ``core``, where kernels and what they are made of live, and kernels elsewhere."""
    digest = hashlib.sha256()
    for source in sorted((_ROOT / "src").rglob("*.py")):
        text = source.read_bytes()
        if "core" in source.parts or b"njit" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def use_kernel_cache() -> None:
    """To be called before numba is imported; a folder given from outside is respected."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(_ROOT / ".numba_cache" / fingerprint()))
