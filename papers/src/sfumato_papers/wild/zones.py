"""Zones measured: how close the ends of tracks lead to homes, in one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core.immutable import CompactRepr

from .certified import CertifiedNoise
from .vocabulary import AS_DOCUMENTED, NEAR_M, REMEMBERED
from .zone_edges import PrivacyZone, home_guesses
from .zone_law import homes_by_law

CIRCLE: Final = "circle"
CIRCLE_AND_LAW: Final = "circle and law of the shift"


@dataclass(frozen=True, slots=True, repr=False)
class ZoneRow(CompactRepr):
    """Errors of an attacker who has visible ends of tracks, in one run.

    Attributes:
        scheme: The scheme's key.
        mechanism: As documented, or certified noise that is as far from home on average as visible ends are.
        attack: The circle through the ends, or the circle and the law of the shift; "" for the certified noise.
        tracks: How many tracks the attacker has.
        seed: Of the run.
        homes: How many homes were attacked.
        median_m: The median distance of the guess from home, metres.
        within_50: The share of homes within 50 m of the guess.
        within_100: Within 100 m.
        within_200: Within 200 m.
        loss_m: The mean distance from home to the visible end of a track.
    """

    scheme: str
    mechanism: str
    attack: str
    tracks: int
    seed: int
    homes: int
    median_m: float
    within_50: float
    within_100: float
    within_200: float
    loss_m: float


def zoned(scheme: str, zone: PrivacyZone, tracks: int, seed: int, homes: int) -> list[ZoneRow]:
    """Return the errors of attacks on ends of tracks, without and with remembered certified noise.

    The certified noise replaces the end of each track by one blurred home, as far off on average as the end was.

    Args:
        scheme: The scheme's key.
        zone: The zone.
        tracks: How many tracks the attacker has of each home.
        seed: Of the study.
        homes: How many homes.
    """
    generator = np.random.default_rng(seed)
    ends = zone.ends(zone.centres(homes, generator), tracks, generator)
    loss = float(np.hypot(ends[..., 0], ends[..., 1]).mean())
    blurred = CertifiedNoise.of_mean(loss, renewed=False).reports(np.zeros((homes, 2)), 1, generator)[:, 0]
    guesses = [(AS_DOCUMENTED, CIRCLE, home_guesses(ends))]
    if zone.shifted:
        guesses.append((AS_DOCUMENTED, CIRCLE_AND_LAW, homes_by_law(zone, ends)))
    rows = []
    for mechanism, attack, found in (*guesses, (REMEMBERED, "", blurred)):
        errors = np.hypot(*found.T)
        near, nearer, nearest = (float((errors <= limit).mean()) for limit in NEAR_M)
        middle = float(np.median(errors))
        rows.append(ZoneRow(scheme, mechanism, attack, tracks, seed, homes, middle, near, nearer, nearest, loss))
    return rows
