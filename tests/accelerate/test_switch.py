"""Switching the acceleration on and off, and what it must not disturb."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from maxmargin import accelerate
from maxmargin.accelerate import hook, loading, record

pytestmark = pytest.mark.usefixtures("fresh_patch")
X, Y = load_iris(return_X_y=True)


def _solvers():
    return [fit.solver for fit in accelerate.fits()]


def test_two_installs_and_one_uninstall():
    before = svm._classes._fit_liblinear
    accelerate.install()
    once = svm._classes._fit_liblinear
    accelerate.install(compare=True)
    assert svm._classes._fit_liblinear is once is not before
    accelerate.uninstall()
    assert svm._classes._fit_liblinear is before
    assert not accelerate.installed()
    accelerate.uninstall()  # a second one does nothing


def test_a_block_inside_an_installation_leaves_it():
    accelerate.install(load="now")
    with accelerate.accelerated():
        pass
    assert accelerate.installed()


def test_every_original_comes_back():
    def holders():
        return [
            hook._holder(sys.modules[p.module], p.name)
            for p in hook.PATCHES
            if p.module in sys.modules
        ]

    before = [vars(holder).get(name) for holder, name in holders()]
    accelerate.install()
    accelerate.uninstall()
    assert [vars(holder).get(name) for holder, name in holders()] == before


def test_uninstalled_in_the_middle_of_a_fit(monkeypatch):
    """The fit that is running ends, and the next one is scikit-learn's own."""
    from maxmargin.accelerate.linear_svc import LinearSVCCase

    solve = LinearSVCCase.solve

    def uninstalling(case):
        accelerate.uninstall()
        return solve(case)

    monkeypatch.setattr(LinearSVCCase, "solve", uninstalling)
    accelerate.install(load="now")
    model = LinearSVC().fit(X, Y)
    assert _solvers() == ["maxmargin"]
    assert model.score(X, Y) > 0.9
    LinearSVC().fit(X, Y)
    assert len(accelerate.fits()) == 1


def test_pickles_know_nothing_of_it():
    old = pickle.dumps(LinearSVC(C=0.5))
    accelerate.install(load="now")
    model = pickle.loads(old).fit(X, Y)  # made before the patch
    assert _solvers() == ["maxmargin"]
    data = pickle.dumps(model)
    assert b"maxmargin" not in data
    blocked = "import sys, pickle; sys.modules['maxmargin'] = None; "
    code = f"{blocked} print(type(pickle.loads({data!r})).__module__)"
    assert _python(code).stdout.strip() == "sklearn.svm._classes"


def test_classes_stay_as_they_are():
    accelerate.install(load="now")
    model = SVC(kernel="linear")
    assert repr(model) == "SVC(kernel='linear')"
    assert repr(clone(model)) == repr(model)
    assert set(vars(model.fit(X, Y))) == set(vars(_plain(SVC(kernel="linear"))))
    names = set(vars(LinearSVC().fit(X, Y)))
    assert names == set(vars(_plain(LinearSVC())))
    assert LinearSVC.fit.__doc__.startswith("Fit the model")


def _plain(model):
    accelerate.uninstall()
    model.fit(X, Y)
    accelerate.install(load="now")
    return model


def test_subclasses_are_served():
    class Mine(LinearSVC):
        def fit(self, X, y):
            return super().fit(X, y)

    accelerate.install(load="now")
    assert Mine().fit(X, Y).score(X, Y) > 0.9
    assert _solvers() == ["maxmargin"]


def test_threads():
    accelerate.install(load="now")
    models = [LogisticRegression(C=10.0**k) for k in range(-2, 4)]
    threads = [threading.Thread(target=m.fit, args=(X, Y)) for m in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = [LogisticRegression(C=m.C).fit(X, Y) for m in models]
    for m, same in zip(models, alone, strict=True):
        np.testing.assert_allclose(m.predict_proba(X), same.predict_proba(X), atol=1e-3)
    assert len(accelerate.fits()) == 12


def test_worker_processes_are_served_and_report():
    """The task brings the installation with it; the parent's report has the workers' fits."""
    accelerate.install(load="now")
    search = GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]}, cv=2, n_jobs=2).fit(X, Y)
    assert search.best_score_ > 0.9
    assert len(accelerate.fits()) == 5  # four in workers, one for the final fit
    accelerate.uninstall()


