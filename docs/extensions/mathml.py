"""Formulas as MathML, which browsers draw themselves: no script, no font, no other host."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import latex2mathml


def mathml(formula: str, block: bool) -> str:
    """A LaTeX formula as MathML; what docutils cannot read is an error of the page."""
    return latex2mathml.tex2mathml(formula, as_block=block)


def visit_inline(translator, node) -> None:
    translator.body.append(mathml(node.astext(), False))
    raise nodes.SkipNode


def visit_block(translator, node) -> None:
    translator.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), True)}</div>')
    raise nodes.SkipNode


def setup(app) -> dict:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
