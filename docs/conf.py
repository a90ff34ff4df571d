"""The documentation site:  make docs  builds it into build/site, warnings being errors."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "extensions"))
sys.path.insert(0, str(ROOT))

os.environ.setdefault("MPLBACKEND", "agg")  # pages draw, nobody looks while they are built
# Commands call the program by its name where it is on the path, as readers have it.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

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
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}  # rst: what the examples become
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

# examples/plot_*.py run while the site is built; their pages are written to docs/examples.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
    "backreferences_dir": None,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": float("inf"),
    "write_computation_times": False,
    "copyfile_regex": "",
}

# Pages whose Python blocks run while the site is built; the others show what tests run elsewhere.
running_pages = ["lectures/*", "howto/*", "reference/*", "index"]
