"""Tests of torch rows: on the CPU wherever torch is installed, on a card wherever there is one."""

import pytest

try:
    import torch
except ImportError:
    torch = None  # every file here skips itself, and says why

DEVICES = ["cpu", *(["cuda"] if torch is not None and torch.cuda.is_available() else [])]


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param
