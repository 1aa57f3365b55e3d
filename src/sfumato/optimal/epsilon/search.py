"""The search for an epsilon between those that reach a goal and those that do not, in few steps.

A measure is taken as odds between what reports achieve that say nothing and what those do that say all. Their
logarithm is nearly a straight line in the logarithm of epsilon: a few secants find where it crosses the goal's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...core import Bracket
from ...core.bisection import bisect
from ..solver import Stop
from .goals import DesignGoal
from .result import EpsilonTrial

_MOST: Final = 14  # trials
_ALONE: Final = 6  # of them on one side of the goal
_SHARE: Final = 1 / 3  # of the time that is left, for one trial
_LEAST_S: Final = 1e-3
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


class Tried(NamedTuple):
    """The outcome of one trial.

    Attributes:
        measured: What the goal limits.
        near: About the same, for the choice of the next epsilon.
    """

    measured: Bracket
    near: float


OnTrial = Callable[[EpsilonTrial], None]
Attempt = Callable[[float, float], Tried | None]


@dataclass(slots=True)
class EpsilonSearch:
    """Trials of one kind of mechanism, each for one epsilon.

    Attributes:
        kind: ``program`` or ``noise``.
        attempt: From an epsilon and seconds to what was found; None where the time was over before.
        goal: The goal.
        limit: What is measured is to be at most this.
        extremes: About what is measured where reports say nothing, and where they say all.
        steps: The choice of the next epsilon.
        deadline: When the time is over.
        ended: Asked whether to stop, or the time is over.
        progress: Called with each trial.
        trials: All trials, in order.
    """

    kind: str
    attempt: Attempt
    goal: DesignGoal
    limit: float
    extremes: tuple[float, float]
    steps: Steps
    deadline: float
    ended: Stop
    progress: OnTrial | None
    trials: list[EpsilonTrial] = field(default_factory=list)

    def run(self, holds: float | None = None) -> None:
        """Try epsilons until two that are close differ in whether they reach the goal.

        Args:
            holds: An epsilon that was tried already, and reaches it.
        """
        fails, beyond = (0.0, math.inf) if self.goal.least else (math.inf, 0.0)
        bisect(self.tried, fails, beyond if holds is None else holds, middle=self.steps.following, done=self._done)

    @property
    def best(self) -> float | None:
        """The least, or largest, epsilon with which the goal is reached; None where none is known."""
        reached = [trial.epsilon for trial in self.trials if trial.holds]
        if not reached:
            return None
        return min(reached) if self.goal.least else max(reached)

    def tried(self, epsilon: float, attempt: Attempt | None = None) -> bool:
        """Return whether the goal is proved to be reached with an epsilon.

        Args:
            epsilon: The epsilon.
            attempt: Another one than that of the search.
        """
        begun = time.monotonic()
        found = (attempt or self.attempt)(epsilon, max(_SHARE * (self.deadline - begun), _LEAST_S))
        if found is None:
            return False
        measured, near = found
        trial = EpsilonTrial(epsilon, self.kind, measured, measured.upper <= self.limit, time.monotonic() - begun)
        self.trials.append(trial)
        self.steps.seen[epsilon] = log_odds(near, *self.extremes)
        if self.progress is not None:
            self.progress(trial)
        return trial.holds

    def _done(self, fails: float, holds: float) -> bool:
        held = sum(trial.holds for trial in self.trials)
        alone = len(self.trials) >= _ALONE and held in (0, len(self.trials))
        return self.ended() or alone or len(self.trials) >= _MOST or self.steps.close(fails, holds)
