"""Steps of the search for epsilon: few, because what is measured is almost a straight line in the right scales.

A measure is taken as odds between what reports achieve that say nothing and what those do that say all. Their
logarithm is nearly a straight line in the logarithm of epsilon: a few secants find where it crosses the goal's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

_SLOPES: Final = (2.2, 1.4)  # of the line, before two designs show it: below even odds, and above
_FLATTEST: Final = 0.3
_WIDEST: Final = math.log(4)  # one step where an end is unknown
_MOST_ODDS: Final = 12.0
_STRAIGHT: Final = 7  # designs after which every other step halves an interval
_FAR: Final = 3.0  # in log-odds: an end so far from the goal says little of the line there
_MARGIN: Final = 0.1  # of an interval, at its ends
_DIGITS: Final = 4  # of an epsilon


def log_odds(value: float, blind: float, clear: float) -> float:
    """Return the logarithm of the odds of a value between what is measured blindly and clearly, within +-12."""
    share = (blind - value) / (blind - clear)
    if not 0 < share < 1:
        return math.copysign(_MOST_ODDS, share - 0.5)
    return max(-_MOST_ODDS, min(_MOST_ODDS, math.log(share) - math.log1p(-share)))


def slope_at(odds: float) -> float:
    """Return about the slope of the line, up to some log-odds from even ones."""
    return _SLOPES[odds > 0]


@dataclass(slots=True)
class Steps:
    """The choice of the next epsilon to try.

    Attributes:
        target: The log-odds of the goal.
        first: The epsilon to begin with.
        tolerance: The relative distance of epsilons that ends the search.
        seen: The log-odds of each epsilon tried.
    """

    target: float
    first: float
    tolerance: float
    seen: dict[float, float] = field(default_factory=dict)

    def close(self, fails: float, holds: float) -> bool:
        """Return whether two epsilons are as near as was asked for."""
        low, high = sorted((fails, holds))
        return low > 0 and high < math.inf and high <= low * (1 + self.tolerance)

    def following(self, fails: float, holds: float) -> float:
        """Return the next epsilon between the nearest one that fails and the nearest one that holds.

        Args:
            fails: 0 or infinite where none is known.
            holds: Likewise.
        """
        low, high = sorted((fails, holds))
        if not self.seen:
            return self.first
        if low > 0 and high < math.inf:
            found = self._between(low, high)
        else:
            found = self._beyond(low if low > 0 else high, 1 if low > 0 else -1)
        rounded = float(f"{math.exp(found):.{_DIGITS - 1}e}")
        return rounded if low < rounded < high else math.exp(found)

    def _between(self, below: float, above: float) -> float:
        """Return the next log epsilon between two epsilons that were tried."""
        low, high = math.log(below), math.log(above)
        width = high - low
        bent = max(abs(self.seen[end] - self.target) for end in (below, above)) > _FAR
        if bent or (len(self.seen) >= _STRAIGHT and len(self.seen) % 2):
            return low + width / 2
        aimed = self._crossing(3)
        if not low < aimed < high:
            aimed = min(high, max(low, self._crossing(2)))
        # A little to the side that is farther away, so that both ends come near.
        aimed += math.copysign(self.tolerance / 3, high - aimed - (aimed - low))
        edge = _MARGIN * width
        return min(high - edge, max(low + edge, aimed))

    def _crossing(self, count: int) -> float:
        """Return where a polynomial through the nearest points, log epsilon for log-odds, meets the target."""
        near = sorted(self.seen.items(), key=lambda item: abs(item[1] - self.target))[:count]
        odds = [each for _, each in near]
        if len(set(odds)) < len(odds):
            return math.nan
        found = 0.0
        for k, (epsilon, own) in enumerate(near):
            ratios = [(self.target - other) / (own - other) for other in odds[:k] + odds[k + 1 :]]
            found += math.log(epsilon) * math.prod(ratios)
        return found

    def _beyond(self, end: float, sign: int) -> float:
        """Return the next log epsilon above (sign 1) or below (sign -1) the only end that is known."""
        at = math.log(end)
        odds = self.seen[end]
        slope: float = slope_at(self.target)
        others = [epsilon for epsilon in self.seen if epsilon != end]
        if others:
            last = min(others, key=lambda epsilon: abs(math.log(epsilon) - at))
            slope = max(_FLATTEST, (odds - self.seen[last]) / (at - math.log(last)))
        least = self.tolerance * 2.0 ** (2 * len(others) - 1)  # where the line says "here", growing steps
        step = max(least, sign * (self.target - odds) / slope + self.tolerance / 3)
        widest = 2 * _WIDEST if others and slope > _FLATTEST else _WIDEST
        return at + sign * min(step, widest)
