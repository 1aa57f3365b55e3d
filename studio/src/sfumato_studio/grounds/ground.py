"""The ground of a workspace: secrets, their prior, what a report costs and what an epsilon promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks import evaluate, misinformed, optimal
from sfumato.core import AnyLoss, Asked, Bracket, Mechanism, Metric, Prior, Space, hamming
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Design, DesignGoal, Point, sweep
from sfumato.privacy.atlas import Claim
from sfumato.rounding import down

from ..limits import FRONTIER_DESIGNS
from ..refusals import RefusedError

Where = tuple[int | None, float | None, float | None]
"""A position: an index, or a latitude and a longitude."""

_USEFUL: Final = 0.995  # of the loss of one report for everybody; the gap of a frontier's designs is the rest


@dataclass(frozen=True, slots=True, repr=False)
class Measures(CompactRepr):
    """The success of the best attacker.

    Attributes:
        error: How far they err; None where that has no meaning.
        found: How often they find the secret.
    """

    error: Bracket | None
    found: Bracket


class StudioGround(ABC):
    """Secrets of a workspace, and all that is made of them.

    Attributes:
        kind: ``places`` or ``values``.
        prior: How often each secret occurs.
        loss: What a report costs.
        metric: How far secrets are from each other, in the unit of the loss; errors are counted in it.
        epsilon_unit: The unit of epsilon, such as ``1/km``.
        loss_unit: The unit of the loss; "" for a share.
        ends: The least and the largest epsilon that make sense.
        source: Where the data come from, in words.
    """

    kind: str
    prior: Prior
    loss: AnyLoss
    metric: Metric
    epsilon_unit: str
    loss_unit: str
    ends: tuple[float, float]
    source: str

    @property
    def space(self) -> Space:
        """The secrets, which are the reports, too."""
        return self.prior.space

    @abstractmethod
    def promise(self, epsilon: float) -> Asked:
        """Return what an epsilon promises."""

    @abstractmethod
    def errs(self, least: float) -> Asked:
        """Return the guarantee of the attacker's least average error, in the unit of the loss."""

    @abstractmethod
    def exponent(self, epsilon: float) -> float:
        """Return the logarithm of the largest ratio of a report's probabilities under two secrets.

        It is for two points 1 km apart, two numbers 1 apart, or any two values, as `epsilon_unit` says.
        """

    @abstractmethod
    def claim(self, epsilon: float) -> Claim:
        """Return what a promise says of any two secrets, as a claim from which others follow."""

    @abstractmethod
    def measures(self, mechanism: Mechanism) -> Measures:
        """Return what the best attacker achieves, who knows the prior."""

    @abstractmethod
    def spread(self, where: Where) -> Floats:
        """Return the probability of each secret for a person at a position, array (n,)."""

    @abstractmethod
    def away(self, where: Where) -> Floats:
        """Return how far each report is from a position, array (n,), in the unit of the loss."""

    @abstractmethod
    def goal_for_found(self, share: float) -> DesignGoal | None:
        """Return the goal of a search for the largest epsilon with which at most this share is found, if any."""

    @abstractmethod
    def described(self, design: Design) -> list[tuple[str, list[str]]]:
        """Return a design in words: headings with sentences."""

    @abstractmethod
    def answer(self) -> dict[str, Any]:
        """Return the page's description of the ground."""

    @abstractmethod
    def script(self, name: str, epsilon: float, gap: float, distortion: float | None) -> str:
        """Return a Python script that makes a design again.

        Args:
            name: The name of the file with the data.
            epsilon: What it promises.
            gap: How near it is to be to the best possible.
            distortion: The attacker's error that was asked for; None for none.
        """

    @property
    @abstractmethod
    def counted_by(self) -> Mapping[str, Any]:
        """The argument of a sweep by which epsilon counts: visits, or a metric."""

    def swept(
        self,
        epsilons: list[float],
        gap: float,
        time_limit: float,
        stop: Callable[[], bool],
        each: Callable[[Point], None],
    ) -> None:
        """Design for each epsilon, on the same secrets."""
        sweep(
            {"everyone": self.prior},
            loss=self.loss,
            epsilons=epsilons,
            gap=gap,
            tie_break=False,
            time_limit=time_limit,
            method="table",
            stop=stop,
            progress=each,
            **self.counted_by,
        )

    @property
    def epsilons(self) -> list[float]:
        """The epsilons of a frontier: the ends first, then the middles of gaps, to be useful soon."""
        every = [float(f"{each:.4g}") for each in np.geomspace(*self.ends, FRONTIER_DESIGNS)]
        order, waiting = [0, len(every) - 1], [(0, len(every) - 1)]
        while waiting:
            low, high = waiting.pop(0)
            if high - low > 1:
                middle = (low + high) // 2
                order.append(middle)
                waiting += [(low, middle), (middle, high)]
        return [every[place] for place in order]

    @cached_property
    def blind(self) -> Measures:
        """The success of an attacker who sees no report."""
        return self.measures(Mechanism(np.ones((len(self.prior), 1)), self.space, Space(["nothing"])))

    @property
    def loss_of_nothing(self) -> float:
        """A lower bound of the loss of always reporting the same: that of a guess without a report."""
        blind = self.blind
        return down(1 - blind.found.upper) if blind.error is None else blind.error.lower

    def useful(self, loss: float) -> bool:
        """Return whether a loss is smaller by 0.5 % or more than that of one report for everybody."""
        blind = self.blind
        return loss < _USEFUL * (1 - blind.found.value if blind.error is None else blind.error.value)

    def near(self, limit: float) -> NDArray[np.bool_]:
        """Return which secrets are at most so far from each other, array (n, n)."""
        found: NDArray[np.bool_] = self.metric.array <= limit
        return found

    def position_of(self, where: Where) -> int:
        """Return the most probable secret of a person at a position."""
        return int(np.argmax(self.spread(where)))

    def checked_index(self, at: int) -> int:
        """Return an index.

        Raises:
            RefusedError: If there is no such secret.
        """
        if at >= len(self.prior):
            raise RefusedError(422, f"There is no place or value {at}.", f"use 0 to {len(self.prior) - 1}.", "at")
        return at

    def attacked(self, mechanism: Mechanism, belief: Prior) -> dict[str, Measures]:
        """Return what three attackers achieve: with the right prior, with a false belief, and with a true one.

        Args:
            mechanism: The mechanism.
            belief: What the visitor says that they believe.
        """
        return {
            "expected": self._both(mechanism, self.prior, self.prior),
            "mistaken": self._both(mechanism, self.prior, belief),
            "right": self._both(mechanism, belief, belief),
        }

    def _both(self, mechanism: Mechanism, truth: Prior, belief: Prior) -> Measures:
        """Return the error of who wants to be near, and the chance of who wants to be right."""
        near = misinformed(mechanism, truth, self.metric, belief)
        right = optimal(mechanism, belief, hamming(self.space))
        hits = evaluate(mechanism, truth, hamming(self.space), right.strategy).hit_rate or 0.0
        error = Bracket.exact(near.error) if self.loss_unit else None
        return Measures(error, Bracket.exact(hits))
