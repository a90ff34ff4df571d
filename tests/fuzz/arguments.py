"""Altered command lines: words that options do not expect, on a small table."""

from __future__ import annotations

import contextlib
import io
import random
import sys
from functools import lru_cache
from pathlib import Path

from .mutations import CELLS
from .run import Outcome, Subject

COMMANDS = {
    "fit": ["DATA", "-t", "label", "--C", "1", "--no-report"],
    "predict": ["MODEL", "DATA"],
    "evaluate": ["MODEL", "DATA"],
    "verify": ["MODEL", "DATA"],
    "inspect": ["MODEL"],
    "separable": ["DATA", "-t", "label"],
    "path": ["DATA", "-t", "label"],
    "compare": ["DATA", "-t", "label", "--methods", "fisher"],
    "rank": ["--top", "3"],
    "export": ["MODEL"],
    "version": [],
}
STRANGE_OPTIONS = ["--nonsense", "--", "-", "--debug", "--help", "-t"]
NUMERIC_OPTIONS = {
    "--C", "--tol", "--folds", "--holdout", "--seed", "--max-seconds", "--threads",
    "--top", "--port",
}  # fmt: skip
NUMBERS = ["0", "1", "2", "5", "-1", "0.5", "1e-300", "1e300", "1e9", "1000000", "inf", "nan", "x"]
VALUES = [
    "0", "1", "-1", "0.5", "inf", "nan", "1e-300", "1e300", "1e9", "label", "age", "town",
    "income", "svm",
    "logistic", "kernel-svm", "fisher", "perceptron", "max", "sum", "rest", "pairs", "rbf",
    "poly", "polar",
    "quadratic", "polynomial:2", "polynomial:99", "radial:3", "radial:-1", "csv", "npz", "svmlight",
    "DATA", "MODEL", "no such file", ".", "..", "/", "", "1GB", "1", "100MB", "fill", "drop",
    "refuse",
    "tfidf", "counts", "all", "as given", ",", "out.csv", "out.parquet", "out.xyz", "2", "5",
    "1000000",
]  # fmt: skip
# A fault of the program, and what a shell would show of a signal.
FAULTS = (70,)


@lru_cache
def options() -> dict[str, list[tuple[str, str]]]:
    """The options of every command, and whether each is a flag, a number or a word."""
    import typer

    from maxmargin.app.cli.app import app

    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        found[name] = [
            (option, "flag" if each.is_flag else _kind(option))
            for each in command.params
            if each.param_type_name == "option"
            for option in [*each.opts, *each.secondary_opts]
        ]
    return found


def _kind(option: str) -> str:
    return "number" if option in NUMERIC_OPTIONS else "word"


class Arguments(Subject):
    name = "arguments"
    seconds = 20.0
    needs = ("typer", "rich")

    def prepare(self) -> None:
        from .tables import bases

        Path("data.csv").write_bytes(bases()[0][1])
        said = self._run(["fit", "data.csv", "-t", "label", "--C", "1", "-o", "model.maxmargin"])
        if not Path("model.maxmargin").exists():
            raise AssertionError(said)

    def altered(self, seed: int, index: int) -> bytes:
        return "\n".join(self._words(seed, index)).encode(errors="surrogateescape")

    def _words(self, seed: int, index: int) -> list[str]:
        rng = random.Random(f"{seed}:{index}")
        command = rng.choice(sorted(COMMANDS))
        words = [command, *COMMANDS[command]]
        for _ in range(rng.choice([1, 1, 2, 3])):
            value = rng.choice(CELLS if rng.random() < 0.2 else VALUES)
            at = rng.randrange(1, len(words) + 1)
            kind = rng.randrange(12)
            if kind == 0 and at < len(words):
                words[at] = value
            elif kind == 1 and at < len(words):
                del words[at]
            elif kind == 2:
                words += [rng.choice(STRANGE_OPTIONS), value]
            elif options()[command]:
                words += self._option(rng, *rng.choice(options()[command]), value)
        names = {"DATA": "data.csv", "MODEL": "model.maxmargin"}
        return [names.get(word, word) for word in words]

    def _option(self, rng: random.Random, name: str, kind: str, value: str) -> list[str]:
        """An option of the command, mostly with a value of its type."""
        if kind == "flag":
            return [name]
        return [name, rng.choice(NUMBERS) if kind == "number" and rng.random() < 0.9 else value]

    def judge(self, altered: bytes, seed: int, index: int) -> Outcome:
        kept = {name: Path(name).read_bytes() for name in ("data.csv", "model.maxmargin")}
        words = self._words(seed, index)
        outcome = self._run(words)
        for name, content in kept.items():
            if Path(name).read_bytes() != content:
                Path(name).write_bytes(content)
                if words.count(name) > 1:  # it was read, too
                    return "uncaught", f"{name} was changed by {words}"
        return outcome

    def _run(self, words: list[str]) -> Outcome:
        from maxmargin.app.cli.app import main

        out, err, code = io.TextIOWrapper(io.BytesIO()), io.StringIO(), 0
        given = sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(b"age,label\n1,yes\n2,no\n"))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(words)
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        finally:
            sys.stdin = given
        if code in FAULTS or code not in (0, 1, 2):
            return "uncaught", f"code {code} of {words}: {err.getvalue()[-300:]}"
        if code == 2 and not err.getvalue().strip():
            return "uncaught", f"code 2 without a word of {words}"
        return ("refused" if code == 2 else "accepted"), err.getvalue()
