"""Attackers of noise for coordinates, who see what its table makes of a report, and know where people were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from scipy.sparse import csr_array, diags_array

from ...attacks import chance_of_points
from ...core import Bracket
from ...core.arrays import Floats, distinct_points
from ...core.immutable import CompactRepr
from ...geo import Projection, Visits
from ...geo.true_points import DISTANCES, TruePoints
from ...mechanisms.planar import CoordinateNoise, TableShares, table_shares
from .repeated import SEED, RepeatedAttack, bounded_mean, near_best, widest

_MOST: Final = 1 << 24  # probabilities: some seconds
_PAIRS: Final = 1 << 22  # of points and reports at a time
_SQUARES: Final = 8_000  # of guesses
_TOLERANCE: Final = 0.01  # of the chance
_NEVER: Final = -1e6  # stands for the logarithm of 0
_DRAWS: Final = 5000  # simulated cases


@final
@dataclass(frozen=True, slots=True, repr=False)
class NoiseSeen(CompactRepr):
    """Noise as those see it who know where people were.

    Attributes:
        noise: The noise.
        plane: Its plane.
        points: The different points where people were, metres, array (n, 2).
        shares: How often they were there, array (n,).
        table: How often each report is made at each.
    """

    noise: CoordinateNoise
    plane: Projection
    points: Floats
    shares: Floats
    table: TableShares

    def near(self, radius_m: float) -> Bracket:
        """Return how often the best guess after one report is within a radius, between proved bounds."""
        points = TruePoints(self.points, csr_array(diags_array(self.shares)))
        return chance_of_points(
            points,
            self.table.shares,
            radius_m,
            self.plane,
            off=self.table.off,
            tolerance=_TOLERANCE,
            squares=_SQUARES,
        )

    def misinformed(self) -> float:
        """Return how far somebody errs, metres, who guesses a point and takes all for equally likely."""
        apart = DISTANCES["euclidean"](self.points, self.points)
        guesses = self.points[(apart @ self.table.shares).argmin(axis=0)]
        off = DISTANCES["euclidean"](self.points, guesses)
        return float(self.shares @ (off * self.table.shares).sum(axis=1))

    def repeated(self, count: int) -> RepeatedAttack:
        """Return how far somebody errs who combines several reports of one point, in simulated cases.

        Reports are drawn as the noise draws them, and errors counted from the true point. So they are those of
        this attacker, whose belief uses the probabilities of `table`.

        Args:
            count: How many reports they see.
        """
        randomness = np.random.default_rng(SEED)
        true = randomness.choice(len(self.points), size=_DRAWS, p=self.shares)
        drawn = self.noise.simulate(np.repeat(self.points[true], count, axis=0), seed=SEED + count)
        reports = self.table.reports(drawn).reshape(_DRAWS, count)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(self.table.shares), _NEVER)
        belief = np.empty((_DRAWS, len(self.points)))
        tall = max(1, _PAIRS // (len(self.points) * count))
        for first in range(0, _DRAWS, tall):
            rows = slice(first, first + tall)
            belief[rows] = logs[:, reports[rows]].sum(axis=2).T
        belief += np.log(self.shares)
        belief = np.exp(belief - belief.max(axis=1, keepdims=True))
        belief /= belief.sum(axis=1, keepdims=True)
        guesses, _ = near_best(belief, self.points)
        most = widest(self.points)
        errors = np.minimum(np.hypot(*(guesses - self.points[true]).T), most)
        return RepeatedAttack(count, None, bounded_mean(errors, most), _DRAWS)


def noise_seen(noise: CoordinateNoise, visits: Visits | None) -> NoiseSeen | str:
    """Return noise as those see it who know where people were, or why that is not worked out.

    The reason is ``unsaid`` (where people were), ``table`` (the noise has none) or ``size``.

    Args:
        noise: The noise.
        visits: Where people were; those that it does not serve are left out.
    """
    if visits is None or not (inside := noise.serves(visits.lat, visits.lon)).any():
        return "unsaid"
    plane = noise.projection
    if plane is None or noise.remap is None:
        return "table"
    xy = plane.forward(visits.lat[inside], visits.lon[inside])
    points, _, times = distinct_points(xy)
    table = table_shares(noise, points, _MOST)
    return "size" if table is None else NoiseSeen(noise, plane, points, times / times.sum(), table)
