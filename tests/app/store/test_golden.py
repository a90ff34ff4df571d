"""Files of earlier formats keep loading, and predict what they predicted."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import maxmargin as mm

from .golden.make_golden import TABLE, X

GOLDEN = Path(__file__).parent / "golden"
TOLD = json.loads((GOLDEN / "predictions-1.json").read_text())


@pytest.mark.parametrize("name", TOLD)
def test_format_one(name):
    model = mm.load(GOLDEN / f"{name}-1.maxmargin")
    rows = pa.table(TABLE) if name == "table" else X
    assert model.predict(rows).tolist() == TOLD[name]["labels"]
    np.testing.assert_allclose(model.decision_function(rows), TOLD[name]["scores"], rtol=1e-12)
