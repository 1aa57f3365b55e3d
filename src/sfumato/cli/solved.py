"""The program of ``sfumato design`` for places: of least loss, or of most distortion, and how long it takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from .messages import say

if TYPE_CHECKING:
    from ..core import Prior
    from ..geo import Visits
    from ..optimal import Design, NoiseDesign
    from .sites import Site

_SOON_S: Final = 20.0  # seconds that nobody needs to be told of


def say_how_long(places: int, time_limit: float) -> None:
    """Say how long a design for the error of the true point takes, and why, where that is not soon.

    Args:
        places: The number of places.
        time_limit: Seconds.
    """
    from ..optimal import seconds_for_points

    seconds = seconds_for_points(places)
    if seconds > _SOON_S:
        least = min(seconds, time_limit)
        say(
            f"Note: the attacker may guess any point, so a few programs with {places:,} places are solved in "
            f"turn: about {_duration(least)} on an idle machine. When --time-limit ends, the best proved "
            "mechanism is written.",
            err=True,
        )


def _duration(seconds: float) -> str:
    return f"{math.ceil(seconds / 10) * 10:,} seconds" if seconds < 90 else f"{math.ceil(seconds / 60):,} minutes"


def solved(
    prior: Prior,
    site: Site,
    visits: Visits | None,
    limit: float | None,
    *,
    objective: str,
    keep: str,
    medians: Visits | None,
    **request: Any,
) -> Design | NoiseDesign:
    """Return the design of least loss, or of most distortion where the loss has a limit.

    With visits, the distortion is that of the true point; else that of the places.

    Args:
        prior: How often people are at each place.
        site: Where the design is made.
        visits: The visits, where the distortion is that of the true point.
        limit: The largest loss, where the distortion is to be as large as it allows.
        objective: ``--objective``.
        keep: ``--keep``.
        medians: The visits that reports are moved for, on a lattice.
        request: The other arguments of `sfumato.design`.
    """
    from ..evidence import PlaceDistortion
    from ..optimal import design, design_private

    if limit is None:
        found: Design | NoiseDesign = design(
            prior, loss=site.costs, objective=objective, keep=keep, medians=medians, **request
        )
        return found
    errors = site.distances if visits is None else PlaceDistortion(0, site.places, visits)
    return design_private(prior, loss=site.costs, distance=errors, max_loss=limit, **request)
