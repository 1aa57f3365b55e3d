"""Averaging: how far the mean of many reports is from the place, measured and in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from sfumato.core.immutable import CompactRepr

from .drifting import DriftingOffset
from .fixed_cells import FixedCells
from .radial import GaussianRadius, RadialNoise

CASSA_MEAN_M: Final = 700.0
"""The mean skew that Cassa, Wieland and Mandl averaged away, metres."""

OFFSETS: Final = "drifting offset"
OFFSETS_UNDER_GRID: Final = "drifting offset, under its grid"

_HALF_NORMAL: Final = math.sqrt(math.pi / 2)


@dataclass(frozen=True, slots=True, repr=False)
class AveragingRow(CompactRepr):
    """The mean distance of an average from the place, in one run.

    Attributes:
        noise: The noise.
        reports: How many reports were averaged.
        seed: Of the run.
        mean_m: The mean distance over many places, metres.
        closed_m: The same in closed form, metres; NaN where there is none.
    """

    noise: str
    reports: int
    seed: int
    mean_m: float
    closed_m: float


def copies_averaged(reports: int, seed: int, places: int) -> AveragingRow:
    """Return how far the mean of copies with normal skews is from the place, which is sigma sqrt(pi / (2 k)).

    Args:
        reports: How many copies.
        seed: Of the study.
        places: How many places.

    Source:
        Cassa, Wieland and Mandl, "Re-identification of home addresses from spatial locations anonymized by
        Gaussian skew", International Journal of Health Geographics 2008, 7:45.
    """
    noise = RadialNoise(GaussianRadius(CASSA_MEAN_M / _HALF_NORMAL), renewed=True)
    found = noise.reports(np.zeros((places, 2)), reports, np.random.default_rng(seed)).mean(axis=1)
    return AveragingRow(
        "normal skew", reports, seed, float(np.hypot(*found.T).mean()), CASSA_MEAN_M / math.sqrt(reports)
    )


def drift_averaged(channel: DriftingOffset, reports: int, seed: int, places: int) -> AveragingRow:
    """Return how far the mean of hourly offsets is from none, the grid aside.

    Args:
        channel: The channel.
        reports: How many reports, an hour apart.
        seed: Of the study.
        places: How many places.
    """
    return _drifted(channel, reports, seed, places)[0]


def drift_reported(channel: DriftingOffset, reports: int, seed: int, places: int) -> AveragingRow:
    """Return how far the mean of hourly reports, under the grid, is from the place.

    Args:
        channel: The channel.
        reports: How many reports, an hour apart.
        seed: Of the study.
        places: How many places, spread evenly over a cell.
    """
    return _drifted(channel, reports, seed, places)[1]


@lru_cache(maxsize=1)
def _drifted(channel: DriftingOffset, reports: int, seed: int, places: int) -> tuple[AveragingRow, AveragingRow]:
    """Return the means of offsets, and of the reports that they make."""
    generator = np.random.default_rng(seed)
    offset = generator.normal(0, channel.sigma_m, (places, 2))
    place = generator.uniform(0, channel.step_m, (places, 2))
    cells = FixedCells(channel.step_m, channel.step_m)
    total, reported = np.zeros((places, 2)), np.zeros((places, 2))
    for hour in range(reports):
        if hour:
            offset = channel.drifted(offset, generator)
        total += offset
        reported += cells.centres(place + offset) - place
    closed = channel.averaged_m(reports) * _HALF_NORMAL
    off, off_reported = (float(np.hypot(*each.T).mean()) / reports for each in (total, reported))
    return (
        AveragingRow(OFFSETS, reports, seed, off, closed),
        AveragingRow(OFFSETS_UNDER_GRID, reports, seed, off_reported, math.nan),
    )
