"""Which pictures belong to a fit."""

from __future__ import annotations

from ..train.fit import Fitted
from .figures import Maker

Pictures = list[tuple[str, Maker]]


def choice(fitted: Fitted) -> Pictures:
    return []


def judgement(fitted: Fitted) -> Pictures:
    return []


def proof(fitted: Fitted) -> Pictures:
    return []


def shapes(fitted: Fitted) -> Pictures:
    return []


def weights(fitted: Fitted) -> Pictures:
    return []


def comparison(found) -> Pictures:
    return []


def path(found) -> Pictures:
    return []
