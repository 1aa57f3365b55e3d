"""Privacy zones: homes found from visible ends of tracks (Hassan, Hussain and Bates, USENIX Security 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import least_squares

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError

from .attack import weighted_median
from .attack_errors import AS_DOCUMENTED, REMEMBERED, ErrorRow
from .channels import directions
from .radial import CertifiedNoise

CIRCLE: Final = "circle"
CIRCLE_AND_LAW: Final = "circle and law of the shift"
_LOW, _HIGH = 0.1, 0.9  # of the radius: OpenBikeSensor's law of the shift
_RADII, _TURNS = 31, 48  # distances and directions of the shift, in the attacker's belief


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyZone(CompactRepr):
    """A disc in which tracks are hidden, around home or once shifted; error_m is the deviation of positions."""

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
        """Return the centres of zones, seen from their homes, array (homes, 2)."""
        if not self.shifted:
            return np.zeros((homes, 2))
        away = generator.uniform(*self.shifts_m, homes)
        return away[:, None] * directions(homes, generator)

    def ends(self, centres_m: Floats, tracks: int, generator: np.random.Generator) -> Floats:
        """Return where tracks in uniform directions leave the zone, seen from home, array (n, tracks, 2)."""
        ways = directions(len(centres_m) * tracks, generator).reshape(-1, tracks, 2)
        along = (ways * centres_m[:, None, :]).sum(axis=2)
        out = along + np.sqrt(along**2 + self.radius_m**2 - (centres_m**2).sum(axis=1)[:, None])
        found: Floats = out[:, :, None] * ways + generator.normal(0, self.error_m, ways.shape)
        return found


def circle_through(ends_m: Floats) -> tuple[Floats, float]:
    """Return the centre and the radius of the circle with the least squared distances to points."""
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
    """Return the centres of the circles through ends, or the means of one or two ends, array (n, 2)."""
    if ends_m.shape[1] < 3:
        means: Floats = ends_m.mean(axis=1)
        return means
    return np.array([circle_through(own)[0] for own in ends_m])


def end_density(home_m: Floats, radius_m: float, ends_m: Floats) -> Floats:
    """Return the density of the ends of tracks on a circle around the origin, per metre, array (n, k).

    Seen from a home h inside, the circle at e fills an angle of (e - h) e / (R |e - h|^2) per metre.
    """
    apart = ends_m[None, :, :] - home_m[:, None, :]
    facing = (apart * ends_m[None, :, :]).sum(axis=2) / radius_m
    found: Floats = facing / (2 * np.pi * (apart**2).sum(axis=2))
    return found


def homes_by_law(zone: PrivacyZone, ends_m: Floats) -> Floats:
    """Return homes with the least expected error, given the ends and OpenBikeSensor's law of the shift."""
    if ends_m.shape[1] < 3:
        return home_guesses(ends_m)
    low, high = zone.shifts_m
    away = np.linspace(low, high, _RADII)
    angle = 2 * np.pi * np.arange(_TURNS) / _TURNS
    # Uniform in distance and direction, as the law is.
    homes = (away[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)).reshape(-1, 2)
    return np.array([_home(zone.radius_m, homes, own) for own in ends_m])


def _home(radius_m: float, homes_m: Floats, ends_m: Floats) -> Floats:
    start, _ = circle_through(ends_m)
    centre = least_squares(lambda c: np.hypot(*(ends_m - c).T) - radius_m, start, method="lm").x
    seen = ends_m - centre
    on_circle = radius_m * seen / np.hypot(*seen.T)[:, None]
    likely = np.log(end_density(homes_m, radius_m, on_circle)).sum(axis=1)
    found: Floats = centre + weighted_median(homes_m, np.exp(likely - likely.max()))
    return found


def zone_errors(scheme: str, zone: PrivacyZone, tracks: int, seed: int, homes: int) -> list[ErrorRow]:
    """Return the errors of attacks on ends of tracks, and on one blurred home, as far off as ends on average."""
    generator = np.random.default_rng(seed)
    ends = zone.ends(zone.centres(homes, generator), tracks, generator)
    loss = float(np.hypot(ends[..., 0], ends[..., 1]).mean())
    blurred = CertifiedNoise.of_mean(loss, renewed=False).reports(np.zeros((homes, 2)), 1, generator)[:, 0]
    guesses = [(AS_DOCUMENTED, CIRCLE, home_guesses(ends))]
    if zone.shifted:
        guesses.append((AS_DOCUMENTED, CIRCLE_AND_LAW, homes_by_law(zone, ends)))
    return [
        ErrorRow.of(scheme, mechanism, attack, tracks, seed, found)
        for mechanism, attack, found in (*guesses, (REMEMBERED, "", blurred))
    ]
