"""Probes on a card: paths of C, fits from nothing, folds and labels, each certified.

    python -m benchmarks.probes --out probes.json --seconds 150

Data are made on the card: a decaying spectrum; labels well apart, close, or close with a fifth of
them random.  ``share`` is the time the products alone take at the card's measured rates, over the
time of the fits.  Sections that no time is left for are left out, and what is done is written.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import traceback
import warnings
from pathlib import Path

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it before it takes tensors

import sklearn
import torch
from sklearn.linear_model import LogisticRegression as TheirLogistic

from maxmargin import LinearSVM, LogisticRegression, LogisticRegressionCV, probe
from maxmargin.core.problem.class_losses import Softmax
from maxmargin.core.problem.problem import Bias
from maxmargin.core.problem.torch_outputs import SoftmaxOutputs
from maxmargin.core.problem.torch_problem import TorchProblem
from maxmargin.core.rows.torch_design import TorchDesign
from maxmargin.core.rows.torch_rows import Precision, TorchRows
from maxmargin.core.solve.contract import Monitor
from maxmargin.core.solve.softmax.torch_form import solve_torch
from maxmargin.core.solve.softmax.torch_newton import HESSIAN_PARTS, TorchNewton
from maxmargin.core.solve.softmax.torch_path import solve_path

from .record import about

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
CS = [10.0 ** (-6.0 + 0.25 * i) for i in range(45)]
KINDS = {"noisy": (0.3, 0.2), "close": (0.3, 0.0), "apart": (0.6, 0.0)}
# Seconds that one value of C may take on a path.
MOST_SECONDS = 10.0


def make(n, d, k, kind, dtype=torch.bfloat16, seed=0):
    """Rows around k means, and labels."""
    apart, noise = KINDS[kind]
    rng = torch.Generator(DEVICE).manual_seed(seed)
    spectrum = (1.0 + torch.arange(d, device=DEVICE)) ** -0.5
    spectrum *= math.sqrt(d) / spectrum.norm()
    means = apart * torch.randn(k, d, device=DEVICE, generator=rng)
    y = torch.randint(k, (n,), device=DEVICE, generator=rng)
    X = torch.empty(n, d, dtype=dtype, device=DEVICE)
    for start in range(0, n, 65_536):
        part = slice(start, min(n, start + 65_536))
        Z = torch.randn(part.stop - start, d, device=DEVICE, generator=rng)
        X[part] = ((means[y[part]] + Z) * spectrum).to(dtype)
    if noise:
        wrong = torch.rand(n, device=DEVICE, generator=rng) < noise
        y = torch.where(wrong, torch.randint(k, (n,), device=DEVICE, generator=rng), y)
    return X, y


def pose(X, y, k, C=1.0):
    design = TorchDesign(TorchRows(X), None, True)
    return TorchProblem(design, SoftmaxOutputs(y, k), C, Softmax(), Bias.FREE, "softmax")


def now() -> float:
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def rate(dtype, n=65_536, d=1024, k=1000) -> float:
    """Multiplications and additions a second of X V."""
    A, B = torch.randn(n, d, device=DEVICE).to(dtype), torch.randn(d, k, device=DEVICE).to(dtype)
    A @ B
    began = now()
    for _ in range(10):
        A @ B
    return 10 * 2.0 * n * d * k / (now() - began)


class Count:
    """Products that a search does, by kind, while it is watched."""

    def __init__(self):
        self.narrow = self.wide = 0
        self.hessians = self.fine = self.exact = 0

    def __enter__(self):
        self.look, self.hessian = TorchNewton.look, TorchNewton.hessian
        count = self

        def look(search, W, b, precision):
            count.fine += precision is Precision.FINE
            count.exact += precision is Precision.EXACT
            count.narrow += 5 * (precision is Precision.FINE)
            count.wide += 2 * (precision is Precision.EXACT)
            return count.look(search, W, b, precision)

        def hessian(search, V):
            kind = HESSIAN_PARTS[search.kind]
            count.hessians += 1
            count.narrow += 0 if kind is None else sum(kind)
            count.wide += 2 if kind is None else 0
            return count.hessian(search, V)

        TorchNewton.look, TorchNewton.hessian = look, hessian
        return self

    def __exit__(self, *_):
        TorchNewton.look, TorchNewton.hessian = self.look, self.hessian


class Bench:
    def __init__(self, out: Path | None, seconds: float, n: int, only: str = ""):
        self.out, self.until, self.n = out, time.perf_counter() + seconds, n
        self.only = only
        device = torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu"
        self.told: dict = about() | {"device": device}

    def run(self, name: str, body, *args) -> None:
        if time.perf_counter() > self.until or (self.only not in name and name != "rates"):
            return
        try:
            self.told[name] = body(*args)
        except Exception as error:
            self.told[name] = {"failed": repr(error)[:300]}
            traceback.print_exc()
        print(name, json.dumps(_short(self.told[name])), flush=True)
        if self.out is not None:
            self.out.write_text(json.dumps(self.told, indent=1) + "\n")
        if DEVICE == "cuda":
            torch.cuda.empty_cache()

    def rates(self) -> dict:
        self.narrow, self.wide = rate(torch.bfloat16), rate(torch.float64)
        return {"bfloat16": self.narrow, "float64": self.wide}

    def path(self, kind: str, seconds: float) -> dict:
        """All C upwards on 1,024 columns and 1,000 classes, each to 1e-4."""
        d, k = 1024, 1000
        X, y = make(self.n, d, k, kind)
        if DEVICE == "cuda":
            torch.cuda.reset_peak_memory_stats()
        lines, flops = [], 2.0 * self.n * d * k
        with Count() as count:
            began = last = now()
            monitor = lambda: Monitor(tol=1e-4, max_iter=200, max_seconds=MOST_SECONDS)  # noqa: E731
            for C, found in zip(CS, solve_path(pose(X, y, k), CS, monitor), strict=False):
                at = now()
                proof = found.certificate
                lines.append({
                    "C": C, "gap": proof.relative_gap, "rounding": proof.rounding / proof.primal,
                    "seconds": at - last, "steps": found.n_iter, "ending": found.ending.name,
                })  # fmt: skip
                last = at
                if at - began > seconds:
                    break
        total = last - began
        ideal = flops * (count.narrow / self.narrow + count.wide / self.wide)
        peak = torch.cuda.max_memory_allocated() / 1e9 if DEVICE == "cuda" else None
        return {
            "rows": self.n, "seconds": total, "certified": sum(x["gap"] <= 1e-4 for x in lines),
            "of": len(lines), "share": ideal / total, "peak_GB": peak, "hessians": count.hessians,
            "fine": count.fine, "exact": count.exact, "values": lines,
        }  # fmt: skip

    def cold(self, kind: str) -> list:
        """One fit from nothing."""
        X, y = make(self.n, 1024, 1000, kind)
        lines = []
        for C in (0.01, 1.0, 100.0):
            began = now()
            found = solve_torch(pose(X, y, 1000, C), Monitor(tol=1e-4, max_seconds=15.0))
            lines.append({
                "C": C, "seconds": now() - began, "gap": found.certificate.relative_gap,
                "ending": found.ending.name, "steps": found.n_iter,
            })  # fmt: skip
            print("  cold", lines[-1], flush=True)
        return lines

    def machine(self, kind: str, rule: str, tol: float = 1e-3) -> dict:
        """LinearSVM with 1,000 classes: every C from nothing, and the one that is best on 20,000
        other rows."""
        d, k = 1024, 1000
        X, y = make(self.n + 20_000, d, k, kind)
        test, z = X[self.n :], y[self.n :]
        lines = []
        for C in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1):
            if DEVICE == "cuda":
                torch.cuda.reset_peak_memory_stats()
            with Count() as count:
                began = now()
                model = LinearSVM(C, multiclass=rule, tol=tol, max_seconds=40.0)
                model.fit(X[: self.n], y[: self.n])
                seconds = now() - began
            lines.append({
                "C": C, "seconds": seconds, "gap": model.certificate_.relative_gap,
                "steps": model.n_iter_, "hessians": count.hessians, "fine": count.fine,
                "exact": count.exact, "rounding": model.certificate_.rounding,
                "right": float((model.predict(test) == z).double().mean()),
                "peak_GB": torch.cuda.max_memory_allocated() / 1e9 if DEVICE == "cuda" else None,
            })  # fmt: skip
            print("  machine", kind, rule, lines[-1], flush=True)
        best = max(lines, key=lambda line: line["right"])
        return {"rows": self.n, "tol": tol, "best": best, "values": lines}

    def two_classes(self) -> dict:
        """LinearSVM with two classes, a fifth of the labels wrong: on the card, and 200,000 × 256
        of float32 both on the card and on the CPU, where a first fit has compiled."""
        told: dict = {}
        X, y = make(self.n, 1024, 2, "noisy")
        for C, tol in ((1e-3, 1e-3), (1.0, 1e-3), (1e-3, 1e-6), (1.0, 1e-6)):
            told[f"all rows, C={C:g}, tol={tol:g}"] = _timed(LinearSVM(C, tol=tol), X, y)
        X, y = make(200_000, 256, 2, "noisy", torch.float32)
        Z, z = X.cpu().numpy(), y.cpu().numpy()
        LinearSVM(1e-3, tol=1e-3).fit(Z[:3000], z[:3000])
        for tol in (1e-3, 1e-6):
            for name, rows, labels in (("card", X, y), ("CPU", Z, z)):
                model = LinearSVM(1e-2, tol=tol, max_seconds=60.0)
                told[f"200,000 × 256 on the {name}, tol={tol:g}"] = _timed(model, rows, labels)
        return told

    def folds(self) -> dict:
        """45 C times 5 folds on 100,000 × 768 with 100 classes, every fit to 1e-4."""
        X, y = make(100_000, 768, 100, "noisy")
        began = now()
        found = LogisticRegressionCV(CS, cv=5, tol_cv=1e-4, tol=1e-4, max_seconds=1.0).fit(X, y)
        gaps = found.cv_results_["max_relative_gap"]
        return {
            "seconds": now() - began, "C": found.C_, "certified": int((gaps <= 1e-4).sum()),
            "of": len(gaps), "gaps": gaps.tolist(),
            "fit_seconds": (5 * found.cv_results_["mean_fit_time"]).tolist(),
        }  # fmt: skip

    def labels(self) -> dict:
        """1,000 labels of 100,000 × 768, logistic, to 1e-4."""
        X, _ = make(100_000, 768, 100, "noisy")
        rng = torch.Generator(DEVICE).manual_seed(1)
        V = torch.randn(768, 1000, device=DEVICE, generator=rng) / 20
        Y = X.float() @ V + torch.randn(len(X), 1000, device=DEVICE, generator=rng) > 1.0
        began = now()
        found = LogisticRegression(1.0, tol=1e-4, max_seconds=20.0).fit(X, Y)
        proof = found.certificate_
        return {"seconds": now() - began, "gap": proof.relative_gap, "steps": found.n_iter_}

    def protocol(self) -> dict:
        """The DINO protocol whole: 45 C on nine tenths to 1e-4, the best on all rows to 1e-6."""
        X, y = make(self.n + 20_000, 1024, 1000, "close")
        began = now()
        found = probe(X[: self.n], y[: self.n], "dino", X_test=X[self.n :], y_test=y[self.n :])
        return {
            "seconds": now() - began, "C": found.C, "accuracy": found.accuracy,
            "gap": found.certificate.relative_gap, "proved": found.proved,
            "certified": int((found.gaps <= 1e-4).sum()), "of": len(found.gaps),
        }  # fmt: skip

    def peers(self, n: int, d: int, k: int, seconds: float) -> dict:
        """Ours, torch.optim.LBFGS in float32 and scikit-learn's lbfgs on the card, C = 1.

        How long each takes until its objective is within 1e-4 of the optimum, relatively.
        (scikit-learn takes newton-cg to a card from version 1.10 on.)
        """
        X, y = make(n, d, k, "noisy")
        solve = LogisticRegression(1.0, tol=1e-4)
        began = now()
        ours = solve.fit(X, y)
        told = {"rows": n, "ours": now() - began, "gap": ours.certificate_.relative_gap}
        # A tighter fit tells how far the others are.
        optimum = LogisticRegression(1.0, tol=1e-7, max_seconds=30.0).fit(X, y).certificate_
        Z = X.float()
        told |= self._torch_lbfgs(Z, y, k, optimum.dual, seconds)
        return told | self._scikit_learn(Z, y, optimum.dual, seconds)

    def _torch_lbfgs(self, Z, y, k: int, dual: float, seconds: float) -> dict:
        W = torch.zeros(Z.shape[1], k, device=DEVICE, requires_grad=True)
        b = torch.zeros(k, device=DEVICE, requires_grad=True)
        steps = torch.optim.LBFGS(
            [W, b], max_iter=20, history_size=10, line_search_fn="strong_wolfe"
        )

        def closure():
            steps.zero_grad()
            loss = torch.nn.functional.cross_entropy(Z @ W + b, y, reduction="sum")
            total = (loss + 0.5 * W.square().sum()) / len(y)
            total.backward()
            return total

        began, above = now(), math.inf
        while now() - began < seconds and above > 1e-4:
            steps.step(closure)
            above = float(closure().detach() * len(y)) / dual - 1.0
        return {"torch LBFGS": now() - began, "torch LBFGS above the optimum": above}

    def _scikit_learn(self, Z, y, dual: float, seconds: float) -> dict:
        """Ever more iterations, for it has no other way to end where we look."""
        spent, above, iterations = 0.0, math.inf, 50
        with sklearn.config_context(array_api_dispatch=True):
            while spent < seconds and above > 1e-4:
                began = now()
                model = TheirLogistic(C=1.0, tol=1e-12, max_iter=iterations).fit(Z, y)
                spent, iterations = now() - began, 2 * iterations
                above = objective(Z, y, model) / dual - 1.0
        return {"scikit-learn lbfgs": spent, "scikit-learn above the optimum": above}

    def quality(self) -> dict:
        """Test rows right: ours of bfloat16 rows, scikit-learn's of the same in float64."""
        X, y = make(100_000, 768, 100, "noisy")
        train, test = slice(0, 80_000), slice(80_000, None)
        ours = LogisticRegression(0.01).fit(X[train], y[train])
        Z, z = X.double().cpu().numpy(), y.cpu().numpy()
        theirs = TheirLogistic(C=0.01, tol=1e-6, max_iter=500).fit(Z[train], z[train])
        mine = float((ours.predict(X[test]) == y[test]).double().mean())
        return {"ours": mine, "scikit-learn": float(theirs.score(Z[test], z[test]))}


