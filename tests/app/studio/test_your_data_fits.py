"""*Your data* from the outside: from a file to a model, and sessions beside one another."""

import numpy as np
import pytest

import maxmargin

from .data_helpers import as_csv, as_parquet, begin, drop, finish, flowers, stored_files

OTHER_FILES_OF_OURS = [".answer", "owner", "report.html", "predictions.csv", "model.maxmargin"]
HOSTILE = ["--out=x", "<img src=x onerror=alert(1)>", "‮a=b,c", "prediction"]


def test_from_a_file_to_a_model_that_predicts_the_same(client, workshop, tmp_path):
    table = flowers(32)
    told = drop(client, as_csv(table)).json()
    assert (told["rows"], told["width"], told["target"]) == (32, 4, "kind")
    assert [c["kind"] for c in told["columns"]] == ["number", "number", "category", "category"]
    assert told["preview"][0] == [str(v) for v in table.slice(0, 1).to_pylist()[0].values()]
    assert len(told["preview"]) == 20

    job = begin(client, told["token"], holdout=0.25, drop=["colour"], C=2.0).json()["token"]
    assert finish(client, job)["state"] == "done"
    result = client.get(f"/data/jobs/{job}/result").json()
    assert (result["proved"], result["C"], result["rows"]) == (True, 2.0, 24)
    assert [scene["title"] for scene in result["scenes"]] == [
        f"what speaks for {name}" for name in ("iris", "lily", "rose")
    ]

    file = tmp_path / "m.maxmargin"
    file.write_bytes(client.get(f"/data/jobs/{job}/model").content)
    model = maxmargin.load(file)
    file.unlink()
    wrong = model.predict(table) != np.array(table["kind"].to_pylist())
    rows = client.get(f"/data/jobs/{job}/rows").json()
    assert (rows["total"], rows["errors"]) == (32, int(wrong.sum()))
    assert (
        sorted(row["row"] - 1 for row in rows["rows"] if row["wrong"])
        == np.flatnonzero(wrong).tolist()
    )
    leads = [(not row["wrong"], row["lead"]) for row in rows["rows"]]
    assert leads == sorted(leads)  # the worst first
    assert {row["row"]: row["prediction"] for row in rows["rows"]} == dict(
        enumerate(model.predict(table).tolist(), start=1)
    )

    report = client.get(f"/data/jobs/{job}/report")
    policy = report.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    assert "maxmargin fit flowers.csv" in report.text
    assert "attachment" in client.get(f"/data/jobs/{job}/report?download").headers[
        "content-disposition"
    ]  # fmt: skip
    assert client.delete(f"/data/files/{told['token']}").status_code == 200
    assert stored_files(workshop) == []
    assert client.get(f"/data/jobs/{job}").status_code == 404


def test_a_saved_model_is_looked_into_and_not_kept(client, workshop, tmp_path):
    X, y = np.array([[0.0, 0], [1, 0], [0, 3], [1, 4]]), ["no", "no", "yes", "yes"]
    file = maxmargin.save(maxmargin.LinearSVM(C=1).fit(X, y), tmp_path / "m.maxmargin")
    content = file.read_bytes()
    file.unlink()
    told = drop(client, content, "any name.bin", "/data/models").json()
    assert (told["model"], told["classes"]) == ("LinearSVM", ["no", "yes"])
    assert "proved within" in told["certificate"]
    assert told["scenes"][0]["title"] == "what speaks for yes rather than no"
    refused = drop(client, content[:-40], "cut.maxmargin", "/data/models")
    assert refused.status_code == 422
    assert "cut.maxmargin" in refused.json()["error"]
    assert stored_files(workshop) == []


def test_what_a_command_refuses_is_said(client):
    token = drop(client, as_csv(flowers(6))).json()["token"]
    job = begin(client, token, method="magic").json()["token"]
    status = finish(client, job)
    assert status["state"] == "failed"
    assert "--method must be one of" in status["words"]
    assert client.get(f"/data/jobs/{job}/result").status_code == 409


@pytest.mark.parametrize(
    "name",
    ["answer", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHER_FILES_OF_OURS)],
)
def test_no_upload_is_overwritten_by_a_file_of_ours(client, workshop, name):
    content = as_csv(flowers(18))
    told = drop(client, content, name).json()
    upload = workshop.uploads.find(told["token"])
    assert told["rows"] == 18
    assert upload.path.read_bytes() == content
    job = begin(client, told["token"], C=1).json()["token"]
    assert finish(client, job)["state"] == "done"
    assert upload.path.read_bytes() == content
    assert client.get(f"/data/jobs/{job}/result").json()["rows"] == 18


def test_two_sessions_at_once_one_of_them_hostile(client):
    """The same name, the same moment, different data; hostile names are columns, nothing else."""
    hostile = flowers(18, 1).rename_columns(HOSTILE)
    asked = {"drop": [HOSTILE[0]], "category": [HOSTILE[2]], "target": HOSTILE[3]}
    tables = [(hostile, asked), (flowers(24, 2, shift=5.0), {})]
    tokens = [drop(client, as_parquet(table), "x.parquet").json()["token"] for table, _ in tables]
    jobs = [
        begin(client, token, C=1, **more).json()["token"]
        for token, (_, more) in zip(tokens, tables, strict=True)
    ]
    assert [finish(client, job)["state"] for job in jobs] == ["done", "done"]
    first, second = (client.get(f"/data/jobs/{job}/result").json() for job in jobs)
    assert (first["rows"], second["rows"]) == (18, 24)
    assert (first["target"], second["target"]) == (HOSTILE[3], "kind")
    features = {row["feature"] for row in first["coefficients"]["rose"]}
    assert HOSTILE[1] in features
    assert HOSTILE[0] not in features
    assert HOSTILE[1] not in client.get(f"/data/jobs/{jobs[0]}/report").text
    labels = {row["label"] for row in client.get(f"/data/jobs/{jobs[0]}/rows").json()["rows"]}
    assert labels == {"rose", "lily", "iris"}

    client.delete(f"/data/files/{tokens[0]}")
    assert client.get(f"/data/jobs/{jobs[0]}/model").status_code == 404
    assert client.get(f"/data/jobs/{jobs[1]}/model").status_code == 200