def test_a_search_has_the_same_scores_and_keys():
    grid, model = (
        {"linearsvc__C": [0.01, 0.1, 1.0]},
        make_pipeline(StandardScaler(), LinearSVC(tol=1e-8)),
    )
    plain = GridSearchCV(model, grid).fit(X, Y)
    accelerate.install(load="now")
    ours = GridSearchCV(model, grid).fit(X, Y)
    assert set(ours.cv_results_) == set(plain.cv_results_)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    nested = cross_val_score(GridSearchCV(model, grid, cv=2), X, Y, cv=2)
    assert nested.mean() > 0.9


def test_another_C_begins_where_the_last_one_ended():
    """The steps of a loop over C, with and without its memory."""
    from maxmargin.accelerate import warm

    A, y = make_classification(1500, 30, flip_y=0.1, random_state=0)
    accelerate.install(load="now")

    def steps(remember):
        warm.forget()
        total = 0
        for C in np.logspace(-1, 1, 8):
            total += LogisticRegression(C=C).fit(A, y).n_iter_[0]
            if not remember:
                warm.forget()
        return total

    assert steps(True) < 0.8 * steps(False)


REASONS = [
    (LinearSVC(penalty="l1", dual=False), "l1"),
    (LinearSVC(max_iter=5), "early stop"),
    (SVC(probability=True), "cross-validation"),
    (SVC(kernel="sigmoid"), "inner product"),
    (SVC(max_iter=3), "early stop"),
    (LogisticRegression(C=np.inf), "penalty"),
    (LogisticRegression(l1_ratio=0.5, solver="saga"), "elasticnet"),
    (LogisticRegression(max_iter=5), "early stop"),
    (Perceptron(), "updates"),
    (RidgeClassifier(positive=True), "positive"),
    (LinearDiscriminantAnalysis(solver="lsqr"), "rounding"),
    (LinearDiscriminantAnalysis(tol=1e-9), "squares"),
]


@pytest.mark.parametrize(("model", "reason"), REASONS, ids=lambda v: str(v))
@pytest.mark.filterwarnings("ignore")
def test_fall_backs_give_their_reason(model, reason):
    accelerate.install(load="now")
    model.fit(X, Y)
    (fit,) = accelerate.fits()
    assert fit.solver == "scikit-learn"
    assert reason in fit.why


def test_our_own_failure_is_a_fall_back(monkeypatch):
    from maxmargin.accelerate.linear_svc import LinearSVCCase

    def fail(case):
        raise RuntimeError("no")

    monkeypatch.setattr(LinearSVCCase, "solve", fail)
    accelerate.install(load="now")
    assert LinearSVC().fit(X, Y).score(X, Y) > 0.9
    assert accelerate.fits()[0].why == "maxmargin stopped with RuntimeError: no"


def test_errors_are_scikit_learns():
    accelerate.install(load="now")
    with pytest.raises(ValueError, match="at least 2 classes"):
        LinearSVC().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="C"):
        LinearSVC(C=-1.0).fit(X, Y)


def test_a_proof_that_falls_short_keeps_the_better_answer(monkeypatch):
    from maxmargin.accelerate import case

    monkeypatch.setattr(case, "GAP", -1.0)  # nothing is proved well enough
    accelerate.install(load="now")
    LinearSVC().fit(X, Y)
    (fit,) = accelerate.fits()
    assert fit.solver == "maxmargin"
    assert "scikit-learn's objective is higher" in fit.why
    assert fit.their_seconds > 0


