"""Verbs whose meaning depends on the class of their first argument.

A loss or a row storage is a small ``NamedTuple`` class (a noun).  What can be done with it
is a verb.  ``@rule(verb, Noun)`` says how the verb works on that noun; the same body runs
as plain Python (tests, oracles) and, chosen at compile time, inside numba kernels.  Numba
can cache such kernels on disk, which it cannot for function arguments or jitclasses.
``@otherwise(verb)`` says what holds for the nouns that have no rule of their own.  A noun must be
defined where every process can import it: the index of the kernels on disk names it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from numba.core import event
from numba.extending import overload


def verb(declaration: Callable) -> Any:
    """Turn a declaration (name, arguments, docstring; no body) into a dispatching verb."""
    rules: dict[type, Callable] = {}

    @wraps(declaration)
    def call(noun, *args):
        try:
            body = rules[type(noun)]
        except KeyError:
            body = call.otherwise  # type: ignore[attr-defined]
            if body is None:
                missing = f"{type(noun).__name__} has no rule for {declaration.__name__}."
                raise TypeError(missing) from None
        return body(noun, *args)

    call.rules, call.otherwise = rules, None  # type: ignore[attr-defined]
    return call


def rule(verb: Any, noun: type, **jit_options) -> Callable:
    """Define ``verb`` for ``noun``; keyword arguments go to numba (``fastmath=True``, …)."""

    def register(body: Callable) -> Callable:
        verb.rules[noun] = body

        @overload(verb, strict=False, jit_options=jit_options)  # type: ignore[arg-type]
        def choose(first, *rest):
            if getattr(first, "instance_class", None) is noun:
                return body
            return None

        return body

    return register


def otherwise(verb: Any) -> Callable:
    """Define ``verb`` for every noun without a rule."""

    def register(body: Callable) -> Callable:
        verb.otherwise = body

        @overload(verb, strict=False)
        def choose(first, *rest):
            noun = getattr(first, "instance_class", None)
            return body if noun is not None and noun not in verb.rules else None

        return body

    return register


class _CompileNotice(event.Listener):
    """Says once, at a terminal, why a first fit takes seconds."""

    def __init__(self):
        self.depth, self.began, self.total, self.told = 0, 0.0, 0.0, False

    def on_start(self, event):
        if self.depth == 0:
            self.began = time.perf_counter()
        self.depth += 1

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            self.total += time.perf_counter() - self.began
            if self.total > 1.0 and not self.told and sys.stderr.isatty():
                self.told = True
                print(
                    "[maxmargin] compiling kernels for their first use; they are kept on disk",
                    file=sys.stderr,
                )


event.register("numba:compile", _CompileNotice())
