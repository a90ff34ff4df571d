"""``python -m maxmargin.accelerate [options] script.py args…``, or ``-m module args…``."""

from __future__ import annotations

import os
import runpy
import sys

from .hook import install
from .record import fits

USAGE = """usage: python -m maxmargin.accelerate [options] (script.py | -m module) [arguments]

Runs a program with maxmargin solving inside scikit-learn's classes, and tells at the end
(on standard error) what was fitted, by whom and why.

  --compare           let scikit-learn solve every fit as well, and judge its answers
  --load-now          load the solvers at once, not when fits are large enough to earn it
  --report FILE.html  write the report as a page
  --json FILE.json    write every fit as JSON ("-": to standard output)
  --quiet             no report on standard error
"""


class Options:
    """What precedes the program on the command line."""

    def __init__(self, words: list[str]):
        self.compare = self.now = self.quiet = self.module = False
        self.report = self.json = ""
        self.program: list[str] = []
        self._read(list(words))

    def _read(self, words: list[str]) -> None:
        flags = {"--compare": "compare", "--load-now": "now", "--quiet": "quiet"}
        while words and words[0].startswith("-"):
            word = words.pop(0)
            if word in flags:
                setattr(self, flags[word], True)
            elif word in ("--report", "--json") and words:
                setattr(self, word[2:], words.pop(0))
            elif word == "-m" and words:
                self.module = True
                break
            else:
                _stop(word)
        if not words:
            _stop("")
        self.program = words


def _stop(word: str) -> None:
    """Print how to use it: as asked for, or because of a word that is no option."""
    if word in ("-h", "--help"):
        print(USAGE, end="")
        sys.exit(0)
    found = f"got {word!r}" if word else "no script was named"
    print(f"{USAGE}\n{found}.", file=sys.stderr)
    sys.exit(2)


def main() -> None:
    options = Options(sys.argv[1:])
    install(compare=options.compare, load="now" if options.now else "when needed")
    sys.argv = options.program
    try:
        if options.module:
            sys.path.insert(0, "")
            runpy.run_module(options.program[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.realpath(options.program[0]))
            runpy.run_path(options.program[0], run_name="__main__")
    finally:
        _tell(options)


def _tell(options: Options) -> None:
    from . import reports

    done = fits()
    if options.report:
        _write(options.report, reports.as_html(done))
    if options.json == "-":
        print(reports.as_json(done))
    elif options.json:
        _write(options.json, reports.as_json(done))
    if not options.quiet:
        print(reports.as_text(done), file=sys.stderr)


def _write(name: str, text: str) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
