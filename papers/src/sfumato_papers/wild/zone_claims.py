"""Statements about zones around home, published and ours, judged by the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..reproduction import PaperClaim, illustrates, ours
from .summary import metres, over_seeds, shares
from .zones import CIRCLE, CIRCLE_AND_LAW, ZoneRow

HASSAN: Final = "Hassan, Hussain and Bates (2018), abstract"
_SHIFT_M: Final = 250.0  # the median of the documented law of the shift


def zone_claims(rows: Sequence[ZoneRow]) -> list[PaperClaim]:
    """Return what was published about zones, and what this run says of them.

    Args:
        rows: Errors behind zones.
    """
    return [*_centred(rows), _shifted(rows)]


def _behind(rows: Sequence[ZoneRow], scheme: str, attack: str, tracks: int) -> list[ZoneRow]:
    return [row for row in rows if (row.scheme, row.attack, row.tracks) == (scheme, attack, tracks)]


def _centred(rows: Sequence[ZoneRow]) -> list[PaperClaim]:
    centred = {count: _behind(rows, "zone-centred", CIRCLE, count) for count in (1, 3, 10)}
    median = {count: over_seeds(own, lambda row: row.median_m) for count, own in centred.items()}
    near = {count: over_seeds(own, lambda row: row.within_50) for count, own in centred.items()}
    return [
        illustrates(
            HASSAN,
            "An attack infers protected locations from what is visible in public posts.",
            median[10].upper < median[1].lower,
            "For zones of 500 m around home and 5 m of position error, a circle through the visible ends comes "
            f"within 50 m of {shares(near[3])} of homes with three tracks, and of {shares(near[10])} with ten.",
            quote="an attack against EPZs that infers users' protected locations from the remaining available "
            "information in public posts",
        ),
        ours(
            "Zones with home in the middle",
            "A circle through the visible ends of tracks comes closer to home with more tracks.",
            median[10].upper < median[3].lower and median[3].upper < median[1].lower,
            f"For zones of 500 m and 5 m of position error the median distance from home is {metres(median[1])} "
            f"with one track, {metres(median[3])} with three and {metres(median[10])} with ten.",
        ),
    ]


def _shifted(rows: Sequence[ZoneRow]) -> PaperClaim:
    circle, ten, hundred = (
        over_seeds(_behind(rows, "zone-shifted", *case), lambda row: row.median_m)
        for case in ((CIRCLE, 100), (CIRCLE_AND_LAW, 10), (CIRCLE_AND_LAW, 100))
    )
    near = over_seeds(_behind(rows, "zone-shifted", CIRCLE_AND_LAW, 100), lambda row: row.within_100)
    return ours(
        "The law of OpenBikeSensor's shift",
        "After a shift, the uneven ends of tracks locate home better than the circle alone.",
        hundred.upper < circle.lower,
        f"With 100 tracks the centre of the circle is {metres(circle)} from home in the median; the median shift "
        f"is {_SHIFT_M:g} m. An attacker who knows the rule of the shift, and that tracks leave home in uniform "
        f"directions, has a median error of {metres(hundred)}, and is within 100 m of {shares(near)} of homes; "
        f"with ten tracks the error is {metres(ten)}.",
    )
