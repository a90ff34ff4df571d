"""Draw the pictures of the documentation:  python docs/pictures.py

Needs matplotlib (the extra ``plot``).
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LeastSquaresClassifier, LinearSVM

HERE = Path(__file__).parent
# Okabe and Ito's palette: told apart by colour-blind eyes and in print.
BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#E69F00", "#009E73", "#000000"


def outliers() -> None:
    """Distant points on the right side move the least-squares boundary, and not the SVM's."""
    rng = np.random.default_rng(0)
    left, right = rng.normal([-1.5, 0], 0.5, (40, 2)), rng.normal([1.5, 0], 0.5, (40, 2))
    far = rng.normal([9, -7], 0.5, (12, 2))
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True)
    cases = ((right, "two clouds"), (np.vstack([right, far]), "twelve distant, correct points"))
    for axis, (positive, title) in zip(axes, cases, strict=True):
        X = np.vstack([left, positive])
        y = np.repeat([0, 1], [len(left), len(positive)])
        axis.scatter(*left.T, c=BLUE, marker="o", s=18, label="class 0")
        axis.scatter(*positive.T, c=ORANGE, marker="^", s=18, label="class 1")
        for model, colour, style in (
            (LeastSquaresClassifier(), BLACK, "--"),
            (LinearSVM(C=1.0), GREEN, "-"),
        ):
            _boundary(axis, model.fit(X, y), colour, style)
        axis.set_title(title)
        axis.set_xlabel("$x_1$")
    axes[0].set_ylabel("$x_2$")
    axes[0].set_xlim(-4, 11)
    axes[0].set_ylim(-9, 5)
    axes[1].legend(loc="upper right", framealpha=1.0)
    figure.tight_layout()
    figure.savefig(HERE / "least_squares_outliers.png", dpi=120)


def _boundary(axis, model, colour: str, style: str) -> None:
    """The line w·x + b = 0."""
    (w1, w2), b = model.coef_[0], model.intercept_[0]
    x2 = np.array([-20.0, 20.0])
    name = type(model).__name__
    axis.plot(-(b + w2 * x2) / w1, x2, style, color=colour, label=name)


if __name__ == "__main__":
    outliers()
