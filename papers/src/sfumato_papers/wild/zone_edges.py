"""Zone edges: the circle through the visible ends of tracks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError

_LOW, _HIGH = 0.1, 0.9  # of the radius: OpenBikeSensor's law of the shift


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyZone(CompactRepr):
    """A disc in which tracks are hidden.

    Attributes:
        radius_m: Its radius, metres.
        shifted: Whether its centre is moved once by an even distance between 0.1 and 0.9 radii in an even
            direction, and is otherwise the home.
        error_m: The standard deviation of the positions of a track in each direction, metres.

    Raises:
        InputError: If the radius is not positive or the error negative.
    """

    radius_m: float = 500.0
    shifted: bool = False
    error_m: float = 5.0

    def __post_init__(self) -> None:
        if not (self.radius_m > 0 and self.error_m >= 0):
            raise InputError(
                f"a zone of {self.radius_m:g} m with an error of {self.error_m:g} m cannot be drawn.",
                "use a positive radius and an error of at least 0.",
            )

    @property
    def shifts_m(self) -> tuple[float, float]:
        """The least and the largest distance of a shifted centre from home, metres."""
        return _LOW * self.radius_m, _HIGH * self.radius_m

    def centres(self, homes: int, generator: np.random.Generator) -> Floats:
        """Return the centres of zones, seen from their homes, array (homes, 2), metres."""
        if not self.shifted:
            return np.zeros((homes, 2))
        away = generator.uniform(*self.shifts_m, homes)
        return away[:, None] * _directions(homes, generator)

    def ends(self, centres_m: Floats, tracks: int, generator: np.random.Generator) -> Floats:
        """Return where tracks from home in even directions leave the zone, seen from home, array (n, tracks, 2).

        Args:
            centres_m: The centres, array (n, 2), metres.
            tracks: How many tracks each home has.
            generator: numpy's generator, seeded.
        """
        ways = _directions(len(centres_m) * tracks, generator).reshape(-1, tracks, 2)
        along = (ways * centres_m[:, None, :]).sum(axis=2)
        out = along + np.sqrt(along**2 + self.radius_m**2 - (centres_m**2).sum(axis=1)[:, None])
        found: Floats = out[:, :, None] * ways + generator.normal(0, self.error_m, ways.shape)
        return found


def circle_through(ends_m: Floats) -> tuple[Floats, float]:
    """Return the centre and the radius of the circle that fits points best.

    Args:
        ends_m: At least three points, array (k, 2), metres.

    Raises:
        InputError: If there are fewer.

    Source:
        Hassan, Hussain and Bates, "Analysis of privacy protections in fitness tracking social networks", USENIX
        Security 2018; the fit is by least squares of the distances.
    """
    if len(ends_m) < 3:
        raise InputError(f"{len(ends_m)} points fix no circle.", "use the ends of three tracks or more.")
    middle = ends_m.mean(axis=0)
    points = ends_m - middle
    columns = np.column_stack([2 * points, np.ones(len(points))])
    solution = np.linalg.lstsq(columns, (points**2).sum(axis=1), rcond=None)[0]
    start = np.array([*solution[:2], np.sqrt(max(solution[2] + solution[:2] @ solution[:2], 1.0))])
    fitted = least_squares(lambda v: np.hypot(*(points - v[:2]).T) - v[2], start, method="lm").x
    return fitted[:2] + middle, float(abs(fitted[2]))


def home_guesses(ends_m: Floats) -> Floats:
    """Return where the attacker guesses homes to be: the centre of the circle, or the mean of one or two ends.

    Args:
        ends_m: The visible ends, array (n, tracks, 2), metres.

    Returns:
        Array (n, 2), metres.
    """
    if ends_m.shape[1] < 3:
        return mean_of_few(ends_m)
    return np.array([circle_through(own)[0] for own in ends_m])


def mean_of_few(ends_m: Floats) -> Floats:
    """Return the mean of one or two ends, which fix no circle, array (n, 2), metres."""
    means: Floats = ends_m.mean(axis=1)
    return means


def _directions(count: int, generator: np.random.Generator) -> Floats:
    angle = generator.uniform(0, 2 * np.pi, count)
    return np.column_stack([np.cos(angle), np.sin(angle)])
