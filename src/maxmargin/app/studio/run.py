"""Finding a port, serving until Ctrl-C."""

from __future__ import annotations

import errno
import logging
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from .server import application, warm_up
from .your_data import Workshop

HOST = "127.0.0.1"
# Ports tried after the usual one before giving up.
MAX_PORTS_TRIED = 20
# A solve takes two seconds at most; whoever presses Ctrl-C does not wait for it.
SHUTDOWN_SECONDS = 1


def serve(
    port: int | None, usual: int, browser: bool, megabytes: float, prepare: Callable[[], None]
) -> None:
    """Serve the studio on loopback until Ctrl-C; the address is printed.

    Files of up to ``megabytes`` are taken.  ``prepare`` is run in the background once the page
    can be reached.
    """
    listener = listen(port, usual)
    found = listener.getsockname()[1]
    address = f"http://{HOST}:{found}/"
    if port is None and found != usual:
        print(f"Port {usual} is taken; the studio uses {found} instead.")
    workshop = Workshop(megabytes)
    app = application(
        [f"{HOST}:{found}", f"localhost:{found}"], more=workshop.routes(), limits=workshop.limits
    )
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS, server_header=False,
    )  # fmt: skip
    server = Server(config, address, browser, workshop, prepare)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # the usual way to end it
    finally:
        listener.close()
    print("The studio has stopped.", flush=True)


class Server(uvicorn.Server):
    """Says where it is once it can be reached, and only then warms up and opens the page."""

    def __init__(
        self,
        config: uvicorn.Config,
        address: str,
        browser: bool,
        workshop: Workshop,
        prepare: Callable[[], None],
    ):
        super().__init__(config)
        self.address, self.browser, self.prepare = address, browser, prepare
        self.workshop = workshop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(f"The studio is at {self.address}  (Ctrl-C stops it)", flush=True)
        if self.browser:
            threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()
        if hasattr(signal, "SIGHUP"):  # a terminal that is closed ends the studio as Ctrl-C does
            signal.signal(signal.SIGHUP, self.handle_exit)
        warm_up(self.prepare)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Questions nobody waits for are cancelled, which uvicorn would tell with a traceback.
        logging.getLogger("uvicorn.error").disabled = True
        try:
            await super().shutdown(sockets)
        finally:
            self.workshop.close()  # here, for the signal is raised again once this is over


def listen(port: int | None, usual: int) -> socket.socket:
    """A socket on loopback: at the port asked for, or at the first free one from the usual."""
    tried = [port] if port is not None else range(usual, usual + MAX_PORTS_TRIED)
    for candidate in tried:
        if not 0 <= candidate <= 65535:
            raise ValueError(f"--port must be from 0 to 65535, got {candidate}.")
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, candidate))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            reason = error.strerror
    if port is not None:
        raise ValueError(
            f"Port {port} cannot be used ({reason}). Choose another, or leave --port out and the "
            "studio finds one."
        )
    raise ValueError(
        f"None of the ports {usual} to {usual + MAX_PORTS_TRIED - 1} is free. Use --port."
    )
