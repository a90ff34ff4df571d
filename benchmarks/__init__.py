"""Benchmarks: ours and the peers on the same problem, at the same certified accuracy."""

import os

# One thread for everybody, before any library starts its own.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
