"""The bound of every mechanism that keeps a promise per metre, and its rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket
from ...core.arguments import checked
from ...core.arrays import Floats, floats, freeze
from ...core.immutable import Immutable
from ...errors import InputError
from ...rounding import UNIT, amount_at_least, amount_at_most, counted, exactly, percent_at_most


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a bound.

    Attributes:
        corners: Reports in the program.
        bound: The bound of this round, in the unit of the answer.
        understated: About how much of the loss the program's costs leave out.
        seconds: Since the start.
    """

    corners: int
    bound: float
    understated: float
    seconds: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoordinateBound(Immutable):
    """The least expected loss of any mechanism that keeps a promise per unit of distance.

    "Any" has no exception: reports may be points, cells or anything else that is read as a point of the
    plane, finitely many or not. The promise is M(x, B) <= e^(epsilon |x - x'|) M(x', B) for all of
    the places, all points in ``empty``, and all sets B of reports.

    Attributes:
        epsilon: The promise, per ``unit``.
        unit: The unit of lengths, such as ``"km"``.
        loss: ``euclidean`` or ``squared``.
        least: The least expected loss, in ``unit`` (squared where the loss is). Its lower end is proved for
            every mechanism. Its upper end, where it is finite, is the proved loss of a mechanism that keeps
            the promise between these places (not between all points of the plane). Its value is the
            lower end: what is known of all mechanisms.
        places: The distinct places, array (n, 2), metres.
        weights: Their shares, array (n,), with sum one.
        rows: Which of them each given place is, array (visits,).
        heads: How many of the places are secrets of the program; the others are near one of them.
        empty: How many points where nobody is are secrets, too.
        radius: How far at most a place is from the one that stands for it, in ``unit``.
        log: The rounds.
        seconds: The time it took.
    """

    epsilon: float
    unit: str
    loss: str
    least: Bracket
    places: Floats
    weights: Floats
    rows: NDArray[np.intp]
    heads: int
    empty: int
    radius: float
    log: tuple[Round, ...]
    seconds: float

    def __post_init__(self) -> None:
        for name in ("places", "weights", "rows"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @property
    def loss_unit(self) -> str:
        """The unit of the loss."""
        return self.unit if self.loss == "euclidean" else f"{self.unit}^2"

    @property
    def lower(self) -> float:
        """The proved bound: no mechanism with the promise loses less."""
        return self.least.lower

    @property
    def sentence(self) -> str:
        """The proved statement, in words."""
        least, where = amount_at_least(self.lower, self.loss_unit), _counted(len(self.rows), len(self.places))
        promise = f"No mechanism that keeps epsilon {exactly(self.epsilon)}/{self.unit} between all points can"
        if self.loss == "squared":
            return f"{promise} have a mean squared distance of less than {least} on these {where}."
        return f"{promise} lose less than {least} on average on these {where}."

    @checked
    def excess(self, loss: float | ArrayLike) -> float:
        """Return by what share, at most, a mechanism's loss on these places exceeds the least possible.

        Args:
            loss: The mechanism's expected loss of the true point, in `loss_unit`: one number, the mean over the
                places given, or an array with one for each of them in their order.

        Returns:
            0.06 for a loss of at most 1.06 times the least; ``inf`` where the bound is 0.

        Raises:
            InputError: If it is less than any mechanism with the promise can lose, or does not fit the places.
        """
        mean = self._mean(loss)
        if mean < self.lower:
            raise InputError(
                f"a loss of {amount_at_most(mean, self.loss_unit)} was given, but no mechanism with this promise "
                f"loses less than {amount_at_least(self.lower, self.loss_unit)} on these places.",
                "give the mechanism's expected loss on the same places, and a mechanism with the same promise.",
            )
        if self.lower <= 0:
            return 0.0 if mean <= 0 else math.inf
        return max(0.0, mean / self.lower * (1 + 4 * UNIT) - 1 + 4 * UNIT)

    def compared(self, loss: float | ArrayLike) -> str:
        """Return the sentence on how near a mechanism's loss is to the least; see `excess`."""
        share = self.excess(loss)
        if math.isinf(share):
            return "How near it is to the best that any mechanism of this epsilon could do is not known."
        return (
            f"It is within {percent_at_most(share)} of the best that any mechanism of this epsilon could do "
            "on these places."
        )

    def _mean(self, loss: float | ArrayLike) -> float:
        if np.ndim(loss) == 0:
            return float(floats(np.atleast_1d(np.asarray(loss)), "the loss", shape=(1,))[0])
        each = floats(loss, "the losses", shape=(len(self.rows),))
        share = self.weights[self.rows] / np.bincount(self.rows)[self.rows]
        return float(share @ each) * (1 + (len(each) + 8) * UNIT)

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return (
            f"CoordinateBound: epsilon {exactly(self.epsilon)}/{self.unit}, {self.loss} loss at least "
            f"{amount_at_least(self.lower, self.loss_unit)} on {_counted(len(self.rows), len(self.places))}"
        )


def _counted(given: int, distinct: int) -> str:
    places = counted(distinct, "place")
    return places if given == distinct else f"{counted(given, 'visit')} to {places}"
