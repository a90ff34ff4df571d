"""``maxmargin fit``: from a file to a model with its proof."""

from __future__ import annotations

from pathlib import Path

import typer

from .fit_options import (
    AsJson,
    Basis,
    Category,
    Data,
    Demo,
    Drop,
    Folds,
    Format,
    Holdout,
    Kernel,
    MaxSeconds,
    Memory,
    Method,
    Missing,
    Multiclass,
    NoReport,
    Out,
    Price,
    Report,
    Resume,
    Scale,
    Seed,
    Target,
    Test,
    Text,
    TextAs,
    Threads,
    Tol,
    Tune,
    Weights,
)
from .output import page_of, write_fit
from .run import check_named, print_json, reading


def fit(
    data: Data = None,
    target: Target = None,
    demo: Demo = "iris",
    drop: Drop = None,
    category: Category = None,
    text: Text = None,
    text_as: TextAs = "tfidf",
    missing: Missing = "fill",
    scale: Scale = True,
    weights: Weights = None,
    format: Format = None,
    method: Method = "svm",
    C: Price = None,
    tune: Tune = True,
    folds: Folds = 5,
    multiclass: Multiclass = None,
    kernel: Kernel = None,
    basis: Basis = None,
    test: Test = None,
    holdout: Holdout = 0.0,
    seed: Seed = 0,
    tol: Tol = None,
    max_seconds: MaxSeconds = float("inf"),
    threads: Threads = None,
    out: Out = Path("model.maxmargin"),
    report: Report = None,
    no_report: NoReport = False,
    memory: Memory = None,
    resume: Resume = False,
    as_json: AsJson = False,
) -> None:
    """Fit a classifier to a file, prove it, and write a model and a page about it.

    Columns are typed by what they hold: numbers are scaled, words become
    one indicator for each level. C is chosen by cross-validation unless
    given. The model file holds all of it; report.html, beside it, tells
    it with pictures in any browser.

        maxmargin fit                            # on iris
        maxmargin fit --demo circles --basis polar
        maxmargin fit people.csv --target income --holdout 0.2
        maxmargin fit mail.parquet -t spam --text body -m logistic
        maxmargin fit a9a.svm.bz2 --C 1 --test a9a.t.bz2 --json
        maxmargin fit folder/ -t label --memory 1GB    # larger than memory
        zcat rows.csv.gz | maxmargin fit - -t label

    Exit code: 0 proved, 1 the gap asked for was not proved, 2 bad input,
    130 interrupted.
    """
    from ...parts.files.preparation import Choices
    from ...parts.files.training import read_labelled, read_like
    from ..workflow.fit import fit_table
    from ..workflow.methods import Plan, find_method
    from .bundled import bundled
    from .show import as_plain, check_word, next_steps, show_fit

    plan = Plan(method, C, tune, folds, kernel, basis, multiclass, tol, max_seconds, seed, threads)
    find_method(plan)  # what cannot work is said before anything is read
    choices = Choices(
        tuple(drop or ()), tuple(category or ()), tuple(text or ()),
        check_word("--text-as", text_as, ("tfidf", "counts")) == "tfidf", scale,
        check_word("--missing", missing, ("fill", "drop", "refuse")),
    )  # fmt: skip
    if test is not None and holdout:
        raise ValueError("--test and --holdout both say what to judge on. Use one of them.")
    page = page_of(out, report, no_report)
    if memory is not None or resume:
        from .fit_streamed import fit_streamed

        asked = (data, target, weights, format, test)
        return fit_streamed(asked, plan, choices, holdout, memory, resume, out, page, as_json)
    on_read = reading(as_json)
    if data is None:
        labelled = bundled(demo)
    else:
        labelled = read_labelled(data, target, weights, format, on_read)
    check_named(labelled, [*choices.drop, *choices.category, *choices.text])
    fitted = fit_table(labelled, plan, choices, holdout=holdout)
    if test is not None:
        _judge(fitted, read_like(test, fitted.model, format, on_read))
    if weights is not None:
        fitted.model.summary["weights"] = weights
    written = write_fit(fitted, out, page)
    if as_json:
        print_json(as_plain(fitted, written))
    else:
        show_fit(fitted, written)
        next_steps(out, page, data)
    if not fitted.proved:
        raise typer.Exit(1)


def _judge(fitted, test) -> None:
    """Errors on rows of their own, told and kept with the model."""
    from ..workflow.fit import judge_on

    fitted.test = judge_on(fitted.model, test, fitted.notes)
    fitted.model.summary["test"] = fitted.test.to_dict()
