"""Waiting for answers of a cluster, and saying in words what became of it when none come."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from contextlib import contextmanager
from typing import Any

# Seconds without a single worker after which none is expected any more, and between two looks.
MAX_WAIT = 120.0
LOOK_EVERY = 1.0


class ClusterLost(RuntimeError):
    """The cluster cannot answer any more; the data and the model of an earlier fit are unharmed."""


@contextmanager
def in_words():
    """Errors of Dask that mean the cluster is lost, as ``ClusterLost``, with what to do."""
    import distributed

    try:
        yield
    except distributed.KilledWorker as error:
        raise ClusterLost(
            f"Workers died again and again while they were asked about their rows ({error}). "
            "Most often they had too little memory: use smaller partitions on more workers, or "
            "workers with more memory."
        ) from error
    except (
        asyncio.CancelledError, concurrent.futures.CancelledError,
        distributed.client.ClosedClientError,
    ) as error:  # fmt: skip
        raise ClusterLost(
            "The cluster has forgotten the data of this fit: it was restarted, its scheduler or "
            "too many workers at once were lost, or the client was closed. Connect again and "
            "start the fit afresh."
        ) from error


def gather(client: Any, futures: list) -> list:
    """What ``client.gather`` gives, unless there is nobody left to give it."""
    wait_for(client, futures)
    return client.gather(futures)


def wait_for(client: Any, futures: list) -> None:
    """Until all are done, or there has been no worker for too long."""
    import distributed

    alone = None
    while True:
        try:
            distributed.wait(futures, timeout=min(LOOK_EVERY, MAX_WAIT))
            return
        except TimeoutError:
            if client.nthreads():
                alone = None
                continue
            alone = alone or time.monotonic()
            if time.monotonic() - alone >= MAX_WAIT:
                raise ClusterLost(_nobody(client)) from None


def heard(actor: Any, sent: Any) -> Any:
    """What an actor answers, or None if it is gone: Dask does not always say so."""
    while not sent.done():
        try:
            return sent.result(timeout=LOOK_EVERY)
        except TimeoutError:
            if actor._future.status != "finished":
                return None
    return sent.result()


def wait_for_a_worker(client: Any) -> None:
    """A cluster may still be starting, but not forever; an adaptive one starts when asked."""
    if not client.nthreads():
        wait_for(client, [client.submit(int, pure=False)])


def _nobody(client: Any) -> str:
    return (
        f"The cluster at {client.scheduler.address} has had no worker for {MAX_WAIT:g} seconds. "
        "Start workers, or close the client to fit on a LocalCluster of this machine."
    )