def objective(Z, y, model) -> float:
    """½‖W‖² + Σ losses, in float64, by pieces."""
    W, b = (torch.as_tensor(a, device=DEVICE).double() for a in (model.coef_, model.intercept_))
    total = 0.5 * float(W.square().sum())
    for start in range(0, len(y), 65_536):
        part = slice(start, start + 65_536)
        f = Z[part].double() @ W.T + b
        total += float(torch.nn.functional.cross_entropy(f, y[part], reduction="sum"))
    return total


def _timed(model, X, y) -> dict:
    began = now()
    model.fit(X, y)
    seconds = now() - began
    return {"seconds": seconds, "gap": model.certificate_.relative_gap, "steps": model.n_iter_}


def _short(told):
    return {k: v for k, v in told.items() if k != "values"} if isinstance(told, dict) else told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rows", type=int, default=1_281_167)
    parser.add_argument("--only", default="", help="sections whose name contains this, and rates")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    bench = Bench(asked.out, asked.seconds, asked.rows, asked.only)
    bench.run("rates", bench.rates)
    bench.run("labels", bench.labels)
    bench.run("path noisy", bench.path, "noisy", 40.0)
    bench.run("cold noisy", bench.cold, "noisy")
    bench.run("machine max noisy", bench.machine, "noisy", "max")
    bench.run("machine max close", bench.machine, "close", "max")
    bench.run("machine sum noisy", bench.machine, "noisy", "sum")
    bench.run("machine rest noisy", bench.machine, "noisy", "rest")
    bench.run("machine of two classes", bench.two_classes)
    bench.run("folds", bench.folds)
    bench.run("path close", bench.path, "close", 30.0)
    bench.run("path apart", bench.path, "apart", 30.0)
    bench.run("protocol", bench.protocol)
    bench.run("peers, 200k rows", bench.peers, 200_000, 768, 100, 20.0)
    bench.run("peers", bench.peers, asked.rows, 1024, 1000, 40.0)
    bench.run("quality", bench.quality)


if __name__ == "__main__":
    main()
