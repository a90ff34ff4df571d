"""The cases of ``benchmarks.accelerate`` under scikit-learn-intelex."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path


def main() -> None:
    from sklearnex import patch_sklearn
    from threadpoolctl import threadpool_limits

    patch_sklearn()
    from daal4py import daalinit
    from sklearn.base import clone

    from .accelerate_cases import cases

    daalinit(1)
    folder, seconds = Path(sys.argv[1]) if len(sys.argv) > 1 else None, {}
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases(folder):
            taken = []
            for _ in range(2):
                model, began = clone(case.model), time.process_time()
                model.fit(case.X, case.y)
                taken.append(time.process_time() - began)
            seconds[case.name] = min(taken)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
