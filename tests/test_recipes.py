"""The recipes of CONTRIBUTING.md, as they stand on the page."""

import importlib.util
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"


def test_the_recipes_work(tmp_path):
    """As a module of the tests: kernels for its losses are compiled, but not kept on disk."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert len(blocks) == 3
    path = tmp_path / "recipes.py"
    path.write_text("\n".join(blocks))
    spec = importlib.util.spec_from_file_location("tests.recipes", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert module.solution.certificate.holds(1e-6)
