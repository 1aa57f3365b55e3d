"""Brackets (a number between two bounds), sides of statements, and bisection."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar, final

from ..rounding import (
    about,
    amount,
    amount_at_least,
    amount_at_most,
    at_least,
    at_most,
    percent,
    percent_at_least,
    percent_at_most,
)

Number = TypeVar("Number", int, float)
_STEPS: Final = 2200  # more than any two floats are halvings apart


class Side(enum.Enum):
    """Relation of a stated number to the true one; the value is the word for it."""

    AT_MOST = "at most"
    AT_LEAST = "at least"
    ESTIMATE = "estimate"

    def number(self, value: float, digits: int = 4) -> str:
        """Write a number, rounded to this side."""
        return {Side.AT_MOST: at_most, Side.AT_LEAST: at_least, Side.ESTIMATE: about}[self](value, digits)

    def amount(self, value: float, unit: str, digits: int = 3) -> str:
        """Write a quantity with its unit, rounded to this side."""
        write = {Side.AT_MOST: amount_at_most, Side.AT_LEAST: amount_at_least, Side.ESTIMATE: amount}[self]
        return write(value, unit, digits)

    def percent(self, share: float) -> str:
        """Write a share as a percentage, rounded to this side."""
        write = {Side.AT_MOST: percent_at_most, Side.AT_LEAST: percent_at_least, Side.ESTIMATE: percent}[self]
        return write(share)


@final
@dataclass(frozen=True, slots=True)
class Bracket:
    """An estimate with bounds of the true number: lower <= truth <= upper, infinite where nothing is known.

    The object that has the bracket says whether its bounds are proved or statistical. An estimate from samples may
    lie outside them.

    Example:
        >>> share = Bracket(0.4971, 0.5, 0.5029)
        >>> print(share, "-", Side.AT_MOST.number(share.upper, 2))
        0.5 (0.4971 to 0.5029) - 0.51
    """

    lower: float
    value: float
    upper: float

    @classmethod
    def exact(cls, value: float) -> Self:
        """Return the bracket of a number that is known."""
        return cls(value, value, value)

    @classmethod
    def of_bounds(cls, lower: float, upper: float) -> Self:
        """Return the bracket of two bounds, with their middle as the estimate."""
        return cls(lower, (lower + upper) / 2, upper)

    @property
    def width(self) -> float:
        """The distance of the bounds."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    def knows(self, side: Side) -> bool:
        """Return whether the bound of a side is known; infinity is known where the number itself is infinite."""
        if side is Side.AT_MOST:
            return self.upper < math.inf or self.value == math.inf
        return side is Side.ESTIMATE or self.lower > -math.inf

    def at(self, side: Side) -> float:
        """Return the bound of a side, or the estimate."""
        return {Side.AT_MOST: self.upper, Side.AT_LEAST: self.lower, Side.ESTIMATE: self.value}[side]

    def __str__(self) -> str:
        """The estimate with its bounds, each rounded to its side."""
        if self.lower == self.upper:
            return about(self.value)
        return f"{about(self.value)} ({at_least(self.lower)} to {at_most(self.upper)})"


class Ends(NamedTuple, Generic[Number]):
    """Two arguments of a condition: where it fails and where it holds, by test or by the caller's word."""

    fails: Number
    holds: Number


def bisect(
    condition: Callable[[Number], bool],
    fails: Number,
    holds: Number,
    *,
    middle: Callable[[Number, Number], Number] | None = None,
    relative: float = 0.0,
    stop: Callable[[Number, Number], bool] | None = None,
    steps: int = _STEPS,
) -> Ends[Number]:
    """Return two arguments between which a condition changes, as close together as requested.

    Each step tests an argument between the ends and replaces the end that has the same answer. So a condition that
    holds at the given ``holds``, which may be below ``fails``, was tested true at the returned one, even if it is
    not monotone; likewise ``fails``. ``middle`` returns an argument between both ends, by default their mean
    (integers stay integers). The search stops where the ends differ by at most the part ``relative`` of the larger
    one, where ``stop`` holds for both, after ``steps`` tests, or where no number lies between them.
    """
    between: Callable[[Any, Any], Any] = middle or _mean
    for _ in range(steps):
        if abs(holds - fails) <= relative * max(abs(holds), abs(fails)) or (stop and stop(fails, holds)):
            break
        trial = between(fails, holds)
        if trial in (fails, holds):
            break
        if condition(trial):
            holds = trial
        else:
            fails = trial
    return Ends(fails, holds)


def double(condition: Callable[[Number], bool], fails: Number, holds: Number) -> Ends[Number]:
    """Return two arguments between which a condition begins to hold, doubling ``holds``, not 0, until it does."""
    while not condition(holds):
        fails, holds = holds, 2 * holds
    return Ends(fails, holds)


def geometric_mean(first: float, second: float) -> float:
    """Return the geometric mean of two positive numbers, for searches over orders of magnitude."""
    return math.sqrt(first * second)


def _mean(first: float, second: float) -> float:
    total = first + second
    return total // 2 if isinstance(total, int) else total / 2
