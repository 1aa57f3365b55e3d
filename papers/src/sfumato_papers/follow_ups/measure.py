"""Loss and conditional entropy of one mechanism, before and after the best remap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, pi, sqrt
from typing import Final

import numpy as np

from sfumato.attacks import optimal
from sfumato.core import Mechanism, Metric, Prior, loss
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import median_from
from sfumato.leakage import conditional_entropy_bits
from sfumato.mechanisms import PlanarLaplace, remapped, remapped_in_plane

from .published import CIRCLE, EXPOST, GAUSSIAN, LAPLACE

_BLOCK: Final = 256  # simulated reports at a time
_TOLERANCE: Final = 1e-6  # relative, of a geometric median's loss


@dataclass(frozen=True, slots=True, repr=False)
class Measure(CompactRepr):
    """Loss and entropy of one mechanism at one level.

    Attributes:
        city: Where the spots are.
        mechanism: Its name.
        level_km: 2 / epsilon: the mean length of planar Laplace noise; None for the coin.
        seed: Of the simulation; None where all was summed.
        loss_before_km: The expected distance from secret to report.
        loss_km: The same after every report moved to the best point of the plane.
        entropy_bits: The entropy of the secret that is left when the report is known.
        moved_km: The expected distance after every report moved to the best spot; None where that is not summed.
        error_km: The error of the best attacker against those; None where that is not summed.
    """

    city: str
    mechanism: str
    level_km: float | None
    seed: int | None
    loss_before_km: float
    loss_km: float
    entropy_bits: float
    moved_km: float | None = None
    error_km: float | None = None

    @property
    def gain(self) -> float:
        """The part of the loss that the remap takes away."""
        return 1 - self.loss_km / self.loss_before_km


def of_mechanism(
    city: str, name: str, level_km: float | None, mechanism: Mechanism, prior: Prior, metric: Metric
) -> Measure:
    """Return the measures of a mechanism whose reports are its secrets, summed over all of them.

    Args:
        city: Where the secrets are.
        name: The mechanism's name.
        level_km: The level that it was made for.
        mechanism: The mechanism.
        prior: The prior on its secrets.
        metric: Their distances in kilometres.
    """
    plane = remapped_in_plane(mechanism, prior, tolerance=_TOLERANCE)
    distances = loss(plane.secrets, plane.observables, "euclidean", unit="km")
    spots = remapped(mechanism, prior, metric)
    return Measure(
        city,
        name,
        level_km,
        None,
        mechanism.expected_loss(prior, metric),
        plane.expected_loss(prior, distances),
        conditional_entropy_bits(mechanism, prior),
        spots.expected_loss(prior, metric),
        optimal(spots, prior, metric).error,
    )


def of_noise(
    city: str, name: str, level_km: float, prior: Prior, metric: Metric, *, samples: int, seed: int
) -> Measure:
    """Return the measures of noise in the plane, from simulated reports.

    For each report the loss and the entropy are those of its exact posterior, so that only the choice of reports
    is left to chance.

    Args:
        city: Where the secrets are.
        name: ``Laplace``, ``Gaussian`` or ``circle``.
        level_km: The mean length of the noise.
        prior: The prior on secrets with coordinates in metres.
        metric: Their distances in kilometres.
        samples: How many reports.
        seed: Of the simulation.

    Raises:
        InputError: If the noise is unknown, or the secrets have no coordinates in metres.
    """
    coordinates = prior.space.coordinates
    if coordinates is None or prior.space.unit != "m":
        raise InputError(f"{prior.space!r} has no coordinates in metres.", "use places on a plane.")
    rng = np.random.default_rng([seed, round(1000 * level_km), len(name)])
    support = prior.support
    points, weights = coordinates[support] / 1000, prior.probabilities[support]
    between = metric.array[np.ix_(support, support)]
    true = points[rng.choice(len(support), size=samples, p=weights / weights.sum())]
    reports = true + _noise(name, level_km, samples, rng)
    losses, entropies = np.empty(samples), np.empty(samples)
    for start in range(0, samples, _BLOCK):
        block = reports[start : start + _BLOCK]
        squares = ((block[:, None, :] - points) ** 2).sum(axis=2)
        logs = _log_density(name, level_km, squares) + np.log(weights)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        nearest = np.argmin(posterior @ between, axis=1)
        for offset, (first, belief) in enumerate(zip(nearest, posterior, strict=True)):
            possible = belief > 0
            found = median_from(points[possible], belief[possible], points[first], _TOLERANCE)
            losses[start + offset] = found.total.value
            entropies[start + offset] = -(belief[possible] * np.log2(belief[possible])).sum()
    return Measure(city, name, level_km, seed, level_km, float(losses.mean()), float(entropies.mean()))


def bits_below(found: Iterable[tuple[str, float, float]]) -> dict[int, float]:
    """Return by how many bits the entropy of each mechanism is below ExPost's at the same loss.

    ExPost's entropy is read on the chord between its two neighbouring measures; as a function of the loss it is
    concave, so the chord is below it. Mechanisms that lose less or more than all its measures are left out.

    Args:
        found: The name, loss and entropy of ExPost and of other mechanisms, at several levels.

    Returns:
        Bits, by the position in ``found``.

    Raises:
        InputError: If ExPost is not among them.
    """
    every = list(found)
    best = sorted((lost, bits) for name, lost, bits in every if name == EXPOST)
    if not best:
        raise InputError("ExPost is not among the measures.", "measure it too.")
    losses, entropies = zip(*best, strict=True)
    return {
        position: float(np.interp(lost, losses, entropies) - bits)
        for position, (name, lost, bits) in enumerate(every)
        if name != EXPOST and losses[0] <= lost <= losses[-1]
    }


def _sigma(level_km: float) -> float:
    return level_km / sqrt(pi / 2)


def _noise(name: str, level_km: float, samples: int, rng: np.random.Generator) -> Floats:
    """Return noise in kilometres, array (samples, 2)."""
    if name == LAPLACE:
        return PlanarLaplace(2 / level_km, "km").simulate(np.zeros((samples, 2)), rng)
    if name == GAUSSIAN:
        return rng.normal(0, _sigma(level_km), (samples, 2))
    if name == CIRCLE:
        radius, angle = 1.5 * level_km * np.sqrt(rng.random(samples)), rng.uniform(0, 2 * pi, samples)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    raise InputError(f"the noise {name!r} is unknown.", f"use {LAPLACE}, {GAUSSIAN} or {CIRCLE}.")


def _log_density(name: str, level_km: float, squares: Floats) -> Floats:
    """Return the logarithm of the density up to a constant, for squared lengths in square kilometres."""
    if name == LAPLACE:
        logs: Floats = -2 / level_km * np.sqrt(squares)
    elif name == GAUSSIAN:
        logs = -squares / (2 * _sigma(level_km) ** 2)
    else:
        # A report on the rim is within it, whatever the last bits say.
        logs = np.where(squares <= (1.5 * level_km) ** 2 * (1 + 1e-9), 0.0, -inf)
    return logs
