"""Dask is an extra: where it is missing, say so."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

from .cluster_wait import in_words


def need_dask():
    """(dask, distributed), or an error that names the extra."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise ImportError(
            "maxmargin.spread needs Dask, which is not installed. "
            'Install the extra: pip install "maxmargin[dask]".'
        ) from error
    return dask, distributed


def _current():
    """The client there is, as a context that leaves it open; or None."""
    _, distributed = need_dask()
    try:
        distributed.get_worker()
    except ValueError:
        pass
    else:  # inside a task, whose thread may be the only one: it is lent to the parts meanwhile
        return distributed.worker_client()
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    if client.asynchronous:
        raise TypeError(
            "maxmargin.spread waits for its answers, but the current client is asynchronous. "
            "Fit with a client that is not, or in another thread."
        )
    return nullcontext(client)


@contextmanager
def some_client():
    """The current client, or one of a local cluster that is closed again, and what it is."""
    _, distributed = need_dask()
    current = _current()
    if current is not None:
        with current as client, in_words():
            yield client, f"the client's cluster at {client.scheduler.address}"
        return
    # Threads of this process: kernels and BLAS let go of the interpreter, and a script without
    # a guard around its main part can start no processes.
    with (
        distributed.LocalCluster(processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        in_words(),
    ):
        yield client, "a LocalCluster of threads, started for this fit and closed after it"
