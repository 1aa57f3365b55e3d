"""Study of "Back to the drawing board": mechanisms on the most visited spots, after the best remap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Final

import numpy as np

from ...attacks import blind
from ...core import Prior, Space
from ...core.frozen import Short
from ...errors import DataError, InputError
from ...geo import Projection, Region, Visits
from ...mechanisms import coin_of_distortion, exponential, rate_distortion
from ..results import TableRow, columns_of
from .measure import Measure, advantage, of_mechanism, of_noise
from .published import CIRCLE, EXPONENTIAL, EXPOST, GAUSSIAN, LAPLACE, LEVELS_KM, PUBLISHED

COIN: Final = "coin"
COIN_KM: Final = (0.5, 1.0, 1.5, 2.0)
"""The losses at which the coin is measured."""

_DEGREES: Final = 4  # decimals of a degree: spots are some 10 m wide


@dataclass(frozen=True, slots=True, repr=False)
class DrawingBoardResults(Short):
    """Results of the study.

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