def test_generators_move_on_as_they_would():
    draws = []
    for install in (False, True):
        if install:
            accelerate.install(load="now")
        state = np.random.RandomState(3)
        LinearSVC(random_state=state).fit(X, Y)
        draws.append(state.randint(1000))
    assert draws[0] == draws[1]


def test_small_programs_do_not_pay_for_loading(monkeypatch):
    monkeypatch.setattr(loading, "is_loaded", lambda: False)
    monkeypatch.setattr(loading, "_expected", 0.0)
    accelerate.install()
    LinearSVC().fit(X, Y)
    assert "small" in accelerate.fits()[0].why
    monkeypatch.setattr(loading, "_expected", loading.LOADING_SECONDS)
    LinearSVC().fit(X, Y)
    assert _solvers() == ["scikit-learn", "maxmargin"]


def test_compare_judges_scikit_learns_answer():
    """Without a warning, and yet 8 % above the optimum: digits that can be told apart."""
    from sklearn.datasets import load_digits

    D, t = load_digits(n_class=3, return_X_y=True)
    accelerate.install(compare=True, load="now")
    LogisticRegression(solver="newton-cg").fit(D, t)
    (fit,) = accelerate.fits()
    assert fit.gap <= 1e-9
    assert fit.their_excess > 1e-3
    assert fit.their_warning == ""
    assert fit.our_seconds > 0
    assert fit.their_seconds > 0
    assert "above the optimum" in accelerate.report()


def test_records_name_the_place():
    accelerate.install(load="now")
    LinearSVC().fit(X, Y)
    assert accelerate.fits()[0].place.startswith("test_switch.py:")


def test_of_very_many_fits_the_number_is_known(monkeypatch):
    monkeypatch.setattr(record, "MAX_FITS", 1)
    accelerate.install(load="now")
    for _ in range(3):
        LinearSVC().fit(X, Y)
    assert len(accelerate.fits()) == 1
    assert record.beyond() == 2


SCRIPT = """
import sys
from sklearn.datasets import load_breast_cancer
from sklearn.svm import LinearSVC
X, y = load_breast_cancer(return_X_y=True)
if __name__ == "__main__":
    print(sys.argv[1:], LinearSVC().fit(X, y).score(X, y) > 0.9)
"""


def _python(code, *more):
    run = [sys.executable, *more] if more else [sys.executable, "-c", code]
    return subprocess.run(run, capture_output=True, text=True, check=True)


def test_a_program_runs_unchanged(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    page, data = tmp_path / "report.html", tmp_path / "fits.json"
    options = ["--compare", "--load-now", "--report", str(page), "--json", str(data)]
    done = _python("", "-m", "maxmargin.accelerate", *options, str(script), "--own", "words")
    assert done.stdout == "['--own', 'words'] True\n"
    assert "1 fits, 1 solved by maxmargin" in done.stderr
    assert "program.py:7" in done.stderr
    assert "LinearSVC" in page.read_text()
    assert '"solver": "maxmargin"' in data.read_text()


def test_a_module_runs_and_a_wrong_option_is_told(tmp_path):
    done = _python("", "-m", "maxmargin.accelerate", "--quiet", "-m", "calendar", "2024", "2")
    assert "February 2024" in done.stdout
    wrong = [sys.executable, "-m", "maxmargin.accelerate", "--what"]
    failed = subprocess.run(wrong, capture_output=True, text=True)
    assert failed.returncode == 2
    assert "got '--what'" in failed.stderr


def test_importing_it_imports_nothing_heavy():
    code = """
import sys, maxmargin.accelerate as a
a.install()
print([m for m in ("numpy", "sklearn", "numba", "scipy", "json") if m in sys.modules])
import sklearn.svm
print("numba" in sys.modules, sklearn.svm._classes._fit_liblinear.__module__)
print(sklearn.svm._classes.__spec__.loader.__class__.__name__)
"""
    lines = _python(code).stdout.splitlines()
    assert lines == ["[]", "False sklearn.svm._base", "SourceFileLoader"]
