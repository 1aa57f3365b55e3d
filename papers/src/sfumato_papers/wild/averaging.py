"""Averaging (Cassa, Wieland and Mandl, Int. J. of Health Geographics 2008, 7:45): the error of mean reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from .channels import DriftingOffset, FixedCells
from .radial import RadialNoise, gaussian_radius

OFFSETS: Final = "drifting offset"
OFFSETS_UNDER_GRID: Final = "drifting offset, under its grid"
_SKEW_M: Final = 700.0  # the mean skew that Cassa, Wieland and Mandl averaged away
_HALF_NORMAL: Final = math.sqrt(math.pi / 2)


@dataclass(frozen=True, slots=True)
class AveragingRow:
    """The mean distance of an average from the place in one run, and its closed form or NaN."""

    noise: str
    reports: int
    seed: int
    mean_m: float
    closed_m: float


def copies_averaged(reports: int, seed: int, places: int) -> AveragingRow:
    """Return the error of the mean of copies with normal skews, by closed form sigma sqrt(pi / (2 k))."""
    noise = RadialNoise(gaussian_radius(_SKEW_M / _HALF_NORMAL), renewed=True)
    means = noise.reports(np.zeros((places, 2)), reports, np.random.default_rng(seed)).mean(axis=1)
    off = float(np.hypot(*means.T).mean())
    return AveragingRow("normal skew", reports, seed, off, _SKEW_M / math.sqrt(reports))


def drift_averaged(
    channel: DriftingOffset, reports: int, seed: int, places: int
) -> tuple[AveragingRow, AveragingRow]:
    """Return the errors of the mean of hourly offsets, and of the mean of the reports under the grid."""
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
