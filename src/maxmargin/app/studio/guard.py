"""Who may talk to the studio: pages it served itself, on this machine, in moderate amounts.

A server on loopback can still be reached by any web page in the user's browser.  A page whose
name was rebound to 127.0.0.1 sends a foreign Host; a page elsewhere that posts sends a foreign
Origin.  Both are refused, in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    b"content-security-policy": CONTENT_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-cache",  # asked again each time, answered from the cache if unchanged
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
# Two thousand points are about 100 kB.
MAX_REQUEST_BYTES = 500_000


class Guard:
    """ASGI middleware.  ``limits`` allow larger bodies on some paths."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], limits: Mapping[str, int] | None = None):
        self.app = app
        self.hosts = frozenset(hosts)
        self.origins = frozenset(f"http://{host}" for host in self.hosts)
        self.limits = dict(limits or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                given = {name for name, _ in own}  # a report has a policy of its own
                more = [pair for pair in SECURITY_HEADERS.items() if pair[0] not in given]
                message["headers"] = [*own, *more]
            await send(message)

        most = self.limits.get(scope["path"], MAX_REQUEST_BYTES)
        complaint = self._complaint(scope, most)
        if complaint is not None:
            await refuse(send_guarded, *complaint)
            return
        await self.app(scope, _metered(receive, most), send_guarded)

    def _complaint(self, scope: Scope, most: int) -> tuple[int, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if host not in self.hosts:
            return 403, (
                f"The studio answers at {' and '.join(sorted(self.hosts))} only, not at "
                f"{host[:100]!r}."
            )
        origin = headers.get(b"origin")
        if origin is not None and origin not in self.origins:
            return 403, f"The studio answers to its own page only, not to {origin[:100]!r}."
        if headers.get(b"sec-fetch-site") == "cross-site":
            return 403, "The studio answers to its own page only, not to another site."
        length = headers.get(b"content-length", "0")
        if not (length.isascii() and length.isdigit()) or _above(length, most):
            return 413, too_large(most)
        return None


def _above(digits: str, most: int) -> bool:
    """Whether a number is larger; of thousands of digits Python makes no number."""
    digits = digits.lstrip("0")
    return len(digits) > len(str(most)) or int(digits or "0") > most


def too_large(most: int) -> str:
    return f"That is too much: the studio takes at most {most:,} bytes at once here."


def _metered(receive: Receive, most: int) -> Receive:
    """What arrives is counted, for a length that is announced can be wrong or missing."""
    total = 0

    async def counted() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > most:
            raise HTTPException(413, too_large(most))
        return message

    return counted


async def refuse(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)),
               (b"connection", b"close")]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
