"""The program of ``sfumato design`` for places: of least loss, or of most distortion, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from .messages import say

if TYPE_CHECKING:
    from ..core import Prior
    from ..core.guarantees import Asked
    from ..geo import Visits
    from ..optimal import Design, Solver
    from .design_options import DesignOptions
    from .sites import Site

_SOON_S: Final = 20.0  # seconds that nobody needs to be told of
_USUAL_GAP: Final = 1e-6


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


def say_forecast(
    prior: Prior,
    site: Site,
    guarantees: Sequence[Asked],
    *,
    objective: str,
    pairs: str,
    gap: float | None,
    twice: bool,
) -> None:
    """Say about how long a design takes, how much memory, and by which method, where that is not soon.

    Args:
        prior: How often people are at each place.
        site: Where the design is made.
        guarantees: What is promised.
        objective: ``--objective``.
        pairs: ``--pairs``.
        gap: The gap to reach; None for the usual one.
        twice: Whether reports are moved and the program is solved once more.
    """
    from ..optimal import forecast

    found = forecast(
        prior,
        loss=site.costs,
        guarantees=guarantees,
        objective=objective,
        pairs=pairs,
        gap=_USUAL_GAP if gap is None else gap,
    )
    found = replace(found, most_seconds=(2 if twice else 1) * found.most_seconds)
    if found.most_seconds > _SOON_S:
        why = f" ({found.reason})" if found.reason else ""
        say(
            f"Note: {found.sentence} are expected on an idle machine, by {found.method}{why}. After Ctrl-C, or "
            "when --time-limit ends, the best proved mechanism is written.",
            err=True,
        )


def solver_asked(asked: DesignOptions) -> Solver | str:
    """Return the solver of ``--solver``, with a state in the folder of ``--checkpoints`` if that is given."""
    from ..optimal import resumable

    return asked.solver if asked.checkpoints is None else resumable(asked.solver, asked.checkpoints)


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
) -> Design:
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
    from ..optimal import design, design_private
    from ..proofs import PlaceDistortion

    if limit is None:
        return design(prior, loss=site.costs, objective=objective, keep=keep, medians=medians, **request)
    errors = site.distances if visits is None else PlaceDistortion(0, site.places, visits)
    return design_private(prior, loss=site.costs, distance=errors, max_loss=limit, **request)
