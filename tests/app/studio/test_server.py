"""The server: who may ask, how much, and what is said to those who ask nonsense."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from maxmargin.app.studio.guard import MAX_REQUEST_BYTES
from maxmargin.app.studio.server import STATIC_FOLDER, application

from .helpers import asked, clouds

HOST = "127.0.0.1:8642"
OURS = f"http://{HOST}"


@pytest.fixture(scope="module")
def client():
    return TestClient(application([HOST]), base_url=OURS, raise_server_exceptions=False)


def post(client, content, path="/solve", **headers):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return client.post(
        path, content=content, headers={"content-type": "application/json"} | headers
    )


def test_the_page_and_everything_it_names_is_served(client):
    page = client.get("/")
    assert page.status_code == 200
    for file in STATIC_FOLDER.iterdir():
        assert client.get(f"/static/{file.name}").status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text


def test_nothing_is_fetched_from_elsewhere(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_files_outside_the_page_are_not_served(client):
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py"):
        assert client.get(path).status_code == 404


def test_a_question_is_answered(client):
    answer = post(client, asked(clouds()), origin=OURS)
    assert answer.status_code == 200
    assert answer.json()["certificate"]["proved"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "127.0.0.1", ""])
def test_foreign_hosts_are_refused(client, host):
    for answer in (
        client.get("/", headers={"host": host}),
        post(client, asked(clouds()), host=host),
    ):
        assert answer.status_code == 403
        assert HOST in answer.json()["error"]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", f"https://{HOST}", f"{OURS}.evil.example"]
)
def test_foreign_origins_are_refused(client, origin):
    answer = post(client, asked(clouds()), origin=origin)
    assert answer.status_code == 403
    assert "own page only" in answer.json()["error"]
    assert "access-control-allow-origin" not in answer.headers


def test_cross_site_requests_are_refused(client):
    assert client.get("/catalogue", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_forms_of_other_sites_cannot_ask(client):
    answer = client.post("/solve", content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 415


def test_large_bodies_are_refused_by_their_header(client):
    answer = post(client, b" " * (MAX_REQUEST_BYTES + 1))
    assert answer.status_code == 413
    assert f"{MAX_REQUEST_BYTES:,}" in answer.json()["error"]


def test_large_bodies_are_refused_while_they_arrive(client):
    sent = 0

    def endless():
        nonlocal sent
        while sent < 20 * MAX_REQUEST_BYTES:
            sent += 50_000
            yield b" " * 50_000

    answer = client.post("/solve", content=endless(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert "too much" in answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1]", b"null", b'{"points": NaN}', b'{"points": [[Infinity, 0, 0]]}', b"\xff\xfe",
     b"[" * 100_000],
    ids=lambda body: repr(body[:12]),
)  # fmt: skip
def test_what_is_not_json_is_said(client, body):
    answer = post(client, body)
    assert answer.status_code == 400
    assert "JSON" in answer.json()["error"]


def test_bad_questions_are_answered_in_words(client):
    answer = post(client, asked(clouds(), "magic"))
    assert answer.status_code == 422
    assert "magic" in answer.json()["error"]


HUGE = 10**400


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "change",
    [
        {"points": [[HUGE, 0, 0], [1, 1, 1]]},
        {"points": [[0, 0, HUGE], [1, 1, 1]]},
        {"window": [0, HUGE, 0, 1]},
        {"values": {"C": HUGE}},
        {"values": {"seed": HUGE}},
        {"method": HUGE},
        {"labels": HUGE},
    ],
    ids=str,
)
def test_whole_numbers_beyond_all_floats_are_refused_in_words(client, change, sign):
    body = json.dumps(asked(clouds()) | change).replace(str(HUGE), str(sign * HUGE)).encode()
    answers = [post(client, body, path) for path in ("/solve", "/code", "/steps")]
    refused = [answer.json()["error"] for answer in answers if answer.status_code == 422]
    assert refused  # a method that has no such knob does not look at it
    assert all("must" in said or "no method" in said for said in refused)
    assert {answer.status_code for answer in answers} <= {200, 422}


@pytest.mark.parametrize("length", [b"9" * 5000, b"\xb2", b"-1", b"1e3"])
def test_lengths_that_are_no_numbers_are_refused(client, length):
    answer = client.post("/solve", content=b"{}", headers={"content-length": length})
    assert answer.status_code == 413


def test_hostile_words_come_back_as_json_only(client):
    label = "</script><img src=x onerror=alert(1)>"
    answer = post(client, asked(clouds(), labels=[label, "b"], names=[label, "y"]))
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_unknown_places_are_said(client):
    assert "no picture" in client.get("/pictures/mona-lisa").json()["error"]
    assert client.get("/nowhere").status_code == 404
    assert client.get("/solve").status_code == 405


def test_a_fault_of_ours_is_said_without_its_inside(monkeypatch):
    from maxmargin.app.studio import playground

    def broken(asked):
        raise KeyError("secret")

    monkeypatch.setattr(playground, "solve", broken)
    client = TestClient(application([HOST]), base_url=OURS, raise_server_exceptions=False)
    answer = post(client, asked(clouds()))
    assert answer.status_code == 500
    assert "made a mistake" in answer.json()["error"]
    assert "secret" not in answer.text


def test_twenty_sessions_at_once_each_get_their_own_answer(studio):
    import httpx

    def session(number):
        points = clouds(2 + number % 3, 60, seed=number, spread=0.5 + number / 20)
        errors = []
        with httpx.Client(base_url=studio.url, timeout=120) as client:
            for C in (0.01, 1.0, 100.0):
                answer = client.post("/solve", json=asked(points, values={"C": C}))
                assert answer.status_code == 200, answer.text
                errors.append((answer.json()["margin"], answer.json()["errors"]))
        return errors

    with ThreadPoolExecutor(20) as pool:
        together = list(pool.map(session, range(20)))
    assert together[::5] == [session(number) for number in range(0, 20, 5)]
