"""Files to drop, and an application to drop them on."""

import io
import time

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from maxmargin.parts.files.owned import OWNER_FILE

HOST = "127.0.0.1:8642"
OURS = f"http://{HOST}"
RAW = {"content-type": "application/octet-stream"}


def flowers(n=60, seed=0, shift=0.0):
    """Two measurements, a colour and a kind, the kinds not quite separable."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    length = kind + 0.7 * rng.standard_normal(n) + shift
    width = 2.0 * (kind == 1) + 0.8 * rng.standard_normal(n)
    colour = rng.choice(["red", "blue"], n)
    return pa.table(
        {
            "length": np.round(length, 3),
            "width": np.round(width, 3),
            "colour": colour,
            "kind": np.array(["rose", "lily", "iris"])[kind],
        }
    )


def as_csv(table):
    out = io.BytesIO()
    csv.write_csv(table, out)
    return out.getvalue()


def as_parquet(table):
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def noise(rows=4000, columns=30):
    """Enough to keep a comparison busy until it is cancelled."""
    rng = np.random.default_rng(0)
    data = {f"x{j}": rng.standard_normal(rows) for j in range(columns)}
    return pa.table(data | {"y": rng.integers(0, 4, rows)})


def stored_files(workshop):
    """Names of the files that a workshop keeps."""
    found = (path.name for path in workshop.uploads.folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name != OWNER_FILE)


def until(true, seconds=30.0, every=0.05):
    """Wait for something to become true; whether it did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(every)
    return bool(true())


def drop(client, content, name="flowers.csv", path="/data/files"):
    return client.post(path, params={"name": name}, content=content, headers=RAW)


def begin(client, token, command="fit", target="kind", **more):
    asked = {"file": token, "command": command, "target": target} | more
    return client.post("/data/jobs", json=asked)


def finish(client, job, seconds=120.0):
    """The last status of a job."""
    status = {}

    def over():
        status.update(client.get(f"/data/jobs/{job}").json())
        return status["state"] in ("done", "failed")

    assert until(over, seconds, 0.1), status
    return status
