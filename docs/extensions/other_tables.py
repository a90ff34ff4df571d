"""Tables and curves of *Measured* that are no races: clusters, choices, probabilities, probes."""

from __future__ import annotations

import json
from typing import Any

from cells import RESULTS, Table, ratio, seconds, small


def spread(found: Any) -> list[Table]:
    rows = [row for case, runs in found["results"].items() for row in _workers(case, runs)]
    heads = ("fit", "workers", "wall", "busiest worker", "the one who asks", "rounds", "gap",
             "bytes sent, received per round and part", "rows fetched",
             "times as fast (by processor)")  # fmt: skip
    return [Table(heads, rows)]


def _workers(case: str, runs: dict) -> list[tuple[str, ...]]:
    one, two = runs["1"], runs["2"]
    gain = f"{one['wall'] / two['wall']:.2f} ({one['worker_cpu'] / two['worker_cpu']:.2f})"
    return [
        (case if n == "1" else "", n, f"{run['wall']:.2f} s", f"{run['worker_cpu']:.2f} s",
         f"{run['asking_cpu']:.2f} s", str(run["rounds"]), small(run["gap"]),
         f"{run['sent']:,.0f}, {run['received']:,.0f}", f"{run['sampled'] / 1e6:.1f} MB",
         "" if n == "1" else gain)
        for n, run in (("1", one), ("2", two))
    ]  # fmt: skip


def threads(found: Any) -> list[Table]:
    rows = [
        (r["case"], *(seconds(r["seconds"][n]) for n in "12"), f"{r['times_as_fast']:.2f}",
         *(seconds(r["processor"][n]) for n in "12"), small(r["gap"]),
         "yes" if r["same_bits"] and r["same_certificate"] else "no") for r in found["results"]
    ]  # fmt: skip
    heads = ("fit", "one thread", "two", "times as fast", "processor time of one", "of two",
             "certified gap", "same bits and certificate")  # fmt: skip
    return [Table(heads, rows)]


def sentiment(found: Any) -> list[Table]:
    errors = [r for r in found["results"] if "training_error" in r]
    rows = [
        (f"{r['C']:g}", f"{100 * r['training_error']:.2f} %", f"{100 * r['test_error']:.1f} %",
         str(r["n_support"])) for r in errors
    ]  # fmt: skip
    choices = [
        (r["case"], f"{r['chosen']:.2g}", f"{100 * r['cv_error']:.1f} %",
         f"{100 * r['chosen_test_error']:.1f} %") for r in found["results"] if "chosen" in r
    ]  # fmt: skip
    return [
        Table(("C", "training error", "test error", "support vectors"), rows),
        Table(("search", "C chosen", "cross-validated error", "test error"), choices),
    ]


def sentiment_curves() -> list[str]:
    """The cross-validated error over C of every split, as SVG."""
    import numpy as np

    from maxmargin.show.drawers.draw_svg import draw
    from maxmargin.show.scene import Axis, Line, Points, Scene

    found = json.loads((RESULTS / "sentiment.json").read_text(encoding="utf-8"))["results"]
    splits = [r for r in found if "curve" in r]
    marks: list[Any] = []
    for number, split in enumerate(splits):
        C, error = np.array(split["curve"]).T
        paint = f"class {number}"
        marks.append(Line(C, 100 * error, paint, f"split {number}"))
        marks.append(Points([split["chosen"]], [100 * split["cv_error"]], paint, size=8.0))
    words = "Cross-validated error of sentences over C, five splits; every choice is marked."
    axes = Axis("C", log=True), Axis("cross-validated error, %")
    return [draw(Scene("error over C", *axes, tuple(marks), words))]


def crossover(found: Any) -> list[Table]:
    rows = [
        (str(r["n"]), str(r["k"]), seconds(r["columns"]), seconds(r["rows"]),
         ratio(r["columns"] / r["rows"]), small(r["difference"]), r["chosen"])
        for r in found["results"]
    ]  # fmt: skip
    heads = ("n", "k", "k × k equations", "n × n equations", "ratio", "largest difference",
             "what LeastSquaresClassifier solves, by")  # fmt: skip
    return [Table(heads, rows)]


