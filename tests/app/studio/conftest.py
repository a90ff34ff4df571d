import pytest
from starlette.testclient import TestClient

from maxmargin.app.studio import uploads
from maxmargin.app.studio.server import application
from maxmargin.app.studio.your_data import Workshop

from ...browser import browser  # noqa: F401
from .data_helpers import HOST, OURS
from .helpers import Studio
from .pages import opened


@pytest.fixture(scope="session")
def studio():
    """A studio at some free port, for all tests of a worker: pages share nothing."""
    running = Studio("--port", "0")
    yield running
    running.stop()


@pytest.fixture
def page(browser, studio):  # noqa: F811
    with opened(browser, studio) as found:
        yield found


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """What is behind *Your data*, with files of at most a megabyte; nothing is left of it."""
    monkeypatch.setattr(uploads.tempfile, "tempdir", str(tmp_path))
    made = Workshop(1.0)
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def client(workshop):
    app = application([HOST], more=workshop.routes(), limits=workshop.limits)
    return TestClient(app, base_url=OURS, raise_server_exceptions=False)
