"""axe-core, which looks for what a keyboard, an ear or a weak eye would miss."""

from importlib.resources import files


def violations(page):
    """What axe has to complain of: rule and the first element it concerns."""
    script = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.evaluate(script)
    return page.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
