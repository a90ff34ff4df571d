"""Colours and markers that survive colour blindness, grey print and a phone in the sun."""

from __future__ import annotations

from collections.abc import Sequence

# Okabe and Ito's colours, the light ones darkened until they can be seen on white; the order
# keeps neighbours apart for every kind of colour blindness.  Classes differ by marker as well.
CLASS_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b6568f", "#8c6d00",
           "#3d8fc4", "#7a4a1e", "#5e5ea8", "#5f7f3f", "#a23b4a")  # fmt: skip
CLASS_MARKERS = ("circle", "square", "triangle", "diamond", "cross", "inverted", "star", "plus")

INK_COLOURS = {
    "ink": "#1f2430",
    "muted": "#6b7280",
    "faint": "#d5d9e0",
    "paper": "#ffffff",
    "unknown": "#9aa1ab",
    "good": "#009e73",
    "bad": "#b3261e",
    "on the margin": "#1f2430",
    "inside the margin": "#8a2be2",  # of no class
    "misclassified": "#b3261e",
    # Coefficients speak for and against a class, but are none: dark and light, as in print.
    "for": "#334155",
    "against": "#8491a5",
}


def colour(paint: str) -> str:
    """The colour of a paint: an ink by name, or ``"class 3"``; classes beyond ten repeat."""
    if paint in INK_COLOURS:
        return INK_COLOURS[paint]
    word, _, number = paint.partition(" ")
    if word == "class" and number.isdigit():
        return CLASS_COLOURS[int(number) % len(CLASS_COLOURS)]
    raise ValueError(
        f"There is no paint {paint!r}; have 'class 0', 'class 1', … and {[*INK_COLOURS]}."
    )


def marker(index: int) -> str:
    """The marker of a class."""
    return CLASS_MARKERS[index % len(CLASS_MARKERS)]


def class_paints(classes: Sequence) -> list[str]:
    """One paint for each class."""
    return [f"class {index}" for index in range(len(classes))]
