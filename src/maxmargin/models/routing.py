"""Metadata routing: what rows bring besides X and y, and who inside a wrapper or a search gets it.

scikit-learn's rules where ``enable_metadata_routing`` is on: an estimator, a scorer or a splitter
gets what it has asked for by ``set_…_request``, under the name it has asked for.  Where it is off,
``sample_weight`` goes to every fit and to the scorer, and ``groups`` to the splitter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn import get_config
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

Metadata = dict[str, Any]


def is_routing() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def router_of(model: Any, *passed_on: str) -> MetadataRouter:
    """A router with what the model asks for itself.

    What it takes only to pass it on, and nobody told it to ask for, is for others to ask for.
    """
    own = model._get_metadata_request()
    for method in (own.fit, own.partial_fit):
        for name in passed_on:
            if method.requests.get(name, False) is None:
                del method.requests[name]
    return MetadataRouter(owner=model).add_self_request(own)


def base_router(model: Any) -> MetadataRouter:
    """Of a wrapper: fits pass metadata on to those of ``model.estimator``."""
    mapping = MethodMapping().add(caller="fit", callee="fit")
    mapping.add(caller="partial_fit", callee="partial_fit")
    return router_of(model, "sample_weight").add(estimator=model.estimator, method_mapping=mapping)


def given_to_base(model: Any, method: str, sample_weight: Any, params: Metadata) -> Metadata:
    """What the classifiers inside a wrapper are given besides rows and labels."""
    weights = _named(sample_weight=sample_weight)
    if not is_routing():
        _refuse_unrouted(model, method, params)
        _check_takes_weights(model, weights)
        return weights
    asked = getattr(model._get_metadata_request(), method).requests.get("sample_weight")
    if asked:  # the wrapper itself has asked for weights: it has them for all its classifiers
        return weights | dict(process_routing(model, method, **params).estimator[method])
    return dict(process_routing(model, method, **weights, **params).estimator[method])


class SearchMetadata(NamedTuple):
    """What goes to the splitter, and to the scorer with the rows it judges."""

    split: Metadata
    score: Metadata


def search_router(model: Any, splitter: Any, scorer: Any) -> MetadataRouter:
    """Of a search: ``fit`` splits and scores.  Without a scorer of its own accuracy is meant, which
    takes the weights of the fit."""
    router = router_of(model, "groups")
    if hasattr(splitter, "split"):
        mapping = MethodMapping().add(caller="fit", callee="split")
        router.add(splitter=splitter, method_mapping=mapping)
    if scorer is not None:
        mapping = MethodMapping().add(caller="fit", callee="score")
        mapping.add(caller="score", callee="score")
        router.add(scorer=scorer, method_mapping=mapping)
    return router


def given_to_folds(model: Any, sample_weight: Any, groups: Any, params: Metadata) -> SearchMetadata:
    weights, parts = _named(sample_weight=sample_weight), _named(groups=groups)
    if not is_routing():
        _refuse_unrouted(model, "fit", params)
        return SearchMetadata(parts, weights)
    found = process_routing(model, "fit", **weights, **parts, **params)
    split = dict(found["splitter"]["split"]) if "splitter" in found else parts
    return SearchMetadata(split, weights if model.scoring is None else dict(found.scorer.score))


def given_to_scorer(model: Any, sample_weight: Any, params: Metadata) -> Metadata:
    weights = _named(sample_weight=sample_weight)
    if not is_routing() or model.scoring is None:
        _refuse_unrouted(model, "score", params)
        return weights
    return dict(process_routing(model, "score", **weights, **params).scorer.score)


def rows_of(given: Metadata, rows: Any, total: int) -> Metadata:
    """The same for some of the rows; what is not one value a row stays as it is."""
    return {
        name: _safe_indexing(value, rows) if _length(value) == total else value
        for name, value in given.items()
    }


def _length(value: Any) -> int | None:
    shape = getattr(value, "shape", None)
    return shape[0] if shape else len(value) if isinstance(value, list | tuple) else None


def _named(**given: Any) -> Metadata:
    return {name: value for name, value in given.items() if value is not None}


def _refuse_unrouted(model: Any, method: str, params: Metadata) -> None:
    if params:
        raise TypeError(
            f"{type(model).__name__}.{method} got unexpected {', '.join(sorted(params))}. Metadata "
            "other than its own arguments need sklearn.set_config(enable_metadata_routing=True), "
            "and an estimator or scorer inside that asks for them by set_fit_request or "
            "set_score_request."
        )


def _check_takes_weights(model: Any, weights: Metadata) -> None:
    if weights and not has_fit_parameter(model.estimator, "sample_weight"):
        base = type(model.estimator).__name__
        raise TypeError(
            f"{type(model).__name__}.fit was given sample_weight, which {base}.fit does not take. "
            "Leave the weights out, or use a base that takes them, such as LinearSVM()."
        )
