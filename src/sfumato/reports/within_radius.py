"""Sentences on how often the best attacker's guess is within a radius of the true point."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..attacks import chance_within
from ..core import Bracket, Mechanism, Space, units
from ..geo import Places, Visits
from ..rounding import about_percent, amount_at_least, percent_at_least, percent_at_most

RADIUS: Final = "1850 ft"
"""The radius of several laws on precise locations."""

_TOLERANCE: Final = 0.02  # relative, of the share: two digits are shown
_MOST: Final = 1_000_000  # distinct visits times reports: about five seconds


def silent(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism that says nothing of the same secrets."""
    return Mechanism(np.ones((len(mechanism.secrets), 1)), mechanism.secrets, Space(["nothing"]))


def radius_sentence(mechanism: Mechanism, visits: Visits) -> str:
    """Return how often the best attacker's guess is within `RADIUS`, with and without a report.

    Args:
        mechanism: A mechanism for places.
        visits: Where people are; the attacker knows them.
    """
    radius = f"{RADIUS} ({amount_at_least(units.length_m(RADIUS, 'the radius'), 'm', 5)})"
    places = mechanism.secrets
    distinct = len(places.true_points(visits).xy) if isinstance(places, Places) else len(visits)
    if distinct * mechanism.shape[1] > _MOST:
        return (
            f"How often their guess is within {radius} was not computed for so many visits: sfumato attack "
            f"--within '{RADIUS}' does."
        )
    near = chance_within(mechanism, visits, RADIUS, tolerance=_TOLERANCE)
    blind = chance_within(silent(mechanism), visits, RADIUS, tolerance=_TOLERANCE)
    limit = percent_at_most(near.upper)
    often = (
        "perhaps every time (no useful limit is proved)" if limit == "100 %" else f"at most {limit} of the time"
    )
    return (
        f"The best attacker's guess is within {radius} of where you truly are {often}: "
        f"{about_percent(blind.value)} without seeing a report, 100 % without the mechanism."
    )


def chance_sentence(near: Bracket, radius: float | str) -> str:
    """Return how often the best attacker's guess is near the true point.

    Args:
        near: What `sfumato.attacks.chance_within` returned.
        radius: The radius it was for.
    """
    shown = units.show(units.length_m(radius, "the radius"), "m")
    known = f"guesses are known that are at least {percent_at_least(near.lower)} of the time."
    most = percent_at_most(near.upper)
    if most == "100 %":
        return f"No useful limit is known of how often the best attacker is within {shown} of you; {known}"
    return (
        f"Wherever they guess, the best attacker is within {shown} of where you truly are at most {most} of the "
        f"time; {known}"
    )
