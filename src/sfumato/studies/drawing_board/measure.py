"""Loss and conditional entropy of one mechanism, before and after the best remap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, pi, sqrt
from typing import Final

import numpy as np

from ...core import Mechanism, Metric, Prior, loss
from ...core.arrays import Floats
from ...errors import InputError
from ...leakage import conditional_entropy_bits
from ...mechanisms import PlanarLaplace, remapped_in_plane
from ...mechanisms.geometric_median import median_from
from .published import CIRCLE, EXPOST, GAUSSIAN, LAPLACE

_BLOCK: Final = 256  # simulated reports at a time
_TOLERANCE: Final = 1e-6  # relative, of a geometric median's loss
_NORMAL: Final = 1.96


@dataclass(frozen=True, slots=True)
class Measure:
    """Loss and entropy of one mechanism at one level.

    Attributes:
        mechanism: Its name.
        level_km: 2 / epsilon: the mean length of planar Laplace noise; not a number for the coin.
        loss_before_km: The expected distance from secret to report.
        loss_km: The same after every report moved to the best point of the plane.
        entropy_bits: The entropy of the secret that is left when the report is known.
        loss_margin_km: Half the width of the loss's 95 % interval (by the normal law) where
            reports were simulated; 0 where all were summed.
        entropy_margin_bits: The same for the entropy.
    """

    mechanism: str
    level_km: float
    loss_before_km: float
    loss_km: float
    entropy_bits: float
    loss_margin_km: float = 0.0
    entropy_margin_bits: float = 0.0

    @property
    def gain(self) -> float:
        """The part of the loss that the remap takes away."""
        return 1 - self.loss_km / self.loss_before_km


def of_mechanism(name: str, level_km: float, mechanism: Mechanism, prior: Prior, metric: Metric) -> Measure:
    """Return the measures of a mechanism whose reports are its secrets, summed over all of them.

    Args:
        name: Its name.
        level_km: The level that it was made for.
        mechanism: The mechanism.
        prior: The prior on its secrets.
        metric: Their distances in kilometres.
    """
    moved = remapped_in_plane(mechanism, prior, tolerance=_TOLERANCE)
    distances = loss(moved.secrets, moved.observables, "euclidean", unit="km")
    return Measure(
        name,
        level_km,
        mechanism.expected_loss(prior, metric),
        moved.expected_loss(prior, distances),
        conditional_entropy_bits(moved, prior),
    )


def of_noise(
    name: str, level_km: float, prior: Prior, metric: Metric, *, samples: int, rng: np.random.Generator
) -> Measure:
    """Return the measures of noise in the plane, from simulated reports.

    For each report the loss and the entropy are those of its exact posterior, so that only
    the choice of reports is left to chance.

    Args:
        name: ``Laplace``, ``Gaussian`` or ``circle``.
        level_km: The mean length of the noise.
        prior: The prior on secrets with coordinates in metres.
        metric: Their distances in kilometres.
        samples: How many reports, at least 2.
        rng: The generator.

    Raises:
        InputError: If the noise is unknown, or there are too few samples.
    """
    if samples < 2:
        raise InputError(f"{samples} samples give no interval.", "use at least 2.")
    coordinates = prior.space.coordinates
    if coordinates is None or prior.space.unit != "m":
        raise InputError(f"{prior.space!r} has no coordinates in metres.", "use places on a plane.")
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
        for offset, (first, belief) in enumerate(
            zip(np.argmin(posterior @ between, axis=1), posterior, strict=True)
        ):
            possible = belief > 0
            found = median_from(points[possible], belief[possible], points[first], _TOLERANCE)
            losses[start + offset] = found.total.value
            entropies[start + offset] = -(belief[possible] * np.log2(belief[possible])).sum()
    return Measure(
        name,
        level_km,
        level_km,
        float(losses.mean()),
        float(entropies.mean()),
        _NORMAL * float(losses.std(ddof=1)) / sqrt(samples),
        _NORMAL * float(entropies.std(ddof=1)) / sqrt(samples),
    )


def advantage(found: Sequence[Measure]) -> dict[tuple[str, float], float]:
    """Return by how many bits ExPost's entropy is above that of each other mechanism of the same loss.

    ExPost's entropy is read on the chord between its two neighbouring measures; as a
    function of the loss it is concave, so the chord is below it. Mechanisms that lose less
    or more than all of ExPost's measures are left out.

    Args:
        found: Measures of ExPost and of other mechanisms.

    Returns:
        Bits, by mechanism and level (or loss, for the coin).
    """
    best = sorted((each.loss_km, each.entropy_bits) for each in found if each.mechanism == EXPOST)
    if not best:
        raise InputError("ExPost is not among the measures.", "measure it too.")
    losses, bits = zip(*best, strict=True)
    return {
        (each.mechanism, each.loss_km if isnan(each.level_km) else each.level_km): float(
            np.interp(each.loss_km, losses, bits) - each.entropy_bits
        )
        for each in found
        if each.mechanism != EXPOST and losses[0] <= each.loss_km <= losses[-1]
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
