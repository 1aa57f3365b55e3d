"""Homes in shifted zones: the ends of tracks crowd on the side of the circle that is near home."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import least_squares

from sfumato.core.arrays import Floats

from .attack import weighted_median
from .zone_edges import PrivacyZone, circle_through, mean_of_few

_RADII: Final = 31  # of the shift, in the attacker's belief
_TURNS: Final = 48  # directions of the shift


def end_density(home_m: Floats, radius_m: float, ends_m: Floats) -> Floats:
    """Return how dense the ends of tracks are along a circle around the origin, per metre, array (n, k).

    Tracks leave home in even directions. Seen from a home h inside the circle, a piece of it at e fills an angle
    of (e - h) e / (R |e - h|^2) per metre; all of the circle fills the full angle.

    Args:
        home_m: Homes inside the circle, array (n, 2), metres.
        radius_m: The radius R of the circle.
        ends_m: Points of the circle, array (k, 2), metres.
    """
    apart = ends_m[None, :, :] - home_m[:, None, :]
    facing = (apart * ends_m[None, :, :]).sum(axis=2) / radius_m
    found: Floats = facing / (2 * np.pi * (apart**2).sum(axis=2))
    return found


def homes_by_law(zone: PrivacyZone, ends_m: Floats) -> Floats:
    """Return guesses of homes by an attacker who knows the radius and the law of the shift, array (n, 2), metres.

    They fit the circle, and then believe in a home as much as its shift is likely by the law and the ends are
    likely from there. The guess is the point with the least expected error. There are no streets in it.

    Args:
        zone: A shifted zone.
        ends_m: The visible ends, array (n, tracks, 2), metres; of one or two tracks the guess is their mean.

    Source:
        Derived here; the law is that of OpenBikeSensor's gps.cpp.
    """
    if ends_m.shape[1] < 3:
        return mean_of_few(ends_m)
    low, high = zone.shifts_m
    away = np.linspace(low, high, _RADII)
    angle = 2 * np.pi * np.arange(_TURNS) / _TURNS
    # Even in distance and direction, as the law is: each is as likely as another.
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
