"""Bins of numbers, such as groups of ages: which bin a number is in belongs to the space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, argument
from .arguments import checked
from .arrays import numbers
from .space import Space

MOST_BINS: Final = 10_000
_LARGEST: Final = 2**53  # whole numbers up to here are floats, too


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumberBins(Space):
    """Bins of one width, side by side: first <= value < first + width, and so on.

    A label is a text such as ``18-22``: the first and the last whole number in the bin. The coordinate is
    the middle of these two.

    Args:
        first: The smallest number of the first bin, a whole number.
        width: The numbers in a bin, a whole number.
        count: How many bins there are.
        unit: The unit of the numbers.
        period: The length of the circle that they are on, a whole number such as 24 for hours; None for a line.

    Raises:
        InputError: If there are no bins, too many, or they go more than once around the circle.

    Example:
        >>> import sfumato as sf
        >>> ages = sf.NumberBins(18, 5, 3)
        >>> ages.labels, ages.positions_of([18, 22.9, 23, 40]).tolist()
        (('18-22', '23-27', '28-32'), [0, 0, 1, -1])
    """

    first: int = field(init=False)
    width: int = field(init=False)

    @checked
    def __init__(self, first: int, width: int, count: int, unit: str = "", *, period: int | None = None) -> None:
        if width < 1:
            raise InputError(f"{argument('width', width)} is not positive.", "use a whole number of at least 1.")
        if not 1 <= count <= MOST_BINS:
            raise InputError(
                f"{count:,} bins were asked for.", f"use 1 to {MOST_BINS:,}, in wider bins if need be."
            )
        if abs(first) > _LARGEST or abs(first + width * count) > _LARGEST:
            raise InputError("the bins reach beyond 2**53.", "count the numbers in a larger unit.")
        starts = [int(first) + int(width) * place for place in range(int(count))]
        middles = [start + (int(width) - 1) / 2 for start in starts]
        labels = [str(start) if width == 1 else f"{start}-{start + int(width) - 1}" for start in starts]
        if period is not None and not 0 < int(width) * int(count) <= period:
            raise InputError(
                f"{count:,} bins of {width} go more than once around a circle of {period}.",
                "use fewer numbers",
                f"pass a larger {argument('period')}.",
            )
        Space.__init__(self, labels, middles, unit, period=period)
        object.__setattr__(self, "first", int(first))
        object.__setattr__(self, "width", int(width))

    def confirms_coordinates(self, _secrets: Space) -> bool:
        """Whether coordinates follow from how rows are matched: always, by their numbers."""
        return True

    def positions_of(self, values: ArrayLike) -> NDArray[np.intp]:
        """Return the bins that numbers are in, array (n,); -1 where a number is in none, or is missing.

        On a circle a number from 0 to a whole turn is in the bin of the same place: the hours 24 and 0 are one,
        and in bins from 6 to 29 the hour 3 is 27.

        Args:
            values: Array (n,), with NaN for missing numbers.
        """
        given = numbers(values, "the numbers")
        if self.period is not None:
            turned = self.first + np.mod(given - self.first, self.period)
            given = np.where((given >= 0) & (given <= self.period), turned, given)
            given = np.where(given == self.first + self.period, self.first, given)
        inside = (given >= self.first) & (given < self.first + self.width * len(self))
        found = np.full(given.shape, -1, dtype=np.intp)
        found[inside] = np.floor((given[inside] - self.first) / self.width).astype(np.intp)
        return found

    def describe(self) -> dict[str, Any]:
        """Return what the bins can be made from again, in plain JSON values."""
        turn = {} if self.period is None else {"period": int(self.period)}
        return {
            "kind": "bins",
            "first": self.first,
            "width": self.width,
            "count": len(self),
            "unit": self.unit,
            **turn,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberBins) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash((self.first, self.width, len(self)))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        period = None if self.period is None else int(self.period)
        return partial(NumberBins, period=period), (self.first, self.width, len(self), self.unit)
