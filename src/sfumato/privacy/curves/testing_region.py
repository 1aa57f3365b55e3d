"""The errors that tests between two rows can have: the region above a trade-off function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.arrays import Floats, readonly
from ...errors import InputError
from ..relation import Relation
from ..rows import AnyMechanism
from .trade_off import TradeOff


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TestingRegion:
    """The pairs (false alarm, missed detection) that some test attains.

    A false alarm is to reject the null hypothesis p though it holds; a missed detection
    is not to reject it though the alternative q holds. The region of all tests, those
    that toss coins included, is convex; with (a, b) it holds (1 - a, 1 - b), by the test
    that says the opposite. Its lower edge is the trade-off function.

    Attributes:
        lower: The trade-off function at its lower edge.

    Example:
        >>> TestingRegion.of_epsilon(1.0).contains(0.1, 0.1)
        False

    Source:
        Kairouz, Oh and Viswanath, "The composition theorem for differential privacy",
        2017, section 2; Wasserman and Zhou, 2010. The inclusion of both orders replaces
        what Desfontaines, 2.2.6, prints as one equality: docs/proofs/trade-off.md.
    """

    __test__ = False  # for pytest: the name is a noun, not a test

    lower: TradeOff

    @classmethod
    def of_epsilon(cls, epsilon: float, delta: float = 0.0) -> Self:
        """Return the largest region that (epsilon, delta)-differential privacy allows.

        1 - a <= e**epsilon b + delta and 1 - b <= e**epsilon a + delta, and the same for (1 - a, 1 - b)

        A mechanism has the guarantee where its region lies ``within`` this one. That
        a + b >= 2 (1 - delta) / (1 + e**epsilon) follows from it, but not the reverse.

        Raises:
            InputError: If epsilon is negative, or delta not between 0 and 1.
        """
        return cls(TradeOff.of_epsilon(epsilon, delta))

    @classmethod
    def of(cls, mechanism: AnyMechanism, relation: Relation | None = None) -> Self:
        """Return the least region with a lower edge that holds the tests of all related pairs.

        Args:
            mechanism: A mechanism, or its array (secrets, observables).
            relation: The ordered pairs that count; all pairs by default.

        Raises:
            InputError: If the array is not a mechanism, or the relation has another size.
        """
        return cls(TradeOff.of(mechanism, relation))

    def __repr__(self) -> str:
        return f"TestingRegion with {len(self.vertices)} vertices, area {self.area:.4g}"

    @property
    def vertices(self) -> Floats:
        """The corners (false alarm, missed detection), array (k, 2), counterclockwise from the upper left."""
        lower = np.column_stack([self.lower.alphas, self.lower.betas])
        upper = np.column_stack([self.lower.confidences, self.lower.powers])
        corners = np.concatenate([lower, upper])
        # The lower edge ends in (1, 0); where it starts in (0, 1), the upper one ends there too.
        return readonly(corners[np.any(corners != np.roll(corners, 1, axis=0), axis=1)])

    @property
    def area(self) -> float:
        """The area of the region: 0 where the pair is equal, 1 where it is told apart for certain."""
        return 1 - 2 * self.lower.area

    def contains(self, false_alarm: float, missed_detection: float, tolerance: float = 0.0) -> bool:
        """Return whether some test has these errors.

        Args:
            false_alarm: From 0 to 1.
            missed_detection: From 0 to 1.
            tolerance: By how much the missed detections may lie outside.

        Raises:
            InputError: If an error is not between 0 and 1.
        """
        if not (0 <= false_alarm <= 1 and 0 <= missed_detection <= 1):
            raise InputError(
                f"the errors ({false_alarm}, {missed_detection}) are not probabilities.", "pass two from 0 to 1."
            )
        least = float(self.lower(false_alarm))
        most = 1 - float(self.lower(1 - false_alarm))
        return least - tolerance <= missed_detection <= most + tolerance

    def within(self, other: TestingRegion, tolerance: float = 1e-12) -> bool:
        """Return whether every test of this region lies in the other one.

        Args:
            other: The region to lie in, such as that of a guarantee.
            tolerance: By how much a missed detection may be too small: the rounding of the rows.
        """
        return self.lower.shortfall(other.lower)[0] <= tolerance
