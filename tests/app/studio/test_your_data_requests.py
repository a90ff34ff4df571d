"""*Your data*, what may be asked: questions that become commands, and pages that may not ask."""

import re

import numpy as np
import pytest

from maxmargin.app.studio.commands import steps
from maxmargin.app.studio.server import STATIC_FOLDER

from .data_helpers import RAW, begin

TOLD = {"table": True, "columns": [{"name": "kind"}, {"name": "--x"}, {"name": "z\0"}]}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"command": "rm"}, "fit or compare"),
        ({"command": ["fit"]}, "fit or compare"),
        ({"target": None}, "Which column"),
        ({"target": "nobody"}, "no column 'nobody'"),
        ({"target": ["kind"]}, "no column"),
        ({"target": "z\0"}, "zero byte"),
        ({"drop": ["nobody"]}, "no column"),
        ({"drop": "kind"}, "list"),
        ({"C": -1}, "above 0"),
        ({"C": "1; rm"}, "number"),
        ({"C": True}, "number"),
        ({"C": 10**400}, "at most 1e308"),
        ({"C": -(10**400)}, "at most 1e308"),
        ({"holdout": 10**400}, "at most 1e308"),
        ({"holdout": 1}, "between 0 and 1"),
        ({"method": 7}, "word"),
        ({"basis": "a\0"}, "word"),
    ],
)
def test_nonsense_is_refused_before_anything_is_started(asked, words):
    with pytest.raises(ValueError, match=words):
        steps({"command": "fit", "target": "kind"} | asked, TOLD)


def test_values_cannot_become_options():
    made = steps(
        {"command": "fit", "target": "kind", "drop": ["--x"], "C": "inf", "method": "-v"}, TOLD
    )
    fit, rows = made("f.csv")
    assert fit.arguments == ["maxmargin", "fit", "f.csv", "--target=kind", "--drop=--x",
                             "--budget=60s", "--method=-v", "--C=inf", "--json"]  # fmt: skip
    assert not rows.needed


def test_the_page_offers_what_the_commands_know():
    """Names in plan.js, which the page puts into its questions."""
    from maxmargin.core.kernels.kernels import KERNELS
    from maxmargin.models.registry import METHODS
    from maxmargin.models.tune.candidates import CANDIDATE_BASES
    from maxmargin.parts.files.basis import learn_basis

    text = (STATIC_FOLDER / "plan.js").read_text()

    def keys(name):
        inside = re.search(rf"const {name} = {{(.*?)}};", text, re.DOTALL).group(1)
        return [a or b for a, b in re.findall(r'(?:"([^"]*)"|(\w+)):\s', inside)]

    assert set(keys("METHODS")) <= set(METHODS)
    assert {m for names in keys("COMPARED") for m in names.split(",")} <= {"all", *METHODS}
    assert {b for names in keys("COMPARED_BASES") for b in names.split(",")} <= {
        "all",
        *CANDIDATE_BASES,
    }
    assert set(keys("KERNELS")) <= set(KERNELS)
    for basis in keys("BASES")[1:]:
        learn_basis(basis, np.random.default_rng(0).standard_normal((80, 2)))


ROUTES = [
    ("POST", "/data/files"), ("POST", "/data/models"), ("DELETE", "/data/files/x"),
    ("POST", "/data/jobs"), ("GET", "/data/jobs/x"), ("DELETE", "/data/jobs/x"),
    ("GET", "/data/jobs/x/result"), ("GET", "/data/jobs/x/rows"), ("GET", "/data/jobs/x/report"),
    ("GET", "/data/jobs/x/model"), ("GET", "/data/jobs/x/predictions"), ("GET", "/data/limits"),
]  # fmt: skip


def test_foreign_pages_are_refused_everywhere(client, workshop):
    assert {(m, route.path.replace("{token}", "x")) for route in workshop.routes()
            for m in route.methods - {"HEAD"}} == set(ROUTES)  # fmt: skip
    for method, path in ROUTES:
        for header in (
            {"host": "evil.example"},
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"sec-fetch-site": "cross-site"},
        ):
            answer = client.request(method, path, headers=RAW | header)
            assert answer.status_code == 403, (method, path, header)
    assert len(workshop.uploads) == 0


def test_forms_of_other_sites_cannot_send_files(client):
    for kind in ("text/plain", "multipart/form-data", "application/x-www-form-urlencoded", ""):
        answer = client.post("/data/files", content=b"a,b\n", headers={"content-type": kind})
        assert answer.status_code == 415


def test_tokens_of_others_are_unknown(client):
    assert begin(client, "x" * 32).status_code == 404
    assert begin(client, None).status_code == 404
    assert client.get("/data/jobs/" + "x" * 32).status_code == 404
    for path in ("/data/jobs/../../etc/passwd/report", "/data/jobs/%2e%2e/report"):
        assert client.get(path).status_code == 404
