"""Waiting for answers of a cluster, and saying in words what became of it when none come."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from contextlib import contextmanager
from typing import Any

# Seconds without a single worker after which none is expected any more, and between two looks.
PATIENCE = 120.0
LOOK = 1.0


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
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise ClusterLost(
            "The cluster has forgotten the data of this fit: it was restarted, its scheduler was "
            "lost, or the client was closed. Connect again and start the fit afresh."
        ) from error


def gather(client: Any, futures: list) -> list:
    """What ``client.gather`` gives, unless there is nobody left to give it."""
    alone = None
    while True:
        try:
            return client.sync(_gather, client, futures, min(LOOK, PATIENCE))
        except TimeoutError:
            if client.nthreads():
                alone = None
                continue
            alone = alone or time.monotonic()
            if time.monotonic() - alone >= PATIENCE:
                raise ClusterLost(_nobody(client)) from None


async def _gather(client: Any, futures: list, seconds: float) -> list:
    """In the client's thread, so that waiting and fetching are one trip there."""
    import distributed

    await distributed.wait(futures, timeout=seconds)
    return await client.gather(futures, asynchronous=True)


def wait_for_a_worker(client: Any) -> None:
    """A cluster may still be starting, but not forever."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise ClusterLost(_nobody(client)) from error


def _nobody(client: Any) -> str:
    return (
        f"The cluster at {client.scheduler.address} has had no worker for {PATIENCE:g} seconds. "
        "Start workers, or close the client to fit on a LocalCluster of this machine."
    )
