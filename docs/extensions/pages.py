"""The Python blocks of a page, run one after another as a reader would: used by site and tests."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def python_blocks(text: str) -> list[str]:
    """The blocks fenced as ```python, from top to bottom."""
    return FENCE.findall(text)


@dataclass
class Ran:
    """What a block printed, and the picture it ended with, as SVG."""

    printed: str
    svg: str | None


@dataclass
class Page:
    """One page: its blocks share their names and a folder of their own, and nothing else."""

    name: str
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self, code: str) -> Ran:
        """Run a block.  A display as its last line is drawn; an assertion that fails is raised."""
        tree = ast.parse(code, self.name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, shown = io.StringIO(), None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, self.name, "exec"), self.names)
            if last is not None:
                shown = eval(compile(ast.Expression(last.value), self.name, "eval"), self.names)
        return Ran(printed.getvalue(), shown.svg() if hasattr(shown, "svg") else None)


@contextlib.contextmanager
def folder_of_its_own() -> Iterator[Path]:
    """A fresh folder to write to while a page runs; figures that it drew are closed."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(here)
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")


def run_page(path: Path) -> int:
    """Run all blocks of a page; the number of them."""
    page, blocks = Page(str(path)), python_blocks(path.read_text(encoding="utf-8"))
    with folder_of_its_own():
        for block in blocks:
            page.run(block)
    return len(blocks)


def assertions(text: str) -> int:
    """How many claims the blocks of a page assert."""
    trees = [ast.parse(block) for block in python_blocks(text)]
    return sum(isinstance(node, ast.Assert) for tree in trees for node in ast.walk(tree))