def crossover_curves() -> list[str]:
    """Seconds of both systems over k, as SVG, with their orders through the last measurement."""
    import numpy as np

    from maxmargin.show.drawers.draw_svg import draw
    from maxmargin.show.scene import Axis, Line, Points, Scene

    found = json.loads((RESULTS / "crossover.json").read_text(encoding="utf-8"))["results"]
    k, n = np.array([r["k"] for r in found], dtype=float), float(found[0]["n"])
    orders = {"columns": n * k**2 + k**3, "rows": n**2 * k + n**3}
    names = {"columns": "k × k: O(nk² + k³)", "rows": "n × n: O(n²k + n³)"}
    marks: list[Any] = []
    for number, (key, order) in enumerate(orders.items()):
        taken = np.array([r[key] for r in found])
        marks.append(Line(k, taken[-1] / order[-1] * order, f"class {number}", None, "dashed", 1.0))
        marks.append(Line(k, taken, f"class {number}", names[key]))
        marks.append(Points(k, taken, f"class {number}"))
    words = (
        f"Seconds of the two normal equations for {n:.0f} rows over the number k of columns: below "
        f"k = n the k × k system is quicker, above it the n × n system. Dashed: their orders."
    )
    axes = Axis("columns k", log=True), Axis("seconds", log=True)
    return [draw(Scene(f"n = {n:.0f} rows", *axes, tuple(marks), words))]


def curves(found: Any) -> list[Table]:
    """Where the ratio is best and worst on every curve."""
    heads = ("family", "curve", "peer", "ours / peer, lowest to highest", "largest", "solvers")
    return [Table(heads, [_curve(r) for r in found["results"]])]


def _curve(result: dict) -> tuple[str, ...]:
    met = [p for p in result["points"] if p["peer"]]
    ratios = sorted(p["ours"] / p["peer"] for p in met)
    span = f"{ratio(ratios[0])} to {ratio(ratios[-1])}" if ratios else "–"
    last = result["points"][-1]
    largest = f"{last['at']:g}: {seconds(last['ours'])}, {seconds(last['peer'])}"
    solvers = dict.fromkeys(p["solver"] for p in result["points"])
    return result["case"], result["axis"], result["who"], span, largest, ", ".join(solvers)


def cost_curves() -> list[str]:
    """Seconds over n, d, k, nnz or C, ours and the peer's, a picture for every curve."""
    import numpy as np

    from maxmargin.show.drawers.draw_svg import draw
    from maxmargin.show.scene import Axis, Line, Points, Scene

    found = json.loads((RESULTS / "curves.json").read_text(encoding="utf-8"))["results"]
    pictures = []
    for result in found:
        at = np.array([p["at"] for p in result["points"]])
        marks: list[Any] = []
        for number, (key, name) in enumerate((("ours", "maxmargin"), ("peer", result["who"]))):
            taken = np.array([p[key] or np.nan for p in result["points"]], dtype=float)
            marks.append(Line(at, taken, f"class {number}", name))
            marks.append(Points(at, taken, f"class {number}"))
        words = f"{result['case']}: seconds over {result['axis']}, ours and {result['who']}."
        axes = Axis(result["axis"], log=True), Axis("seconds", log=True)
        pictures.append(draw(Scene(result["case"], *axes, tuple(marks), words)))
    return pictures


def accelerate(found: Any) -> list[Table]:
    """Only programs of which scikit-learn needs a second or more; and the whole in a line."""
    slow = [r for r in found["results"] if r["sklearn"] >= 1.0]
    rows = [
        (r["case"], seconds(r["ours"]), seconds(r["sklearn"]), seconds(r["sklearnex"]),
         ratio(r["ours"] / r["sklearn"]), small(r["gap"]), small(r["their_excess"]))
        for r in sorted(slow, key=lambda r: r["ours"] / r["sklearn"])
    ]  # fmt: skip
    heads = ("program", "with maxmargin", "scikit-learn", "scikit-learn-intelex", "ratio",
             "certified gap", "scikit-learn above the optimum")  # fmt: skip
    quicker = sum(r["ours"] < r["sklearn"] for r in found["results"])
    title = f"Programs of a second or more; of all {len(found['results'])}, {quicker} are quicker"
    return [Table(heads, rows, title)]


def accelerate_same(found: Any) -> list[Table]:
    """A line for every model, over all data on which scikit-learn converged."""
    of: dict[str, list[dict]] = {}
    for r in found["results"]:
        of.setdefault(r["case"].split(": ", 1)[1], []).append(r)
    rows = [_alike(model, [r for r in some if r["converged"]]) for model, some in of.items()]
    rows.append(_alike("all", [r for r in found["results"] if r["converged"]]))
    heads = ("model", "data sets", "of them solved by maxmargin", "held-out rows",
             "predicted differently")  # fmt: skip
    return [Table(heads, rows)]


