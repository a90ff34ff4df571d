import pytest

from maxmargin import accelerate
from maxmargin.accelerate.settings import SETTINGS


@pytest.fixture
def fresh_patch(monkeypatch):
    """Every size is taken; nothing is patched or remembered before and after."""
    monkeypatch.setattr(SETTINGS, "every_size", True)
    accelerate.clear()
    yield
    accelerate.uninstall()
    accelerate.clear()
