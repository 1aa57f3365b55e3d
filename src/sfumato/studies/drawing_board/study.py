"""Mechanisms measured after the best remap, as in "Back to the drawing board": loss and conditional entropy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, pi, sqrt
from types import MappingProxyType
from typing import Final

import numpy as np

from ...attacks import blind
from ...core import Mechanism, Metric, Prior, Space, loss
from ...core.arrays import Floats
from ...core.frozen import Short
from ...errors import DataError, InputError
from ...geo import Projection, Region, Visits
from ...leakage import conditional_entropy_bits
from ...mechanisms import PlanarLaplace, coin_of_distortion, exponential, rate_distortion, remapped_in_plane
from ...mechanisms.geometric_median import median_from
from ..results import TableRow, columns_of

EXPOST: Final = "ExPost"
EXPONENTIAL: Final = "exponential"
LAPLACE: Final = "Laplace"
GAUSSIAN: Final = "Gaussian"
CIRCLE: Final = "circle"
COIN: Final = "coin"

LEVELS_KM: Final = (0.05, 0.1, 0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
"""The mean lengths of planar Laplace noise in the published table, 2 / epsilon."""

# Average loss after the remap (km) and conditional entropy (bits), for the levels above; San Francisco, Gowalla.
_COLUMNS: Final = {
    EXPOST: (
        (0.0210, 0.0573, 0.2179, 0.3699, 0.5459, 0.7219, 0.8850, 1.0451, 1.2902, 1.6627, 2.1620),
        (2.471, 3.902, 6.422, 7.544, 8.368, 8.952, 9.371, 9.707, 10.120, 10.558, 10.939),
    ),
    EXPONENTIAL: (
        (0.0246, 0.0652, 0.2243, 0.3674, 0.5369, 0.6955, 0.8419, 0.9754, 1.2059, 1.5514, 2.0084),
        (2.421, 3.851, 6.298, 7.379, 8.201, 8.749, 9.145, 9.445, 9.864, 10.332, 10.747),
    ),
    LAPLACE: (
        (0.0331, 0.0772, 0.2487, 0.4006, 0.5750, 0.7537, 0.9061, 1.0352, 1.2788, 1.6412, 2.2577),
        (2.704, 4.051, 6.377, 7.406, 8.270, 8.792, 9.154, 9.443, 9.848, 10.251, 10.687),
    ),
    GAUSSIAN: (
        (0.0324, 0.0739, 0.2423, 0.3896, 0.5716, 0.7280, 0.8708, 1.0153, 1.2429, 1.5857, 2.1114),
        (2.605, 3.928, 6.289, 7.341, 8.174, 8.674, 9.120, 9.431, 9.793, 10.301, 10.697),
    ),
    CIRCLE: (
        (0.0267, 0.0674, 0.2231, 0.3776, 0.5460, 0.7012, 0.8287, 0.9418, 1.1553, 1.4342, 1.8366),
        (2.140, 3.428, 5.763, 6.815, 7.629, 8.189, 8.646, 8.894, 9.331, 9.836, 10.312),
    ),
}

PUBLISHED: Final[Mapping[str, tuple[tuple[float, float], ...]]] = MappingProxyType(
    {name: tuple(zip(*columns, strict=True)) for name, columns in _COLUMNS.items()}
)
"""The published table: for each mechanism (loss in km, entropy in bits) by level."""

PUBLISHED_COIN: Final = ((0.5, 1.430), (1.0, 2.860), (1.5, 4.290), (2.0, 5.721))
"""The same for the coin, by its loss."""

PUBLISHED_PRIOR_BITS: Final = 11.474

COIN_KM: Final = (0.5, 1.0, 1.5, 2.0)
"""The losses at which the coin is measured."""

_BLOCK: Final = 256  # simulated reports at a time
_DEGREES: Final = 4  # decimals of a degree: spots are some 10 m wide
_TOLERANCE: Final = 1e-6  # relative, of a geometric median's loss
_NORMAL: Final = 1.96


@dataclass(frozen=True, slots=True)
class Measure:
    """What one mechanism achieves at one level.

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


@dataclass(frozen=True, slots=True, repr=False)
class DrawingBoardResults(Short):
    """What the study found.

    Attributes:
        measures: The measures, by level and mechanism.
        prior_bits: The entropy of the prior.
        place: Where the data are from.
    """

    measures: tuple[Measure, ...]
    prior_bits: float
    place: str

    @property
    def tables(self) -> dict[str, list[TableRow]]:
        """The measures, with the published values at the published levels."""
        better = advantage(self.measures)
        rows: list[TableRow] = []
        for each in self.measures:
            published: tuple[float | str, float | str] = ("", "")
            if each.mechanism in PUBLISHED and each.level_km in LEVELS_KM:
                published = PUBLISHED[each.mechanism][LEVELS_KM.index(each.level_km)]
            key = each.loss_km if isnan(each.level_km) else each.level_km
            rows.append(
                {
                    **columns_of(each),
                    "gain": each.gain,
                    "expost_more_bits": better.get((each.mechanism, key), ""),
                    "published_loss_km": published[0],
                    "published_entropy_bits": published[1],
                }
            )
        return {"back-to-the-drawing-board": rows}


