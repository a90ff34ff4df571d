"""The source in figures: what is counted, read from the syntax tree.

python -m tests.house.figures [folder of the package]
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "maxmargin"
# More parameters than these are a record that nobody has named yet.
MANY_PARAMETERS = 6
# Decorators of what numba or triton compiles.
COMPILED = re.compile(r"\b(njit|jit|intrinsic|rule)\b")
# Doors: their parameters are promises to users.
COMMANDS = "app/cli/"
# Estimators over parts bear the names of those in memory, as users of `maxmargin.spread` expect.
SAME_ON_PURPOSE = "parts/dask/"


@dataclass
class Figures:
    """What is counted of a package."""

    folders: int = 0
    largest_folder: int = 0
    files: int = 0
    lines: int = 0
    longest_file: int = 0
    functions: list[int] = field(default_factory=list)  # lines of each, sorted
    many_compiled: list[str] = field(default_factory=list)
    many_public: list[str] = field(default_factory=list)
    many_private: list[str] = field(default_factory=list)
    twice: dict[str, list[str]] = field(default_factory=dict)  # class names with two meanings
    certificates: int = 0
    biases: int = 0
    losses: int = 0

    def quantile(self, share: float) -> int:
        return self.functions[min(int(share * len(self.functions)), len(self.functions) - 1)]


def count(package: Path = PACKAGE) -> Figures:
    """Everything counted of ``package``."""
    sources = {
        path.relative_to(package).as_posix(): path.read_text()
        for path in sorted(package.rglob("*.py"))
    }
    found = Figures(files=len(sources))
    offered = {
        (name, module.replace(".", "/") + ".py")
        for name, module in re.findall(r'"(\w+)": "([\w.]+)"', sources["__init__.py"])
    }
    in_folder: dict[str, int] = defaultdict(int)
    classes: dict[str, list[str]] = defaultdict(list)
    for name, text in sources.items():
        in_folder[name.rpartition("/")[0]] += 1
        found.lines += (lines := len(text.splitlines()))
        found.longest_file = max(found.longest_file, lines)
        found.certificates += len(re.findall(r"(?<!\w)Certificate\(", text))
        found.biases += len(re.findall(r"\bis (?:not )?Bias\.", text))
        found.losses += len(re.findall(r"isinstance\((?:\w+\.)?loss\b", text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                public = (node.name, name) in offered or _is_door(node.name, name)
                _count_function(found, node, name, public)
            elif isinstance(node, ast.ClassDef) and SAME_ON_PURPOSE not in name:
                classes[node.name].append(name)
    found.functions.sort()
    found.folders = len({name.split("/")[0] for name in sources if "/" in name})
    found.largest_folder = max(in_folder.values())
    found.twice = {name: files for name, files in classes.items() if len(files) > 1}
    return found


def _count_function(found: Figures, node, file: str, public: bool) -> None:
    found.functions.append((node.end_lineno or node.lineno) - node.lineno + 1)
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    own = names[:1] in (["self"], ["cls"])
    if len(names) - own <= MANY_PARAMETERS:
        return
    place = f"{file}:{node.lineno} {node.name} {len(names) - own}"
    if any(COMPILED.search(ast.unparse(each)) for each in node.decorator_list):
        found.many_compiled.append(place)
    elif public:
        found.many_public.append(place)
    else:
        found.many_private.append(place)


def _is_door(name: str, file: str) -> bool:
    """Whether users call it: commands, estimators and displays."""
    if file.startswith(COMMANDS) or file.startswith("cli/"):
        return not name.startswith("_")
    estimators = file.startswith(("models/", "estimators/", "select/", "spread/"))
    if estimators and name == "__init__":
        return True
    return file.startswith("show/") and name.startswith("from_")


def main() -> None:
    found = count(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
    print(f"folders at the top       {found.folders}")
    print(f"files in the largest     {found.largest_folder}")
    print(f"files                    {found.files}")
    print(f"lines, of the longest    {found.lines}, {found.longest_file}")
    print(f"functions                {len(found.functions)}")
    lengths = ", ".join(str(found.quantile(share)) for share in (0.5, 0.9, 1))
    print(f"lines p50, p90, max      {lengths}")
    print(f"more than six parameters {len(found.many_private)} of our own, "
          f"{len(found.many_compiled)} compiled, {len(found.many_public)} doors")  # fmt: skip
    print(f"class names used twice   {len(found.twice)}")
    print(f"Certificate(             {found.certificates}")
    print(f"is Bias.X                {found.biases}")
    print(f"isinstance(loss          {found.losses}")
    for place in (*found.many_private, *found.twice):
        print("   ", place)


if __name__ == "__main__":
    main()
