"""What proves that a design is near its optimum, in a form that travels with its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core import DistortionPrivacy, Guarantee, Loss, MetricPrivacy, Prior
from ..core.arrays import Floats
from ..core.metric import shortest_paths
from ..errors import InputError
from .bounds import Multipliers, distortion_bound, loss_bound


@dataclass(frozen=True, slots=True, eq=False)
class Optimality:
    """The prices that prove a bound on the objective of a design.

    Attributes:
        objective: ``expected`` or ``worst-case`` loss, or ``distortion`` (the dual game).
        multipliers: The prices; their exponents are not believed but computed again.
        distance: The adversary's distance, where the objective is ``distortion``.
        max_loss: The bound on the expected loss, where the objective is ``distortion``.
    """

    objective: str
    multipliers: Multipliers
    distance: Loss | None = None
    max_loss: float = np.inf


def prove_optimality(prior: Prior, loss: Loss, guarantees: Sequence[Guarantee], optimality: Optimality) -> float:
    """Return the bound on the objective that holds for every mechanism with the guarantees.

    Args:
        prior: The prior on the n secrets.
        loss: The loss, array (n, m).
        guarantees: The guarantees.
        optimality: The prices.

    Returns:
        A lower bound of the loss, or an upper bound of the distortion.

    Raises:
        InputError: If prices name secrets or observables that do not exist, or price
            constraints that nothing asks for.
    """
    n, m = loss.array.shape
    allowed = _allowed(guarantees, n)
    prices = optimality.multipliers
    for places, size in ((prices.secrets, n), (prices.others, n), (prices.observables, m)):
        if len(places) and not (int(places.min()) >= 0 and int(places.max()) < size):
            raise InputError("a price is for a secret or observable that does not exist.", "the file is damaged.")
    exponents = allowed[prices.secrets, prices.others]
    if np.isinf(exponents[prices.local > 0]).any():
        raise InputError("a price is for a pair that no guarantee is about.", "the file is damaged.")
    prices = replace(prices, exponents=np.where(np.isinf(exponents), 0.0, exponents))
    if optimality.objective == "distortion":
        if optimality.distance is None:
            raise InputError("the dual game has no distance.", "the file is damaged.")
        distance = optimality.distance.array
        return distortion_bound(prior.probabilities, loss.array, distance, optimality.max_loss, prices)
    distortions = [g for g in guarantees if isinstance(g, DistortionPrivacy)]
    if not distortions:
        prices = replace(prices, guesses=None)
        return loss_bound(prior.probabilities, loss.array, prices)
    return loss_bound(
        prior.probabilities, loss.array, prices, distortions[0].distance.array, distortions[0].minimum
    )


def _allowed(guarantees: Sequence[Guarantee], n: int) -> Floats:
    """Return the exponents that the guarantees together imply, array (n, n)."""
    exponents = np.full((n, n), np.inf)
    plain = 0
    for guarantee in guarantees:
        if isinstance(guarantee, MetricPrivacy):
            exponents = np.minimum(exponents, guarantee.epsilon * guarantee.metric.array)
            plain += 1 if guarantee.metric.triangle else 2
    return exponents if plain <= 1 else shortest_paths(exponents)
