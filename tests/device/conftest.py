"""Tests of torch rows: on the CPU wherever torch is installed, on a card wherever there is one."""

import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed: `make test-torch` installs it and runs these"
)

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param
