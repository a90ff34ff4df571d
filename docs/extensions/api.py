"""`{api}`: public names with their signatures and docstrings.

    ```{api}
    LinearSVM
    spread.LinearSVM
    ```

A star stands for the names that no page lists.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from docstrings import docstring_nodes, inline
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import maxmargin
import maxmargin.spread


def public_names() -> set[str]:
    """Every name that users may import, as the directive spells it."""
    plain = {name for name in maxmargin.__all__ if not name.startswith("__")}
    return plain | {f"spread.{name}" for name in maxmargin.spread.__all__}


def listed_names() -> list[str]:
    """Every name that a page of this folder lists."""
    folder = Path(__file__).resolve().parent.parent / "reference" / "api"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))]
    blocks = [
        block for text in texts for block in re.findall(r"```{api}\n(.*?)```", text, re.DOTALL)
    ]
    return [name for block in blocks for name in block.split() if name != "*"]


def find(name: str) -> Any:
    """What a name stands for."""
    module, _, last = f"maxmargin.{name}".rpartition(".")
    return getattr(maxmargin.spread if module.endswith("spread") else maxmargin, last)


def signature(thing: Any, name: str) -> str:
    """``name(C=1.0, …)``: names and defaults, without types, which the words tell."""
    try:
        given = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return name
    shown = [
        p.replace(annotation=inspect.Parameter.empty, default=_readable(p.default))
        for p in given
        if p.name not in ("self", "cls")
    ]
    return f"{name}{inspect.Signature(shown)}"


def _readable(default: Any) -> Any:
    """A class as a default is told by its name."""
    if inspect.isclass(default) and default is not inspect.Parameter.empty:
        return type("Named", (), {"__repr__": lambda _: default.__name__})()
    return default


def methods(thing: type) -> list[tuple[str, Any]]:
    """Public methods and properties that the house defines, by name."""
    found = {}
    for owner in reversed(thing.__mro__):
        if owner.__module__.startswith("maxmargin"):
            found |= {
                key: member
                for key, member in vars(owner).items()
                if not key.startswith("_") and inspect.getdoc(_plain(member)) and _callable(member)
            }
    return sorted(found.items())


def _plain(member: Any) -> Any:
    return getattr(member, "fget", None) or getattr(member, "__func__", member)


def _callable(member: Any) -> bool:
    return inspect.isroutine(_plain(member))


class Api(SphinxDirective):
    """Sections, one for each name."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        names = [name for line in self.content for name in line.split()]
        if names == ["*"]:
            names = sorted(public_names() - set(listed_names()))
        return [self.section(name) for name in names]

    def section(self, name: str) -> nodes.section:
        thing, label = find(name), f"maxmargin.{name}"
        section = nodes.section(ids=[label], names=[label])
        section += nodes.title(name, name)
        code = signature(thing, name)
        section += nodes.literal_block(code, code, language="python", classes=["signature"])
        section += docstring_nodes(inspect.getdoc(thing) or "")
        if inspect.isclass(thing) and (found := methods(thing)):
            section += nodes.rubric("Methods", "Methods", classes=["docstring"])
            section += nodes.definition_list("", *(self.method(key, m) for key, m in found))
        self.note(name, label)
        return section

    def method(self, key: str, member: Any) -> nodes.definition_list_item:
        plain = _plain(member)
        code = key if isinstance(member, property) else signature(plain, key)
        first = (inspect.getdoc(plain) or "").split("\n\n")[0]
        told = nodes.definition("", nodes.paragraph("", "", *inline(first)))
        return nodes.definition_list_item("", nodes.term("", "", nodes.literal(code, code)), told)

    def note(self, name: str, label: str) -> None:
        """Other pages may link to it:  [LinearSVM](#maxmargin.LinearSVM)."""
        standard = self.env.get_domain("std")
        standard.anonlabels[label] = (self.env.current_document.docname, label)
        standard.labels[label] = (self.env.current_document.docname, label, name)


def setup(app) -> dict:
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
