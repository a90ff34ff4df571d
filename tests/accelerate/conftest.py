import pytest

from maxmargin import accelerate
from maxmargin.accelerate.settings import SETTINGS

from ..browser import browser  # noqa: F401


@pytest.fixture
def fresh_patch(monkeypatch):
    """Every size is taken; nothing is patched or remembered before and after."""
    monkeypatch.setattr(SETTINGS, "every_size", True)
    accelerate.clear()
    yield
    accelerate.uninstall()
    accelerate.clear()
