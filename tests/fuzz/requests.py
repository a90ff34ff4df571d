"""Altered requests to the studio: questions of the playground, and jobs that are asked for."""

from __future__ import annotations

import json
import random

from ..app.studio.data_helpers import HOST, OURS
from ..app.studio.helpers import asked, clouds
from .mutations import CELLS, altered_bytes, altered_tree
from .run import Outcome, Subject

METHODS = (
    "svm", "logistic", "perceptron", "least-squares", "fisher", "kernel-svm", "kernel-ridge",
)  # fmt: skip
PATHS = ("/solve", "/code", "/steps", "/data/jobs")
OTHERS = ("/", "/catalogue", "/pictures/{}", "/static/{}", "/data/jobs/{}", "/data/files/{}", "/{}")


class Requests(Subject):
    name = "requests"
    seconds = 20.0
    needs = ("starlette", "httpx", "uvicorn")

    def prepare(self) -> None:
        from starlette.testclient import TestClient

        from maxmargin.app.studio.server import application
        from maxmargin.app.studio.your_data import Workshop

        workshop = Workshop(1.0)
        app = application([HOST], more=workshop.routes(), limits=workshop.limits)
        self.client = TestClient(app, base_url=OURS, raise_server_exceptions=False)
        for method in METHODS:
            for k in (2, 3):
                self.client.post("/solve", json=asked(clouds(k, 12), method))

    def _question(self, seed: int, index: int) -> tuple[random.Random, str, bytes]:
        rng = random.Random(f"{seed}:{index}")
        path = rng.choice(PATHS)
        tree = asked(clouds(rng.choice([2, 3]), 12), rng.choice(METHODS))
        if path == "/data/jobs":
            tree = {"file": "x", "command": "fit", "target": "kind", "options": {"C": 1}}
        body = json.dumps(altered_tree(rng, tree)).encode()
        return rng, path, altered_bytes(rng, body, text=False) if rng.random() < 0.1 else body

    def altered(self, seed: int, index: int) -> bytes:
        _, path, body = self._question(seed, index)
        return path.encode() + b"\n" + body

    def judge(self, altered: bytes, seed: int, index: int) -> Outcome:
        rng, path, body = self._question(seed, index)
        if rng.random() < 0.05:
            word = rng.choice([*CELLS, "..%2f..%2fetc", "%00", "a" * 3000])
            method = rng.choice(["GET", "POST", "DELETE", "PUT"])
            found = self._ask(method, rng.choice(OTHERS).format(word), b"")
        else:
            found = self._ask("POST", path, body)
        if found.status_code >= 500:
            return "uncaught", f"{found.status_code} for {path}: {found.text[:200]}"
        return ("accepted" if found.status_code == 200 else "refused"), found.text[:100]

    def _ask(self, method: str, path: str, body: bytes):
        import httpx

        try:
            return self.client.request(
                method, path, content=body, headers={"content-type": "application/json"}
            )
        except (httpx.InvalidURL, UnicodeEncodeError):  # the client does not send it
            return httpx.Response(400, text="no address")
