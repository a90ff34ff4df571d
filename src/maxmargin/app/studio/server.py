"""The studio's server: files of the page, and questions answered by a few threads.

A question is a POST of JSON, answered by a plain function from dict to dict.  A tab plugs in with
two lines: its functions in ``QUESTIONS`` here, and its module in ``TABS`` of static/main.js (see
there).  A tab that needs more than questions gives Starlette routes to ``application``.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from .guard import Guard

STATIC_FOLDER = Path(__file__).parent / "static"
# Two solve while the others wait in line, each page with at most one question at a time.
SOLVER_THREADS = 2
# Longer lines would be answered after their pages have gone.
MAX_WAITING_QUESTIONS = 200

Question = Callable[[dict], dict]
_prepared = threading.Event()
_prepared.set()

# What can be asked, by path: a function from dict to dict, given as module and name, since what
# answers is heavy and the page should be painted before it is loaded.
QUESTIONS = {
    "/solve": ("playground", "solve"),
    "/code": ("playground", "code"),
    "/steps": ("stepper", "steps"),
}


def answers(module: str, name: str) -> Question:
    """The function, loaded when first asked."""

    def ask(asked: dict) -> dict:
        _prepared.wait()
        return getattr(import_module(f".{module}", __package__), name)(asked)

    return ask


def application(
    hosts: Iterable[str], *, more: Sequence[BaseRoute] = (), limits: Mapping[str, int] | None = None
) -> Guard:
    """The app for these ``Host`` headers; ``more`` routes, and their limits on bodies."""
    line = SolverQueue()
    routes = [
        Route("/", _page),
        Route("/catalogue", _catalogue),
        Route("/pictures/{name}", _picture),
        *(
            Route(path, line.answer(answers(*where)), methods=["POST"])
            for path, where in QUESTIONS.items()
        ),
        *more,
        Mount("/static", StaticFiles(directory=STATIC_FOLDER)),
    ]
    handlers: dict[Any, Any] = {
        HTTPException: _say, ClientDisconnect: _shrug, Exception: _apologise,
    }  # fmt: skip
    app = Starlette(routes=routes, exception_handlers=handlers)
    return Guard(app, hosts, limits)


class SolverQueue:
    """The line of questions in front of the solvers."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(SOLVER_THREADS, thread_name_prefix="studio")
        self.waiting = 0

    def answer(self, body: Question) -> Callable:
        async def endpoint(request: Request) -> Response:
            asked = await question(request)
            if self.waiting >= MAX_WAITING_QUESTIONS:
                raise HTTPException(503, "Too many pages ask at once. Try again in a moment.")
            self.waiting += 1
            try:
                loop = asyncio.get_running_loop()
                status, content = await loop.run_in_executor(self.pool, _answered, body, asked)
            finally:
                self.waiting -= 1
            return Response(content, status, media_type="application/json")

        return endpoint


def _answered(body: Question, asked: dict) -> tuple[int, bytes]:
    """The answer as bytes, made in the solver's thread; what is wrong with a question in words."""
    try:
        return 200, _bytes(body(asked))
    except ValueError as error:
        return 422, _bytes({"error": str(error)})


def _bytes(content: dict) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


async def question(request: Request) -> dict:
    """What is asked; forms of other sites cannot say that they are JSON."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise HTTPException(415, "Questions to the studio are JSON: application/json.")
    return _parse(await request.body())


def _parse(body: bytes) -> dict:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no number of JSON")

    try:
        asked = json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"This is not JSON the studio can read: {error}.") from None
    if not isinstance(asked, dict):
        raise HTTPException(400, "A question to the studio must be a JSON object.")
    return asked


async def _page(request: Request) -> Response:
    return Response((STATIC_FOLDER / "index.html").read_bytes(), media_type="text/html")


async def _catalogue(request: Request) -> Response:
    from .methods import catalogue
    from .pictures import PICTURES

    pictures = [{"name": p.name, "title": p.title, "words": p.words} for p in PICTURES.values()]
    return JSONResponse(catalogue() | {"pictures": pictures})


async def _picture(request: Request) -> Response:
    from .pictures import picture

    name = request.path_params["name"]
    try:
        found = await asyncio.get_running_loop().run_in_executor(None, picture, name)
    except KeyError:
        raise HTTPException(404, f"There is no picture {name[:40]!r}.") from None
    return JSONResponse(found)


def _say(request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code)


def _shrug(request: Request, error: Exception) -> Response:
    """Whoever asked has gone; nobody reads this."""
    return Response(status_code=400)


def _apologise(request: Request, error: Exception) -> Response:
    """A fault of ours: the page is told so, the terminal gets the traceback."""
    words = f"The studio made a mistake ({type(error).__name__}); its terminal says more."
    return JSONResponse({"error": words}, 500)


def warm_up(prepare: Callable[[], None]) -> threading.Thread:
    """Load and compile, or fetch from the cache, every method behind the page's back.

    ``prepare`` comes first, and questions wait for it: it may be particular about who imports
    scikit-learn.
    """
    _prepared.clear()

    def work() -> None:
        try:
            prepare()
        finally:
            _prepared.set()
        from .warm import warm_all

        warm_all()

    thread = threading.Thread(target=work, name="studio-warm", daemon=True)
    thread.start()
    return thread