def study(
    visits: Visits,
    region: Region | str,
    *,
    place: str = "this city",
    spot_count: int = 300,
    levels_km: Sequence[float] = LEVELS_KM,
    samples: int = 2_000,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> DrawingBoardResults:
    """Measure all mechanisms of the paper on the most visited spots of a region.

    Args:
        visits: The visits.
        region: Where spots are taken from.
        place: What to call it in the figure.
        spot_count: How many of the most visited spots.
        levels_km: The levels, 2 / epsilon.
        samples: How many reports to simulate for noise in the plane.
        seed: Of the simulation.
        progress: Called with each line of the results.

    Raises:
        DataError: If the region has no two spots.
    """
    tell = progress or (lambda _: None)
    prior = spots(visits, region, spot_count)
    most = blind(prior, prior.space.metric("euclidean", unit="km")).error
    tell(
        f"{len(prior):,} spots, prior entropy {prior.entropy_bits:.3f} bits, error without a report {most:.3f} km"
    )
    found = []
    for each in measures(prior, sorted(levels_km), samples=samples, seed=seed, progress=progress):
        found.append(each)
        tell(
            f"  {each.mechanism:12s} loss {each.loss_before_km:.4f} -> {each.loss_km:.4f} km "
            f"(±{each.loss_margin_km:.4f}), gain {each.gain:6.1%}, entropy {each.entropy_bits:.3f} bits "
            f"(±{each.entropy_margin_bits:.3f})"
        )
    for each in coins(prior, [loss_km for loss_km in COIN_KM if loss_km < most]):
        found.append(each)
        tell(f"  coin         loss {each.loss_km:.4f} km, entropy {each.entropy_bits:.3f} bits")
    better = advantage(found)
    tell(f"ExPost's entropy at equal loss is above that of all others by {min(better.values()):.3f} bits or more")
    return DrawingBoardResults(tuple(found), prior.entropy_bits, place)


def spots(visits: Visits, region: Region | str, count: int) -> Prior:
    """Return how often the most visited spots of a region are visited.

    A spot is a point of a raster of 0.0001 degrees. Visits elsewhere are left out.

    Args:
        visits: The visits.
        region: The region.
        count: How many spots; fewer if there are no more.

    Raises:
        InputError: If fewer than two spots are wanted.
        DataError: If the region has no two.
    """
    if count < 2:
        raise InputError(f"{count} spots leave nothing to hide.", "use at least 2.")
    area = Region.parse(region) if isinstance(region, str) else region
    inside = visits.inside(area)
    points, counts = np.unique(
        np.round(np.column_stack([inside.lat, inside.lon]), _DEGREES), axis=0, return_counts=True
    )
    if len(points) < 2:
        raise DataError(f"all visits to {area} are at one spot.", "choose a wider region.")
    chosen = np.argsort(-counts, kind="stable")[:count]
    projection = Projection(*area.centre)
    labels = [f"{lat:.4f},{lon:.4f}" for lat, lon in points[chosen]]
    space = Space(labels, projection.forward(*points[chosen].T), "m", projection.crs)
    return Prior.from_counts(space, counts[chosen])


def measures(
    prior: Prior,
    levels_km: Sequence[float] = LEVELS_KM,
    *,
    samples: int = 2_000,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Measure]:
    """Measure ExPost, exponential, Laplace, Gaussian and circle at every level.

    Reports of ExPost (least information, slope epsilon) and of the exponential mechanism
    (exp(-epsilon d), normalised) are spots; all are summed. The other three add noise in the
    plane, without borders: reports are simulated, and the exact posterior of each is measured.
    All three have the same mean length, 2 / epsilon.

    Args:
        prior: On spots with coordinates on a plane, in metres.
        levels_km: The levels, 2 / epsilon.
        samples: How many reports to simulate.
        seed: Of the simulation.
        progress: Called with each level in words.

    Yields:
        Measures, by level and mechanism.

    Source:
        Oya, Troncoso and Pérez-González, "Back to the drawing board: revisiting the design of
        optimal location privacy-preserving mechanisms", CCS 2017.
    """
    metric = prior.space.metric("euclidean", unit="km")
    for number, level in enumerate(levels_km):
        if progress is not None:
            progress(f"2 / epsilon = {level:g} km")
        rate = 2 / level
        expost = rate_distortion(prior, metric, rate, tolerance_bits=1e-6).mechanism
        yield of_mechanism(EXPOST, level, expost, prior, metric)
        # The package's exponential mechanism promises twice its slope.
        yield of_mechanism(EXPONENTIAL, level, exponential(prior.space, metric, 2 * rate), prior, metric)
        for place, name in enumerate((LAPLACE, GAUSSIAN, CIRCLE)):
            rng = np.random.default_rng([seed, number, place])
            yield of_noise(name, level, prior, metric, samples=samples, rng=rng)


def coins(prior: Prior, losses_km: Sequence[float]) -> Iterator[Measure]:
    """Measure the coin at several losses.

    Args:
        prior: As for `measures`.
        losses_km: Its expected losses.
    """
    metric = prior.space.metric("euclidean", unit="km")
    for target in losses_km:
        yield of_mechanism(COIN, nan, coin_of_distortion(prior, metric, target), prior, metric)


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
