"""Python blocks of chosen pages run while the site is built; output and pictures follow them."""

from __future__ import annotations

import hashlib
import html
import re
from fnmatch import fnmatch
from pathlib import Path

from docutils import nodes
from pages import Page, Ran, folder_of_its_own
from sphinx.errors import ExtensionError

# Pixels beyond which a picture has several panels, and is scrolled rather than shrunk on a phone.
WIDE = 560


class picture(nodes.General, nodes.Element):
    """A picture as SVG, made while building."""


def run_blocks(app, doctree) -> None:
    """Run the blocks of a page that is listed in ``running_pages``."""
    name = app.env.current_document.docname
    if not any(fnmatch(name, pattern) for pattern in app.config.running_pages):
        return
    page = Page(name)
    with folder_of_its_own():
        for block in list(doctree.findall(nodes.literal_block)):
            if block.get("language") == "python" and "signature" not in block["classes"]:
                _show(block, _ran(page, block))


def _ran(page: Page, block: nodes.literal_block) -> Ran:
    try:
        return page.run(block.astext())
    except Exception as error:
        place = f"{block.source}:{block.line}"
        raise ExtensionError(f"The block at {place} fails: {error!r}") from error


def _show(block: nodes.literal_block, ran: Ran) -> None:
    shown: list[nodes.Node] = [block]
    if ran.printed.strip():
        text = ran.printed.rstrip()
        shown.append(nodes.literal_block(text, text, language="text", classes=["printed"]))
    if ran.svg:
        shown.append(picture(svg=ran.svg))
    block.replace_self(shown)


def visit_picture(translator, node) -> None:
    """The picture goes to a file, for a page with many should not weigh megabytes."""
    svg = node["svg"]
    name = f"{hashlib.sha256(svg.encode()).hexdigest()[:16]}.svg"
    folder = Path(translator.builder.outdir, translator.builder.imagedir)
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(svg, encoding="utf-8")
    words = _tag(svg, "desc") or _tag(svg, "title")
    width, height = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg).groups()
    wide = ' class="wide"' if float(width) > WIDE else ""
    translator.body.append(
        f'<figure class="picture" tabindex="0"><img{wide} loading="lazy" '
        f'src="{translator.builder.imgpath}/{name}" '
        f'alt="{html.escape(html.unescape(words))}" width="{float(width):.0f}" '
        f'height="{float(height):.0f}"></figure>\n'
    )
    raise nodes.SkipNode


def _tag(svg: str, name: str) -> str:
    found = re.search(f"<{name}>(.*?)</{name}>", svg, re.DOTALL)
    return found.group(1) if found else ""


def setup(app) -> dict:
    app.add_config_value("running_pages", [], "env")
    app.add_node(picture, html=(visit_picture, None))
    app.connect("doctree-read", run_blocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
