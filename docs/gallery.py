"""Draw every picture of the gallery and write its page:  python docs/gallery.py  (make gallery)

Each function below makes one picture.  Its name is the file's, its docstring the heading and the
words, its body the code that the page shows: what is read there is what was run.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "gallery"
# Dots per inch, and colours kept: 25 pictures stay below 2 MB together.
DPI, COLOURS = 160, 128


def boundary():
    """Boundary, margins, slacks.

    The soft margin: support vectors are ringed by kind, and every slack is drawn from its point
    to the margin it misses, ξ/‖w‖ long.
    """
    from sklearn.datasets import make_blobs

    from maxmargin import BoundaryDisplay, LinearSVM

    X, y = make_blobs(100, centers=[[0, 0], [2.6, 1.2]], cluster_std=0.9, random_state=4)
    svm = LinearSVM(C=1.0).fit(X, y)
    return BoundaryDisplay.from_estimator(svm, X, y)


def regions():
    """Regions of k classes.

    Exact polygons, not pixels: each region is an intersection of half-planes.
    """
    from sklearn.datasets import make_blobs

    from maxmargin import BoundaryDisplay, LinearSVM

    X, y = make_blobs(150, centers=5, cluster_std=1.3, random_state=3)
    return BoundaryDisplay.from_estimator(LinearSVM(C=1.0).fit(X, y), X, y)


def discriminant_plane():
    """Thirty features in a plane.

    Across, the true distance of every point to the boundary; upwards, the direction along the
    boundary in which the data vary most. Margins stay what they are.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from maxmargin import BoundaryDisplay, LinearSVM

    cancer = load_breast_cancer()
    X, y = cancer.data, cancer.target_names[cancer.target]
    model = make_pipeline(StandardScaler(), LinearSVM(C=0.1)).fit(X, y)
    return BoundaryDisplay.from_estimator(model, X, y)


def kernel():
    """Kernels.

    The same picture for a boundary that is not straight: contours of the score.
    """
    from sklearn.datasets import make_moons

    from maxmargin import BoundaryDisplay, KernelSVM

    X, y = make_moons(150, noise=0.2, random_state=0)
    return BoundaryDisplay.from_estimator(KernelSVM(C=1.0).fit(X, y), X, y)


def unknown_regions():
    """Unknown regions.

    One against the rest, and one against one: where nobody, or more than one class, claims a
    point.
    """
    from sklearn.datasets import make_blobs

    from maxmargin import LinearSVM, OneVsOne, OneVsRest, UnknownRegionsDisplay

    X, y = make_blobs(90, centers=3, random_state=1)
    models = [OneVsRest(LinearSVM()).fit(X, y), OneVsOne(LinearSVM()).fit(X, y)]
    return UnknownRegionsDisplay.from_estimators(models, X, y)


def basis():
    """A change of basis.

    Circles become straight in polar coordinates: before and after.
    """
    from sklearn.datasets import make_circles
    from sklearn.pipeline import make_pipeline

    from maxmargin import BasisDisplay, LinearSVM, PolarBasis

    X, y = make_circles(150, factor=0.5, noise=0.08, random_state=0)
    model = make_pipeline(PolarBasis(), LinearSVM(C=1.0)).fit(X, y)
    return BasisDisplay.from_estimator(model, X, y)


def outliers():
    """Distant points.

    Least squares charges twelve distant, correct points for being far away, and its boundary
    moves; the hinge does not.
    """
    import matplotlib.pyplot as plt
    import numpy as np

    from maxmargin import BoundaryDisplay, LeastSquaresClassifier, LinearSVM

    rng = np.random.default_rng(0)
    clouds = [rng.normal(centre, 0.5, (40, 2)) for centre in ([-1.5, 0], [1.5, 0])]
    X = np.vstack([*clouds, rng.normal([9, -7], 0.5, (12, 2))])
    y = np.repeat(["left", "right"], [40, 52])
    _, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    for model, ax in zip((LeastSquaresClassifier(), LinearSVM(C=1.0)), axes, strict=True):
        display = BoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=ax)
    return display


def losses():
    """Losses.

    What a point pays for its margin: errors are counted by the 0-1 loss, which nobody can
    minimise; the others can be. The curves are the solvers' own code.
    """
    from maxmargin import LossesDisplay

    return LossesDisplay.from_names()


def regression_losses():
    """Losses of regression, and of classification.

    Regression charges for being off on either side; a class is wrong on one side only.
    """
    from maxmargin import LossesDisplay

    return LossesDisplay.beside_regression(["0-1", "perceptron", "hinge"])


def closest_point():
    """The closest point and γ.

    Under a magnifying glass: from the closest point z it is γ = 1/‖w‖ to the boundary.
    """
    from sklearn.datasets import load_iris

    from maxmargin import ClosestPointDisplay, LinearSVM

    X, y = load_iris(return_X_y=True)
    X, y = X[:100, [1, 3]], y[:100]
    return ClosestPointDisplay.from_estimator(LinearSVM(C=float("inf")).fit(X, y), X, y)


