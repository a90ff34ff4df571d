"""The lecture's experiment on sentences: its table over C, and the cross-validated curve.

    python -m benchmarks.sentiment --data folder      # with sentiment_labelled/full_set.txt

Five splits into 2,500 and 500 sentences; the table is that of the first, the choices are of all.
"""

import argparse
from pathlib import Path

import numpy as np

from maxmargin import read_sentences, text_experiment

from .run import save

SEEDS = range(5)
# Eight values of C a power of ten: the lecture chose 0.32 = 10^-0.5 on such a grid.
FINE_GRID = np.logspace(-3, 3.5, 53)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data / "sentiment_labelled"
    sentences = read_sentences(sorted(folder.glob("full_set.txt*"))[0])
    table = text_experiment(*sentences, random_state=0)
    results: list[dict] = [{"case": f"C = {row['C']:g}", **row} for row in table.rows]
    for seed in SEEDS:
        found = text_experiment(*sentences, FINE_GRID, random_state=seed)
        curve = 1.0 - found.model.scores_.mean(axis=0)
        results.append({
            "case": f"split {seed}, five folds, {len(FINE_GRID)} values of C", "chosen": found.C,
            "cv_error": float(curve.min()), "chosen_test_error": found.test_error,
            "curve": [[float(C), float(e)] for C, e in zip(FINE_GRID, curve, strict=True)],
        })  # fmt: skip
        print(results[-1]["case"], found.C, curve.min(), found.test_error)
    print(f"written: {save(results, 'sentiment.json')}")


if __name__ == "__main__":
    main()
