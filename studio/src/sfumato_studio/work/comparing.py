"""Comparisons of mechanisms as jobs."""

from __future__ import annotations

import math
from typing import Any, Final

from sfumato.comparison import compare, compare_places
from sfumato.core import Bracket
from sfumato.errors import SolverError

from ..grounds import PlacesGround, ValuesGround
from ..words import StudioWords
from .orders import Work

_BOUND_S: Final = 10.0  # for the bound that mechanisms are compared with
_COMPARE_S: Final = 90.0
_GAP: Final = 0.01  # of the programs for places: a visitor waits, and the numbers of the table have three digits
_VISITS: Final = 1000  # that a loss is measured on, drawn from more
_PLACES_ROWS: Final = 6  # five families, and what no mechanism goes below


def make_comparison(work: Work) -> dict[str, Any]:
    """Compare mechanisms at equal loss, or at equal epsilon."""
    ground, asked = work.ground(), work.request
    loss, epsilon = asked.get("loss"), asked.get("epsilon")

    started: list[str] = []

    def named(name: str) -> None:
        if work.stop():
            raise SolverError("The comparison was cancelled.", "start it again.")
        total = _PLACES_ROWS if isinstance(ground, PlacesGround) else 0
        work.tell({"event": "named", "name": name, "done": len(started), "total": total})
        started.append(name)

    words = StudioWords(ground)
    if isinstance(ground, PlacesGround):
        places = compare_places(
            ground.visits,
            epsilon=epsilon,
            max_loss=None if loss is None else f"{loss!r} m",
            region=ground.region,
            spacing=f"{ground.lattice.spacing_m!r} m",
            gap=_GAP,
            most_visits=_VISITS,
            bound_time=_BOUND_S,
            time_limit=_COMPARE_S,
            progress=named,
        )
        rows = [
            words.contestant(
                row.name,
                row.epsilon_upper,
                _metres(row.loss),
                _metres(row.attacker_error),
                row.detail,
                row.problem or row.stopped,
            )
            for row in places.rows
        ]
        visits = places.visits
    elif isinstance(ground, ValuesGround):
        table = compare(
            ground.prior,
            ground.apart,
            epsilon=epsilon,
            max_loss=loss,
            loss=ground.metric,
            time_limit=_COMPARE_S,
            progress=named,
        )
        rows = [
            words.contestant(
                row.name,
                row.epsilon_upper,
                _near(row.loss),
                _near(row.attacker_error),
                "",
                row.problem or row.stopped,
            )
            for row in table.rows
        ]
        visits = None
    else:
        raise TypeError(f"a {type(ground).__name__} is not compared.")
    equal, value = ("epsilon", epsilon) if loss is None else ("loss", loss)
    return {"rows": rows, "sentence": words.compared(equal=equal, value=float(value or 0.0), visits=visits)}


def _metres(found: Bracket | None) -> Bracket | None:
    """Return kilometres as metres."""
    return None if found is None else Bracket(*(1000 * each for each in (found.lower, found.value, found.upper)))


def _near(value: float) -> Bracket:
    """Return a number that is computed in floats, and not bounded."""
    return Bracket(-math.inf, value, math.inf)
