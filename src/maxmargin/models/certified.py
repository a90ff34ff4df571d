"""``model.certificate_``: a certificate that knows which model it is about.

The model keeps the certificate alone, as a model file does; the one handed out refers to the model,
so that ``certificate_.to_json()`` can write down the multipliers, and no circle of references keeps
either alive.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from .notebook import proof_html

# Of what a model file keeps, that which a proof needs: numbers and labels, but no rows of the data.
PROOF_KINDS = ("float", "int", "number", "count", "labels", "flag")
# What follows from the rest.
DERIVED_ATTRIBUTES = {"slack_", "support_", "margin_", "n_iter_"}


class Certified:
    """An estimator with a certificate; ``_stored`` names its numbers."""

    @property
    def certificate_(self) -> Any:
        try:
            found = self.__dict__["certificate_"]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute 'certificate_'"
            ) from None
        if not hasattr(found, "of"):
            return found
        model = self._proved()
        return found.of(lambda: witness(model))

    @certificate_.setter
    def certificate_(self, found: Any) -> None:
        self.__dict__["certificate_"] = found

    @certificate_.deleter
    def certificate_(self) -> None:
        del self.__dict__["certificate_"]

    def _proved(self) -> Any:
        """The model as a certificate may hold on to it."""
        return self

    # Notebooks show scikit-learn's diagram, and below it what is proved.
    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + proof_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **given: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**given)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += proof_html(self)
        return bundle

    def show(self, X: Any = None, y: Any = None, file: Any = None) -> Any:
        """The interactive picture of the model: in place in a notebook, else in the browser.

        With rows and labels it is the boundary between the classes with regions, margins and
        support vectors; without, the weights.  Needs the extra ``bokeh``.

        Parameters
        ----------
        X, y : rows and labels to be shown, such as the training data
        file : a page to write instead of opening one
        """
        if X is None:
            return _display("coefficients", "CoefficientsDisplay").from_estimator(self).show(file)
        if y is None:
            raise ValueError("show(X, y) draws points with their classes: give y, too.")
        return _display("boundary", "BoundaryDisplay").from_estimator(self, X, y).show(file)


def _display(view: str, name: str) -> Any:
    """A display by its name: pictures are of another room, entered when one is asked for."""
    return getattr(import_module(f"maxmargin.show.views.{view}"), name)


def witness(model: Any) -> dict[str, Any]:
    """Which model a certificate is about: parameters, weights and multipliers."""
    if hasattr(model, "plain"):  # a search for C proves what the estimator it chose does
        model = model.plain()
    given = model.get_params(deep=False)
    if isinstance(given.get("class_weight"), dict):  # whose keys are labels, not names
        given["class_weight"] = list(given["class_weight"].items())
    kept = {
        name: getattr(model, name)
        for name, line in model._stored.items()
        if line.split()[0] in PROOF_KINDS and name in vars(model)
        if name not in DERIVED_ATTRIBUTES and not name.startswith("_")
    }
    kernel = vars(model).get("_kernel")
    if kernel is not None:
        kept["gamma_"] = getattr(kernel, "gamma", None)
    if "_expansion" in vars(model) and getattr(model, "rank", None) is None:
        kept |= {"support_": model.support_, "dual_coef_": model.dual_coef_}
    names = vars(model).get("feature_names_in_")
    return {
        "estimator": type(model).__name__,
        "parameters": given,
        "fitted": kept,
        "columns": None if names is None else np.asarray(names).tolist(),
    }
