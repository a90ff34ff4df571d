"""The room *Your data*: the command line for those who would rather drop a file on a page.

A page sends a file and is answered with a token and what the file holds; asks for a job and is
told how it goes; and fetches what came of it.  All work is done by commands (``child.py``).
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from .child import ANSWER_FILE, Child
from .commands import PREDICTIONS_FILE, prediction_steps, steps
from .jobs import Job, Jobs
from .server import answers, question
from .uploads import MODEL_SUFFIX, Upload, Uploads

BYTES_PER_MEGABYTE = 1_000_000
FILES_PATH, MODELS_PATH = "/data/files", "/data/models"
# Looking at a file takes seconds, and does not wait behind fits that take hours.
LOOK_THREADS = 2
MAX_LOOK_SECONDS = 120
# Classes whose coefficients are told.
MAX_COEFFICIENT_CLASSES = 30
# A report may style itself; it runs nothing, loads nothing, and is shown by our page only.
REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)


class Workshop:
    """Files, jobs, and the routes to them; ``close`` ends and removes everything."""

    def __init__(self, megabytes: float):
        self.most = int(megabytes * BYTES_PER_MEGABYTE)
        self.uploads = Uploads()
        self.jobs = Jobs(self.uploads)
        self.looking = ThreadPoolExecutor(LOOK_THREADS, thread_name_prefix="studio-look")
        self.children: set[Child] = set()
        self.limits = {FILES_PATH: self.most, MODELS_PATH: self.most}

    def routes(self) -> list[Route]:
        return [
            Route("/data/limits", self._limits),
            Route(FILES_PATH, self._file, methods=["POST"]),
            Route(MODELS_PATH, self._model, methods=["POST"]),
            Route(FILES_PATH + "/{token}", self._forget_file, methods=["DELETE"]),
            Route("/data/jobs", self._ask, methods=["POST"]),
            Route("/data/jobs/{token}", self._status, methods=["GET"]),
            Route("/data/jobs/{token}", self._cancel, methods=["DELETE"]),
            Route("/data/jobs/{token}/result", self._result),
            Route("/data/jobs/{token}/rows", self._rows),
            Route("/data/jobs/{token}/report", self._report),
            Route("/data/jobs/{token}/model", self._saved),
            Route("/data/jobs/{token}/predictions", self._predictions),
        ]

    def close(self) -> None:
        for child in list(self.children):
            child.end()
        self.looking.shutdown(wait=True, cancel_futures=True)
        self.jobs.close()
        self.uploads.close()

    async def _limits(self, request: Request) -> Response:
        return JSONResponse({"bytes": self.most})

    # --- files ------------------------------------------------------------------------------

    async def _received(self, request: Request) -> Upload:
        kind = request.headers.get("content-type", "").partition(";")[0]
        if kind != "application/octet-stream":
            raise HTTPException(415, "Files are sent as they are: application/octet-stream.")
        return await self.uploads.receive(request.query_params.get("name", ""), request.stream())

    async def _file(self, request: Request) -> Response:
        upload = await self._received(request)
        module = "maxmargin.app.studio.describe"
        upload.described = await self._look(upload, [module, upload.path.name])
        return JSONResponse({"token": upload.token, "name": upload.name} | upload.described)

    async def _model(self, request: Request) -> Response:
        upload = await self._received(request)
        if upload.path.suffix != MODEL_SUFFIX:  # whatever it is called
            upload.path = upload.path.rename(upload.path.with_name(f"model{MODEL_SUFFIX}"))
        command = ["maxmargin", "inspect", upload.path.name, "--json", "--top", "50"]
        try:
            result = _cut(await self._look(upload, command))
        finally:
            self.uploads.forget(upload.token)
        return JSONResponse({"name": upload.name} | result | await self._drawn(result))

    async def _look(self, upload: Upload, arguments: list[str]) -> dict:
        """What a command says of a file; a file it cannot read is forgotten."""
        child = Child(arguments, upload.path.parent, MAX_LOOK_SECONDS)
        upload.busy = True
        self.children.add(child)
        try:
            loop = asyncio.get_running_loop()
            code = await loop.run_in_executor(self.looking, child.run)
            if code != 0:
                words = child.complaint(code)
                if words.startswith(f"{upload.path.name} "):  # say it as the user calls it
                    words = (upload.name or "The file") + words.removeprefix(upload.path.name)
                raise HTTPException(422, words)
            return json.loads((upload.path.parent / ANSWER_FILE).read_bytes())
        except BaseException:
            child.stop()
            self.uploads.forget(upload.token)
            raise
        finally:
            self.children.discard(child)
            upload.busy = False

    async def _drawn(self, result: dict) -> dict:
        """Scenes of the coefficients; what draws them is heavy, and loaded as questions load it."""
        draw = answers("coefficients", "scenes")
        return await asyncio.get_running_loop().run_in_executor(self.looking, draw, result)

    async def _forget_file(self, request: Request) -> Response:
        upload = self.uploads.find(request.path_params["token"])
        self.jobs.forget_of(upload)
        self.uploads.forget(upload.token)
        return JSONResponse({})

    # --- jobs -------------------------------------------------------------------------------

    async def _ask(self, request: Request) -> Response:
        asked = await question(request)
        token = asked.get("file")
        upload = self.uploads.find(token if isinstance(token, str) else "")
        if asked.get("command") == "predict":
            model = self._model_of(asked.get("job"))
            job = self.jobs.ask(upload, prediction_steps(model.name), model)
            return JSONResponse({"token": job.token} | job.status(self.jobs.place(job)))
        try:
            made = steps(asked, upload.described)
        except ValueError as error:
            raise HTTPException(422, str(error)) from None
        job = self.jobs.ask(upload, made)
        return JSONResponse({"token": job.token} | job.status(self.jobs.place(job)))

    def _model_of(self, token: object) -> Path:
        """The model that a job has written."""
        job = self.jobs.find(token if isinstance(token, str) else "")
        path = job.folder / f"model{MODEL_SUFFIX}"
        if job.state != "done" or not path.is_file():
            raise HTTPException(409, "This job has no model (yet): fit one first.")
        return path

    def _job(self, request: Request) -> Job:
        return self.jobs.find(request.path_params["token"])

    async def _status(self, request: Request) -> Response:
        job = self._job(request)
        return JSONResponse(job.status(self.jobs.place(job)))

    async def _cancel(self, request: Request) -> Response:
        self.jobs.forget(self._job(request).token)
        return JSONResponse({})

    def _done(self, request: Request) -> Job:
        job = self._job(request)
        if job.state != "done":
            raise HTTPException(409, "This job has no result (yet).")
        return job

    async def _result(self, request: Request) -> Response:
        job = self._done(request)
        result = _cut(job.answers["result"]) | (job.answers.get("said") or {})
        drawn = await self._drawn(result)
        return JSONResponse(result | drawn | {"seconds": job.seconds(), "name": job.upload.name})

    async def _rows(self, request: Request) -> Response:
        rows = self._done(request).answers.get("rows")
        if rows is None:
            raise HTTPException(404, "There is no table of rows for this job.")
        return JSONResponse(rows)

    async def _report(self, request: Request) -> Response:
        kept = "download" in request.query_params
        return _sent(self._done(request), "report.html", "text/html", kept)

    async def _saved(self, request: Request) -> Response:
        return _sent(self._done(request), f"model{MODEL_SUFFIX}", "application/octet-stream", True)

    async def _predictions(self, request: Request) -> Response:
        return _sent(self._done(request), PREDICTIONS_FILE, "text/csv", True)


def _sent(job: Job, name: str, kind: str, kept: bool) -> Response:
    """A file that a job has written, to be looked at or to be kept."""
    path = job.folder / name
    if not path.is_file():
        raise HTTPException(404, f"This job has written no {name}.")
    headers = {"content-security-policy": REPORT_POLICY}
    return FileResponse(path, media_type=kind, headers=headers, filename=name if kept else None)


def _cut(result: dict) -> dict:
    """Without the coefficients of classes beyond the first ones."""
    found = result.get("coefficients")
    if not found:
        return result
    return result | {"coefficients": dict(list(found.items())[:MAX_COEFFICIENT_CLASSES])}
