"""What was minimised and what is proved, in sentences for people who did not write the solver."""

from __future__ import annotations

import numpy as np

from .page import Html, bullets, facts, joined, paragraph, tag

SUPPORT_ROLES = {
    "margin": "exactly on the margin: they hold the boundary in its place",
    "inside": "inside the margin, on the right side of the boundary",
    "misclassified": "on the wrong side of the boundary",
}


def percent(share: float) -> str:
    return f"{share:.2%}".replace("%", " %")


def tiny(value: float) -> str:
    """A number that is meant to be next to nothing."""
    return "0" if value == 0 else f"{value:.1e}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def objective(model, weighted: bool) -> tuple[str, str]:
    """The method in a sentence, and its objective; the estimator's own words."""
    if not hasattr(model, "_in_words"):
        return f"{type(model).__name__}.", ""
    sentence, formula = model._in_words()
    if weighted:
        sentence += " Every row's term is multiplied by its weight."
    return sentence, formula


def in_short(certificate, proved: bool) -> str:
    """The certificate in a few words."""
    gap = getattr(certificate, "relative_gap", None)
    if gap is None:
        return "Separates all training rows" if proved else "Does not separate the training rows"
    word = "Proved" if proved else "Not proved"
    if not np.isfinite(gap) or getattr(certificate, "only_objective", False):
        return word
    near = f"at most {tiny(gap)} from the best possible" if gap else "the best possible"
    return f"{word}: {near}"


def how_sure(model, proved: bool) -> list:
    """The certificate in words, then in numbers."""
    certificate = model.certificate_
    tell = {
        "Certificate": _gap,
        "NormalEquations": _equations,
        "FisherCriterion": _criterion,
        "GaussianFit": _gaussians,
        "PerceptronCertificate": _counted,
    }.get(type(certificate).__name__, _plain)
    return tell(certificate, proved)


def _plain(certificate, proved: bool) -> list:
    return [paragraph(str(certificate))]


def _gap(certificate, proved: bool) -> list:
    if not np.isfinite(certificate.relative_gap):
        return [paragraph(tag("strong", "Nothing is proved: "), f"{certificate}.")]
    gap = max(0.0, certificate.gap)
    near = (
        f"within {tiny(gap)} of the best possible ({tiny(certificate.relative_gap)} of its value)"
        if gap
        else "the best possible, to the last digit computed"
    )
    claim = f"The objective is proved to be {near}, recomputed from the data in double precision."
    meaning = (
        "No weights and biases whatsoever, found by whatever program, can have an objective below "
        f"{certificate.dual:.10g}; these have {certificate.primal:.10g}. The lower bound comes "
        "from a dual solution, whose every number is checked against its constraints; how the "
        "solver found it does not matter. The proof is about the objective above on these "
        "rows: how well the model does on new rows is another question, answered above."
    )
    asked = None if proved else paragraph(
        "This is a wider gap than was asked for. More time (--max-seconds), or a larger --tol, "
        "would settle it.", class_="bad",
    )  # fmt: skip
    worst = max(certificate.kkt_violation.values(), default=0.0)
    return [
        paragraph(tag("strong", claim)),
        asked,
        paragraph(meaning),
        paragraph(f"What is proved: {certificate.about}.") if certificate.about else None,
        facts(
            [
                ("problem", certificate.problem),
                ("objective of this model", f"{certificate.primal:.10g}"),
                ("no model is below", f"{certificate.dual:.10g}"),
                ("relative gap", f"{certificate.relative_gap:.2e}"),
                ("worst violation of an optimality condition", tiny(worst)),
            ]
        ),
    ]


def _equations(certificate, proved: bool) -> list:
    claim = (
        f"The normal equations hold to {tiny(certificate.relative_residual)}, relative to features "
        "and labels, recomputed from the data in double precision."
    )
    lower = f", and no weights have one lower by more than {tiny(certificate.excess)}"
    meaning = (
        f"The objective is {certificate.objective:.10g}"
        f"{'' if certificate.only_objective else lower}. The condition number of the system is "
        f"{certificate.condition:.1e}."
    )
    if not certificate.full_rank:
        meaning += (
            f" Its rank is {certificate.rank} of {certificate.size}: of all solutions this "
            "is the one with the smallest weights."
        )
    return [_claim(claim, proved), paragraph(meaning)]


def _criterion(certificate, proved: bool) -> list:
    best = max(certificate.criterion, default=0.0)
    claim = (
        f"The first direction has J = {best:.8g}, and it is proved that no direction has more than "
        f"{certificate.bound:.8g}, recomputed from the data in double precision."
    )
    rank = None
    if not certificate.full_rank:
        rank = paragraph(
            f"The covariance has rank {certificate.rank} of {certificate.size}: outside its range "
            "the classes have no spread and J has no bound; consider shrinkage."
        )
    return [_claim(claim, proved), rank]


def _gaussians(certificate, proved: bool) -> list:
    claim = (
        "No other means and covariances give the training rows a log-likelihood higher by more "
        f"than {tiny(certificate.excess)} a row, recomputed from the data in double precision."
    )
    meaning = (
        "These are the Gaussians that fit the rows best; whether the classes are Gaussian at all "
        "is another question, which errors on new rows answer. The worst condition number of a "
        f"covariance is {certificate.condition:.1e}."
    )
    return [_claim(claim, proved), paragraph(meaning)]


def _counted(certificate, proved: bool) -> list:
    claim = f"{str(certificate)[:1].upper()}{str(certificate)[1:]}."
    meaning = (
        "A perceptron has no optimum to be near to. What can be proved is whether its weights "
        "separate the training rows; on rows that no plane separates it never ends by itself."
    )
    return [_claim(claim, proved), paragraph(meaning)]


def _claim(claim: str, proved: bool) -> Html:
    return paragraph(tag("strong", claim), class_=None if proved else "bad")


def support(summary: dict) -> Html | None:
    """Support vectors by kind, and what the kinds mean."""
    kinds = summary.get("support")
    if kinds is None:
        return None
    lines = [
        joined(tag("strong", f"{kinds[kind]:,} {kind}"), f": {role}.")
        for kind, role in SUPPORT_ROLES.items()
        if kind in kinds
    ]
    text = (
        f"{count(sum(kinds.values()), 'support vector')}: the model depends on these rows only; "
        "without any of the others it would be the same."
    )
    return joined(paragraph(text), bullets(lines))
