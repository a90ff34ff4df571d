"""The peers, each as a generator of ever more accurate runs: (setting, seconds, w, b).

LIBLINEAR, snapml and skglm penalise the bias, which the race forgives them by finding their best
one; skglm has none, and is given a column of ones.  celer has no hinge.  Seconds are those of the
processor, one thread each.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, LinearSVC

Run = tuple[str, float, np.ndarray, float]


def timed(fit: Callable, clock: Callable[[], float] = time.process_time):
    """The result of ``fit()`` and the seconds it took: the best of five when it is quick."""
    taken: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        while not taken or (len(taken) < 5 and sum(taken) < 1.0):
            began = clock()
            model = fit()
            taken.append(clock() - began)
    return model, min(taken)


def linear_svc(case) -> Iterator[Run]:
    tols = (3e-1, 1e-1, 3e-2, 1e-2, 1e-3, 1e-4)
    for tol, most in [*((tol, 1000) for tol in tols), (1e-5, 10_000)]:
        peer = LinearSVC(loss=case.loss, C=case.C, tol=tol, max_iter=most)
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, case.y))
        yield f"tol={tol:g}, max_iter={most}", seconds, model.coef_[0], float(model.intercept_[0])


def liblinear(case) -> Iterator[Run]:
    from liblinear.liblinearutil import train

    kind = 3 if case.loss == "hinge" else 1
    labels = np.where(case.y == np.unique(case.y)[1], 1.0, -1.0)
    first = labels[0]
    for tol in (1e-1, 1e-2, 1e-3, 1e-4):
        options = f"-s {kind} -c {case.C} -e {tol} -B 1 -q"
        model, seconds = timed(lambda options=options: train(labels, case.X, options))
        w, b = model.get_decfun()
        w = np.asarray(w) * first if model.get_labels()[0] != 1 and first == 1 else np.asarray(w)
        whole = np.zeros(case.X.shape[1])  # columns of zeros at the end are not in its model
        whole[: len(w)] = w[: len(whole)]
        yield f"-e {tol:g}", seconds, whole, float(b)


def svc(case) -> Iterator[Run]:
    if not case.slow_peers or case.loss != "hinge":
        return
    for tol in (1e-2, 1e-3, 1e-5):
        peer = SVC(kernel="linear", C=case.C, tol=tol)
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, case.y))
        yield f"tol={tol:g}", seconds, model.coef_[0], float(model.intercept_[0])


def sgd(case) -> Iterator[Run]:
    n = case.X.shape[0]
    for passes in (5, 20, 100):
        peer = SGDClassifier(
            loss=case.loss, alpha=1 / (case.C * n), max_iter=passes, tol=None, random_state=0
        )
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, case.y))
        yield f"{passes} passes", seconds, model.coef_[0], float(model.intercept_[0])


def cyanure(case) -> Iterator[Run]:
    if case.loss != "squared_hinge":
        return
    from cyanure.estimators import Classifier

    n = case.X.shape[0]
    for tol in (1e-2, 1e-4, 1e-6):
        peer = Classifier(
            loss="sqhinge",
            penalty="l2",
            lambda_1=1 / (case.C * n),
            fit_intercept=True,
            tol=tol,
            max_iter=2000,
            verbose=False,
        )
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, case.y))
        w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        yield f"tol={tol:g}", seconds, w, b


def snapml(case) -> Iterator[Run]:
    from snapml import SupportVectorMachine

    labels = np.where(case.y == np.unique(case.y)[1], 1.0, -1.0)
    for tol in (1e-2, 1e-3, 1e-4, 1e-5):
        peer = SupportVectorMachine(
            loss=case.loss,
            regularizer=1 / case.C,
            fit_intercept=True,
            tol=tol,
            max_iter=1000,
            n_jobs=1,
        )
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, labels))
        w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
        yield f"tol={tol:g}", seconds, w, b


def skglm(case) -> Iterator[Run]:
    if case.loss != "hinge" or sparse.issparse(case.X):
        return
    from skglm.estimators import LinearSVC as DualSVC

    X = np.column_stack([case.X, np.ones(len(case.y))])
    for tol in (1e-1, 1e-2, 1e-4):
        peer = DualSVC(C=case.C, tol=tol, max_iter=100, max_epochs=10_000)
        model, seconds = timed(lambda peer=peer: peer.fit(X, case.y))
        w = np.ravel(model.coef_)
        yield f"tol={tol:g}", seconds, w[:-1], float(w[-1])


def intelex(case) -> Iterator[Run]:
    if not case.slow_peers or case.loss != "hinge":
        return
    from sklearnex.svm import SVC as FastSVC

    for tol in (1e-1, 1e-2, 1e-3):
        peer = FastSVC(kernel="linear", C=case.C, tol=tol)
        model, seconds = timed(lambda peer=peer: peer.fit(case.X, case.y))
        yield f"tol={tol:g}", seconds, np.ravel(model.coef_), float(model.intercept_[0])


PEERS: dict[str, Callable] = {
    "LinearSVC": linear_svc,
    "liblinear-official": liblinear,
    "SVC(linear)": svc,
    "SGDClassifier": sgd,
    "Cyanure": cyanure,
    "snapml": snapml,
    "skglm": skglm,
    "scikit-learn-intelex SVC": intelex,
}
