"""A docstring in numpy's manner as nodes: paragraphs, sections of terms, examples."""

from __future__ import annotations

import re
from textwrap import dedent

from docutils import nodes

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n?", re.MULTILINE)
LITERAL = re.compile(r"``(.+?)``")


def docstring_nodes(text: str) -> list[nodes.Node]:
    """Everything a docstring says, headed sections after the opening."""
    opening, *rest = HEADING.split(text)
    found = prose(opening)
    for heading, body in zip(rest[::2], rest[1::2], strict=True):
        found.append(nodes.rubric(heading, heading, classes=["docstring"]))
        found += prose(body) if heading in ("Examples", "Notes", "References") else terms(body)
    return found


def prose(text: str) -> list[nodes.Node]:
    """Paragraphs; what is indented or begins with >>> is shown as it stands."""
    found: list[nodes.Node] = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        if not part.strip():
            continue
        if part.lstrip().startswith(">>>"):
            code = re.sub(r"\s*# doctest: \+\w+", "", dedent(part))
            found.append(nodes.literal_block(code, code, language="pycon"))
        elif all(line.startswith(" ") for line in part.splitlines()):
            found.append(nodes.literal_block(dedent(part), dedent(part), language="text"))
        else:
            found.append(nodes.paragraph("", "", *inline(part)))
    return found


def terms(text: str) -> list[nodes.Node]:
    """Lines at the margin are terms, indented lines say more; a paragraph without any is prose."""
    found: list[nodes.Node] = []
    for part in re.split(r"\n\s*\n(?=\S)", text.strip("\n")):
        lines = part.splitlines()
        if lines and not any(" : " in line or _names_only(line) for line in lines[:1]):
            found += prose(part)
            continue
        items = re.split(r"\n(?=\S)", part)
        found.append(nodes.definition_list("", *(_item(item) for item in items if item.strip())))
    return found


def _names_only(line: str) -> bool:
    return re.fullmatch(r"[\w, ]+", line) is not None


def _item(item: str) -> nodes.definition_list_item:
    head, _, more = item.partition("\n")
    term, colon, kind = head.partition(" : ")
    words: list[nodes.Node] = [nodes.literal(term, term)]
    body = dedent(more).strip()
    if colon and body and "default" in kind:
        words += [nodes.Text(" "), nodes.inline("", "", *inline(kind), classes=["kind"])]
    elif colon:
        body = f"{kind}\n{body}".strip()
    told = nodes.definition("", *(prose(body) or [nodes.paragraph()]))
    return nodes.definition_list_item("", nodes.term("", "", *words), told)


def inline(text: str) -> list[nodes.Node]:
    """Words, with ``code`` as code."""
    parts = LITERAL.split(" ".join(text.split()))
    return [
        nodes.literal(part, part) if index % 2 else nodes.Text(part)
        for index, part in enumerate(parts)
        if part
    ]