def _alike(model: str, some: list[dict]) -> tuple[str, ...]:
    solved, rows, changed = (
        sum(r[name] for r in some) for name in ("by_maxmargin", "rows", "changed")
    )
    return model, str(len(some)), str(solved), f"{rows:,}", str(changed)


def chances(found: Any) -> list[Table]:
    mean = found["results"][0]
    told = {"ours": "maxmargin", "sigmoid": "CalibratedClassifierCV, sigmoid",
            "isotonic": "CalibratedClassifierCV, isotonic", "mapie": "MAPIE"}  # fmt: skip
    rows = [
        (name, *(_decimal(mean[who].get(key), 3) for key in ("log_loss", "brier", "coverage",
         "size")), _decimal(mean[who]["median_fits"], 1)) for who, name in told.items()
        if who in mean
    ]  # fmt: skip
    heads = ("who", "log loss", "Brier score", "coverage asked 0.9", "labels a set",
             "time, in fits of the plain model (median)")  # fmt: skip
    return [Table(heads, rows, f"Means over {mean['data sets']} data sets")]


def _decimal(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def perceptrons(found: Any) -> list[Table]:
    rows = [
        (r["case"], seconds(r["ours_seconds"]),
         r["peer"] if r["peer_seconds"] is None else f"{r['peer']}: {seconds(r['peer_seconds'])}",
         ratio(r["ratio"])) for r in found["results"]
    ]  # fmt: skip
    return [Table(("what", "maxmargin", "beside", "ratio"), rows)]


def many_fits(found: Any) -> list[Table]:
    names = ("fit_many", "all cores, by the clock", "LinearSVM", "LinearSVC", "SVC")
    rows = [(r["case"], *(seconds(1e-6 * r[name]) for name in names)) for r in found["results"]]
    heads = ("fits", "fit_many", "with all cores, by the clock", "LinearSVM in a loop",
             "LinearSVC in a loop", "linear SVC in a loop")  # fmt: skip
    return [Table(heads, rows)]


def leave_one_out(found: Any) -> list[Table]:
    rows = [
        (r["name"], seconds(r["fit_seconds"]), ratio(r["ratio"]["cpu"]), ratio(r["ratio"]["wall"]),
         small(r.get("tolerance", r.get("relative_gap"))))
        for r in found["results"]
    ]  # fmt: skip
    heads = ("what", "one fit", "in fits, by processor", "in fits, by the clock",
             "proved to, in scores (forgetting: relative gap)")  # fmt: skip
    return [Table(heads, rows)]


def probes(found: Any) -> list[Table]:
    paths = {name: run for name, run in found.items() if name.startswith("path ")}
    rows = [
        (name.removeprefix("path "), f"{run['rows']:,}", f"{run['certified']} of {run['of']}",
         seconds(run["seconds"]), f"{run['peak_GB']:.1f} GB", f"{100 * run['share']:.0f} %")
        for name, run in paths.items()
    ]  # fmt: skip
    heads = ("labels", "rows", "values of C proved to 1e-4", "the whole path", "peak memory",
             "of the card's measured rate")  # fmt: skip
    return [Table(heads, rows), _peers_on_the_card(found)]


def _peers_on_the_card(found: Any) -> Table:
    """One fit at C = 1, a fifth of the labels random: until each is within 1e-4 of the optimum."""
    rows = [
        (f"{run['rows']:,}", seconds(run["ours"]), small(run["gap"]), seconds(run["torch LBFGS"]),
         small(run["torch LBFGS above the optimum"]), seconds(run["scikit-learn lbfgs"]),
         small(run["scikit-learn above the optimum"]))
        for name, run in found.items() if name.startswith("peers")
    ]  # fmt: skip
    heads = ("rows", "ours", "certified gap", "torch LBFGS, float32", "above the optimum",
             "scikit-learn lbfgs on the card", "above the optimum")  # fmt: skip
    return Table(heads, rows)


def anything(found: Any) -> list[Table]:
    """A file of a shape of its own: every case with its numbers by name."""
    results = found["results"] if isinstance(found, dict) else found
    rows = [
        (str(r.get("case", "")), "; ".join(_numbers({k: v for k, v in r.items() if k != "case"})))
        for r in results
    ]
    return [Table(("case", "measured"), rows)]


def _numbers(values: dict, before: str = "") -> list[str]:
    told = []
    for key, value in values.items():
        if isinstance(value, dict):
            told += _numbers(value, f"{before}{key} ")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            told.append(f"{before}{key} {value:.3g}")
        elif isinstance(value, str):
            told.append(f"{before}{key}: {value}")
    return told
