"""Numbers known to lie between two rationals.

    [a, b] + [c, d] = [a + c, b + d],   [a, b]·[c, d] = [min, max of ac, ad, bc, bd]

Sums and products of rationals are exact, so an interval is wider than a point only where exp, log
or a square root came in.  Those are taken from ``decimal``, whose exp, ln and sqrt are correctly
rounded, at the ends of an interval of decimals around the argument, and moved outwards by one unit.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

DIGITS = 50
UNIT = Fraction(1, 10 ** (DIGITS - 1))
_DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
# exp(−this) lies between nothing and ``TINY``: rationals need not carry its zeros.
NEGLIGIBLE_EXPONENT, TINY = 400, Fraction(1, 10**170)


class Interval(NamedTuple):
    """lo ≤ x ≤ hi."""

    lo: Fraction
    hi: Fraction

    def __add__(self, other):
        other = interval(other)
        return Interval(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other):
        other = interval(other)
        return Interval(self.lo - other.hi, self.hi - other.lo)

    def __rsub__(self, other):
        return interval(other) - self

    def __neg__(self):
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other):
        if not isinstance(other, Interval):
            a, b = self.lo * other, self.hi * other
            return Interval(min(a, b), max(a, b))
        ends = [a * b for a in self for b in other]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other):
        """By a positive number that is known exactly."""
        return Interval(self.lo / other, self.hi / other)

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other


Number = Any  # Fraction or Interval: arithmetic does not tell them apart


def interval(x) -> Interval:
    return x if isinstance(x, Interval) else Interval(Fraction(x), Fraction(x))


def low(x: Number) -> Fraction:
    return interval(x).lo


def high(x: Number) -> Fraction:
    return interval(x).hi


def larger(x: Number, y: Number) -> Number:
    """max(x, y)."""
    if isinstance(x, Interval) or isinstance(y, Interval):
        x, y = interval(x), interval(y)
        return Interval(max(x.lo, y.lo), max(x.hi, y.hi))
    return max(x, y)


def square(x: Number) -> Number:
    """x², which is never below zero."""
    if not isinstance(x, Interval):
        return x * x
    a, b = x.lo * x.lo, x.hi * x.hi
    return Interval(Fraction(0) if x.lo < 0 < x.hi else min(a, b), max(a, b))


def around(x: Number) -> tuple[Decimal, Decimal]:
    """Two decimals of ``DIGITS`` digits with x between them."""
    x = interval(x)
    lo = _DOWN.divide(Decimal(x.lo.numerator), Decimal(x.lo.denominator))
    hi = _UP.divide(Decimal(x.hi.numerator), Decimal(x.hi.denominator))
    return lo, hi


def rounded(x: Number) -> Number:
    """The same with fewer digits, a little wider; exact numbers are left alone."""
    if not isinstance(x, Interval):
        return x
    lo, hi = around(x)
    return Interval(Fraction(lo), Fraction(hi))


def _below(x: Decimal) -> Fraction:
    """A unit of the last digit down; 0 is only ever exact."""
    exact = Fraction(x)
    return exact - abs(exact) * UNIT


def _above(x: Decimal) -> Fraction:
    exact = Fraction(x)
    return exact + abs(exact) * UNIT


def exp(x: Number) -> Interval:
    """e^x of x ≤ 0 or moderate."""
    x = interval(x)
    if x.hi < -NEGLIGIBLE_EXPONENT:
        return Interval(Fraction(0), TINY)
    lo, hi = around(Interval(max(x.lo, Fraction(-NEGLIGIBLE_EXPONENT)), x.hi))
    below = Fraction(0) if x.lo < -NEGLIGIBLE_EXPONENT else _below(_DOWN.exp(lo))
    return Interval(below, _above(_UP.exp(hi)))


def log(x: Number) -> Interval:
    """Natural logarithm of x > 0."""
    lo, hi = around(x)
    if lo <= 0:
        raise ValueError("the logarithm of a number that may be zero")
    return Interval(_below(_DOWN.ln(lo)), _above(_UP.ln(hi)))


def sqrt(x: Number) -> Interval:
    """Square root of x ≥ 0."""
    lo, hi = around(x)
    return Interval(_below(_DOWN.sqrt(max(lo, Decimal(0)))), _above(_UP.sqrt(hi)))


def entropy(p: Fraction) -> Interval:
    """p log p of a number known exactly; 0 at 0."""
    return log(p) * p if p > 0 else interval(0)
