"""The equilibrium of a design: the attacker's best strategy, what it proves, and the price of privacy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, python
from ..proofs import PlaceDistortion, distortion_below, distortion_bound
from .problem import DISTORTION, WORST_CASE
from .result import Design


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Equilibrium(CompactRepr):
    """Both sides of the game between someone who obfuscates and an attacker who knows how.

    The mechanism forces an error of at least ``error_lower`` on every attacker. Whoever keeps the same metric
    privacy and loses no more on average cannot force one above ``error_upper``: the strategy proves it. Where the
    two meet, each side's strategy is a best response to the other's.

    Attributes:
        strategy: The attacker's strategy q(guess|o), array (observables, guesses); rows sum to one. Unlike the
            attack of least error on one mechanism, it is drawn at random in general. Without a price it means
            nothing.
        price: The shadow price of privacy: how much the least loss grows per unit of error that is asked for, by
            the solver's prices; 0 where it does not bind, and ``inf`` where more loss buys no error.
        error_lower: Proved: the error that the mechanism forces at least.
        error_upper: Proved: the error that any such mechanism can force at most.
        unit: The unit of errors.
        price_unit: The unit of the loss that the price is paid in; empty for a pure number.
    """

    strategy: Floats
    price: float
    error_lower: float
    error_upper: float
    unit: str
    price_unit: str

    @property
    def gap(self) -> float:
        """The distance of the two sides' values at most, in ``unit``."""
        return max(self.error_upper - self.error_lower, 0.0)


@checked
def equilibrium(design: Design) -> Equilibrium:
    """Return the attacker's equilibrium strategy against a design, and the price of its privacy.

    The prices of the rows of the attack, divided by their sum for each report, are the strategy; the sum is the
    price. Both follow from the prices that came with the design, however inexact these are: the bound that they
    prove is computed again.

    Args:
        design: A design of least expected loss with `DistortionPrivacy`, or one by `design_private`.

    Raises:
        InputError: If it was made without a distortion, with several, with that of true places, with linear
            constraints, or for the worst-case loss; or if it has no prices.

    Source:
        Shokri et al., CCS 2012 (the two linear programs are each other's dual); Shokri, "Privacy Games", equations
        19 to 24.
    """
    problem, optimality = design.problem, design.optimality
    if problem.general:
        raise InputError(
            "the design is for several attackers or has linear constraints, so its privacy has no single price.",
            python("design with one DistortionPrivacy and no constraints=."),
        )
    distance = problem.distance
    if distance is None or any(isinstance(each, PlaceDistortion) for each in problem.guarantees):
        raise InputError(
            "the design has no attacker whose error was asked for among finitely many guesses.",
            python("design with DistortionPrivacy, or with design_private."),
        )
    if problem.objective == WORST_CASE:
        raise InputError(
            "the price of privacy is paid in expected loss, but the design is for the worst-case loss.",
            python("leave objective= out."),
        )
    prices = None if optimality is None else optimality.multipliers
    if prices is None:
        raise InputError("the design has no prices, so nothing is known of the attacker.", "allow more time.")
    given = np.zeros((len(distance.array), problem.shape[1])) if prices.guesses is None else prices.guesses
    positive = np.maximum(given, 0.0)
    sums = positive.sum(axis=0)
    if problem.objective == DISTORTION:
        loss = max(prices.loss, 0.0)
        price, most = (1 / loss if loss > 0 else np.inf), problem.max_loss
        found = prices
    else:
        price, most = float(sums.min()), design.certificate.loss
        rate = 1 / price if price > 0 else 0.0
        # Without a price, no guesses: what no report at all reveals is then the bound.
        guesses = positive * rate if price > 0 else None
        found = replace(prices, guesses=guesses, local=prices.local * rate, loss=rate)
    strategy = np.divide(positive, sums, out=np.full_like(positive, 1 / len(positive)), where=sums > 0)
    upper = distortion_bound(problem.prior.probabilities, problem.loss.array, distance.array, most, found)
    return Equilibrium(
        readonly(np.ascontiguousarray(strategy.T)),
        price,
        distortion_below(design.mechanism, problem.prior, distance),
        upper,
        distance.unit,
        problem.loss.unit,
    )
