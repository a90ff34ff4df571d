"""The documentation site:  make docs  builds it into build/site, warnings being errors."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "extensions"))
sys.path.insert(0, str(ROOT))

os.environ.setdefault("MPLBACKEND", "agg")  # pages draw, nobody looks while they are built

from tests.kernel_cache import use_kernel_cache  # noqa: E402

import maxmargin  # noqa: E402

use_kernel_cache()

project = "maxmargin"
author = "the authors of maxmargin"
version = release = maxmargin.__version__
extensions = [
    "myst_parser",
    "mathml",
    "running",
    "api",
    "commands",
    "measured",
    "studio_links",
    "headings",
]
exclude_patterns = ["_build", "gallery/*.md"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3

highlight_language = "text"
smartquotes = False  # "max" is a word of the code, quotes and all

html_title = "maxmargin"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_favicon = "../src/maxmargin/app/studio/static/icon.svg"
html_math_renderer = "mathml"
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

# Pages whose Python blocks run while the site is built; the others show what tests run elsewhere.
running_pages = ["lectures/*", "howto/*", "reference/*", "index"]