def seven_prices():
    """One data set, seven values of C.

    From the hard margin to a street that holds every flower.
    """
    from sklearn.datasets import load_iris

    from maxmargin import BoundariesDisplay, LinearSVM

    X, y = load_iris(return_X_y=True)
    X, y = X[:100, [1, 3]], y[:100]
    Cs = [10, 3, 2, 1, 0.5, 0.1, 0.01]
    return BoundariesDisplay.from_estimators([LinearSVM(C=C).fit(X, y) for C in Cs], X, y)


def separators():
    """Many separators, and the widest.

    Perceptrons of different orders, with the room each leaves, and the maximum margin.
    """
    from maxmargin import LinearSVM, Perceptron, SeparatorsDisplay
    from maxmargin.app.studio.pictures import eighty_five

    X, y = eighty_five()
    lines = [Perceptron(random_state=k).fit(X, y) for k in range(3)]
    lines.append(LinearSVM(C=float("inf")).fit(X, y))
    names = ["run 0", "run 1", "run 2", "widest"]
    return SeparatorsDisplay.from_estimators(lines, X, y, names=names, arrows=True)


def updates():
    """How many updates.

    The same points in 200 orders: a perceptron's updates until nothing is wrong.
    """
    from maxmargin import UpdateCountsDisplay
    from maxmargin.app.studio.pictures import eighty_five

    X, y = eighty_five()
    return UpdateCountsDisplay.from_data(X, y, runs=200)


def error_surface():
    """The error surface of the linear unit.

    Ways downhill with three learning rates: one crawls, one jumps and arrives, and one, above
    2/λ, climbs out.
    """
    import warnings

    from maxmargin import ErrorSurfaceDisplay, LinearUnit
    from maxmargin.app.studio.pictures import eighty_five

    X, y = eighty_five()
    X = X[:, :1]
    limit = LinearUnit().fit(X, y).stable_below_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last rate diverges, which is the point
        units = {
            f"{share:g} · 2/λ": LinearUnit(share * limit, trace=True, max_passes=40).fit(X, y)
            for share in (0.1, 0.9, 1.05)
        }
    return ErrorSurfaceDisplay.from_estimators(units, X, y)


def projection():
    """Fisher's direction.

    The means, the direction, and the points projected onto it.
    """
    from sklearn.datasets import load_iris

    from maxmargin import FisherDiscriminant, ProjectionDisplay

    X, y = load_iris(return_X_y=True)
    X, y = X[50:, [1, 3]], y[50:]
    return ProjectionDisplay.from_estimator(FisherDiscriminant().fit(X, y), X, y)


def gram():
    """The Gram matrix.

    Inner products in the space of a kernel, sorted by class: what it takes for alike.
    """
    from sklearn.datasets import load_iris

    from maxmargin import GramDisplay

    X, y = load_iris(return_X_y=True)
    return GramDisplay.from_data(X, y, kernel="rbf", gamma=0.5)


def perceptron():
    """A perceptron and its theorem.

    Chosen updates of a run, the point that caused each, and ‖w‖² between t²γ² and tR²: the two
    meet at R²/γ², where every run has ended.
    """
    from sklearn.datasets import load_iris

    from maxmargin import PerceptronRunDisplay

    iris = load_iris(as_frame=True)
    X = iris.data.loc[iris.target < 2, ["sepal width (cm)", "petal width (cm)"]]
    y = iris.target_names[iris.target[iris.target < 2]]
    display = PerceptronRunDisplay.from_data(X, y, random_state=3, updates=[19, 21])
    print(display.view.why(19))
    return display


def path():
    """The path over C.

    A larger C narrows the margin, until nothing changes any more. Every dot is a model with a
    certificate.
    """
    from sklearn.datasets import load_iris

    from maxmargin import LinearSVM, PathDisplay, c_path

    X, y = load_iris(return_X_y=True)
    found = c_path(LinearSVM(), X[y > 0][:, [2, 3]], y[y > 0])
    return PathDisplay.from_path(found)


def cross_validation():
    """Choosing C.

    Errors on rows left out, with their standard errors; the C of the lowest, and the smallest
    that is as good within one standard error.
    """
    from sklearn.datasets import load_digits

    from maxmargin import CrossValidationDisplay, LinearSVMCV

    X, y = load_digits(n_class=4, return_X_y=True)
    model = LinearSVMCV().fit(X / 16, y)
    return CrossValidationDisplay.from_estimator(model)


