"""``maxmargin fit``: from a file to a model with its proof."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .fit_options import (
    AsJson,
    Basis,
    Budget,
    Category,
    CostsOption,
    Data,
    Decimal,
    Demo,
    Drop,
    Folds,
    Format,
    Header,
    Holdout,
    Kernel,
    MaxSeconds,
    Memory,
    Method,
    Missing,
    MissingWords,
    Multiclass,
    NoReport,
    Number,
    Out,
    Price,
    Report,
    Resume,
    Scale,
    Score,
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
from .interrupt import cautiously
from .output import page_of, write_fit
from .run import check_named, print_json, reading, said_of

if TYPE_CHECKING:
    from ...parts.files.form import FileOptions


def fit(
    data: Data = None,
    target: Target = None,
    demo: Demo = "iris",
    drop: Drop = None,
    category: Category = None,
    text: Text = None,
    number: Number = None,
    decimal: Decimal = "auto",
    na: MissingWords = None,
    header: Header = None,
    text_as: TextAs = "tfidf",
    missing: Missing = "fill",
    scale: Scale = True,
    weights: Weights = None,
    format: Format = None,
    method: Method = "auto",
    C: Price = None,
    tune: Tune = True,
    folds: Folds = 5,
    score: Score = None,
    multiclass: Multiclass = None,
    kernel: Kernel = None,
    basis: Basis = None,
    test: Test = None,
    holdout: Holdout = 0.0,
    costs: CostsOption = None,
    seed: Seed = 0,
    tol: Tol = None,
    max_seconds: MaxSeconds = float("inf"),
    budget: Budget = None,
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
    one indicator for each level; where nearly all are numbers, a note
    says so. C is chosen by cross-validation unless
    given. The model file holds all of it; report.html, beside it, tells
    it with pictures in any browser.

        maxmargin fit                            # on iris
        maxmargin fit --demo circles --basis polar
        maxmargin fit people.csv --target income --holdout 0.2
        maxmargin fit people.csv -t income --costs costs.csv
        maxmargin fit january.xlsx february.xlsx -t paid
        maxmargin fit mail.parquet -t spam --text body -m logistic
        maxmargin fit a9a.svm.bz2 --C 1 --test a9a.t.bz2 --json
        maxmargin fit folder/ -t label --memory 1GB    # larger than memory
        maxmargin fit faces.csv -t person --budget 2m
        zcat rows.csv.gz | maxmargin fit - -t label

    Exit code: 0 proved, 1 the gap asked for was not proved, 2 bad input,
    130 interrupted.
    """
    from ...models.calibration.costs import read_costs
    from ...parts.files.form import FileOptions, only
    from ...parts.files.preparation import Choices
    from ..workflow.budget import parse_budget
    from ..workflow.plan import Plan
    from ..workflow.tuning import SCORES
    from .show import as_plain, check_word, next_steps, show_fit

    if score is not None:
        check_word("--score", score, SCORES)
    balanced = CLASS_WEIGHTS.get(weights or "")
    weights = weights if balanced is None else None
    plan = Plan(
        method, C, tune, folds, kernel, basis, multiclass, tol, max_seconds, seed, threads,
        score, balanced, parse_budget(budget),
    )  # fmt: skip
    plan.resolved  # noqa: B018  # what cannot work is said before anything is read
    choices = Choices(
        tuple(drop or ()), tuple(category or ()), tuple(text or ()),
        check_word("--text-as", text_as, ("tfidf", "counts")) == "tfidf", scale,
        check_word("--missing", missing, ("fill", "drop", "refuse")),
        tuple(number or ()), decimal,
    )  # fmt: skip
    if test is not None and holdout:
        raise ValueError("--test and --holdout both say what to judge on. Use one of them.")
    prices = None if costs is None else read_costs(costs)
    files = FileOptions(only(data), target, weights, said_of(format, na, header), test)
    page = page_of(out, report, no_report, files.read() | {"the costs": costs})
    small = memory is not None and not resume and not holdout and _fits_easily(files, memory)
    if (memory is not None or resume) and not small:
        _refuse_in_pieces(files, holdout, memory)
        fitted = _in_pieces(files, plan, choices, memory, resume, out)
    else:
        fitted = _in_memory(files, demo, plan, choices, holdout, reading(as_json))
        if small:
            fitted.notes.append(
                f"{files.data} is small beside --memory {memory}: it was read at once"
            )
    if prices is not None:
        prices.prices(fitted.model.model.classes_)
        fitted.model.summary["costs"] = prices.to_dict()
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


# What a fit takes in memory, at most, for a byte of a text file: indicators are many.
BYTES_IN_MEMORY = 40
# What --weights may say instead of the name of a column: whether every class weighs the same.
CLASS_WEIGHTS = {"balanced": True, "none": False}


def _fits_easily(files: FileOptions, memory: str) -> bool:
    """Whether a text file is so small that it can be read at once within the limit."""
    from ...parts.files.source import find_source
    from ...parts.stream.memory_limit import parse_memory

    if files.several:
        return False
    limit, path = parse_memory(memory).limit, Path(files.data or "")
    if not path.is_file() or BYTES_IN_MEMORY * path.stat().st_size > limit:
        return False
    source = find_source(path, files.format)
    return source.compression is None and source.format in ("csv", "tsv", "svmlight")


def _in_memory(files: FileOptions, demo: str, plan, choices, holdout: float, on_read):
    """All rows at once."""
    from ...parts.files.form import as_form
    from ...parts.files.training import read_labelled, read_like
    from ..workflow.fit import fit_table, judge_table
    from .bundled import bundled

    if files.data is None:
        labelled = bundled(demo)
    else:
        labelled = read_labelled(files.data, files.target, files.weights, files.format, on_read)
    check_named(labelled, [*choices.drop, *choices.category, *choices.text, *choices.number])
    fitted = fit_table(labelled, plan, choices, holdout=holdout)
    if files.test is not None:
        form = as_form(files.format)
        judge_table(fitted, read_like(files.test, fitted.model, form.format, on_read))
    return fitted


def _refuse_in_pieces(files: FileOptions, holdout: float, memory: str | None) -> None:
    """Say what needs all rows at once, or more words."""
    if memory is None:
        raise ValueError("--resume goes with --memory, as in the fit that is to go on.")
    if files.data is None or files.several:
        raise ValueError("--memory reads one file or a folder: put several files into a folder.")
    if holdout:
        raise ValueError("--holdout needs all rows in memory. Give --test a file of its own.")


def _in_pieces(files: FileOptions, plan, choices, memory, resume: bool, out: Path):
    """Some rows at a time; a fit that ends early says how to go on with it."""
    from ...parts.files.atomic import is_special
    from ...parts.files.readers import BadData
    from ..workflow.fit import fit_files

    if is_special(out):
        raise ValueError(f"--memory keeps its work beside --out: {out} must then be a file.")
    kept = out.with_name(out.name + ".resume")
    try:
        with cautiously():  # Ctrl-C must leave time to remove the cache
            return fit_files(files, plan, choices, memory, kept, resume)
    except KeyboardInterrupt:
        if kept.exists():
            typer.echo(
                f"maxmargin: {kept} has where the fit stood, without its cache. The same command "
                "with --resume goes on from there.", err=True,
            )  # fmt: skip
        raise
    except BadData as error:
        if not kept.exists():
            raise
        text = f"{error} Correct it and go on with --resume: {kept} has what was read before."
        raise ValueError(text) from None