def gap():
    """Gap against time.

    How far from the optimum each fit could still have been, by proof, at every check.
    """
    from sklearn.datasets import make_classification

    from maxmargin import GapDisplay, LinearSVM

    X, y = make_classification(20_000, 40, flip_y=0.1, random_state=0)
    solvers = ["newton", "descent"]
    fits = {name: LinearSVM(solver=name, tol=1e-4).fit(X, y) for name in solvers}
    fits = {name: model.fit(X, y) for name, model in fits.items()}  # again, compiled
    return GapDisplay.from_estimators(fits)


def coefficients():
    """Coefficients.

    The strongest of every class by the names of their features; to the right they speak for the
    class, to the left against it.
    """
    from sklearn.datasets import load_wine
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from maxmargin import CoefficientsDisplay, LinearSVM

    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LinearSVM()).fit(X, y)
    return CoefficientsDisplay.from_estimator(model, n=8, rows=[0, 2])


def confusion():
    """Confusion matrix.

    Which digit is taken for which, on rows left out.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_predict

    from maxmargin import ConfusionDisplay, LinearSVM

    X, y = load_digits(return_X_y=True)
    return ConfusionDisplay.from_predictions(y, cross_val_predict(LinearSVM(), X / 16, y))


def comparison():
    """Methods compared.

    Accuracy on the same outer folds with its standard error, best on top, each method tuned
    inside.
    """
    from sklearn.datasets import make_circles

    from maxmargin import ComparisonDisplay, compare

    X, y = make_circles(150, factor=0.5, noise=0.1, random_state=0)
    methods = ["svm", "logistic", "fisher", "kernel-svm"]
    found = compare(X, y, methods, ["as given", "polar", "quadratic"])
    return ComparisonDisplay.from_comparison(found)


def ranking():
    """Rankings.

    How good the first n places are, and how the scores follow the grades.
    """
    import numpy as np

    from maxmargin import PairwiseRanker, RankingDisplay

    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    worth = X @ [2.0, -1.0, 0.5, 0.0, 0.0] + rng.standard_normal(400)
    grades = np.clip(np.round(worth / 1.5), -2, 2) + 2
    ranker = PairwiseRanker().fit(X[:200], grades[:200])
    return RankingDisplay.from_estimator(ranker, X[200:], grades[200:])


def distances():
    """Distances and calibration.

    For any number of features: how far the points of each class are from the boundary, and
    whether what a model is sure of is right.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from maxmargin import DistancesDisplay, LogisticRegression

    cancer = load_breast_cancer()
    X, y = cancer.data, cancer.target_names[cancer.target]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X[:300], y[:300])
    return DistancesDisplay.from_estimator(model, X[300:], y[300:])


PICTURES = (
    boundary, closest_point, seven_prices, separators, regions, discriminant_plane, kernel,
    unknown_regions, basis, outliers, losses, regression_losses, perceptron, updates, error_surface,
    projection, gram, path, cross_validation, gap, coefficients, confusion, comparison, ranking,
    distances,
)  # fmt: skip

HEAD = """# Gallery

Every picture is a display in scikit-learn's manner: `XDisplay.from_estimator(…)` computes and draws
it, `display.plot(ax=…)` draws it again, `display.bokeh()` draws the same with Bokeh, to be moved,
zoomed and pointed at, and `display.svg()` as text that needs nothing installed. `display.view` has
the numbers. `make gallery` makes this page (`docs/gallery.py`).
"""


def code_of(picture) -> str:
    """The body of a picture's function as a script: ``return x`` becomes ``x``."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(picture))).body
    lines = textwrap.dedent(inspect.getsource(picture)).splitlines()
    first = function.body[1].lineno - 1  # after the docstring
    code = textwrap.dedent("\n".join(lines[first:]))
    body, _, last = code.rpartition("return ")
    return code.removesuffix("return display").rstrip() if last == "display" else body + last


def page() -> str:
    """The gallery as Markdown."""
    parts = [HEAD]
    for picture in PICTURES:
        heading, _, words = inspect.getdoc(picture).partition("\n\n")
        heading, words = heading.rstrip("."), " ".join(words.split())
        parts.append(
            f"## {heading}\n\n{words}\n\n![{heading}](gallery/{picture.__name__}.png)\n\n"
            f"```python\n{code_of(picture)}\n```\n"
        )
    return "\n".join(parts)


def draw(picture, folder: Path = FOLDER) -> Path:
    """Make one picture, in few enough colours to be small."""
    import matplotlib.pyplot as plt
    from PIL import Image

    file = folder / f"{picture.__name__}.png"
    picture().figure_.savefig(file, dpi=DPI, bbox_inches="tight", pad_inches=0.08)
    plt.close("all")
    with Image.open(file) as image:
        small = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    return file


def main(names: list[str]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        if not names or picture.__name__ in names:
            file = draw(picture)
            print(f"{file.relative_to(HERE)}  {file.stat().st_size / 1024:.0f} KB")
    (HERE / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
