"""Comparisons of mechanisms as jobs."""

from __future__ import annotations

import math
from typing import Any, Final

from sfumato.comparison import compare, compare_places
from sfumato.core import Bracket
from sfumato.errors import SolverError
from sfumato.files import read_mechanism_file
from sfumato.reports.sentences import common_words

from ..domains import PlacesDomain, ValuesDomain
from ..measures import YOURS, compared_row
from . import Work

_BOUND_S: Final = 10.0  # for the bound that mechanisms are compared with
_COMPARE_S: Final = 90.0
_GAP: Final = 0.01  # of the programs for places: a visitor waits, and the numbers of the table have three digits
_VISITS: Final = 1000  # that a loss is measured on, drawn from more
_PLACES_ROWS: Final = 7  # five families, the lower bound and the mechanism of the level


def make_comparison(work: Work) -> dict[str, Any]:
    """Compare mechanisms at equal loss, or at equal epsilon."""
    domain, request = work.domain(), work.request
    equal, value = request["equal"], request["value"]
    epsilon, loss = (value, None) if equal == "epsilon" else (None, value)
    path = work.folder / "designs" / f"{request['design']}.sfm"
    files = {YOURS: read_mechanism_file(path)}

    names: list[str] = []

    def announce(name: str) -> None:
        if work.stop():
            raise SolverError("The comparison was cancelled.", "start it again.")
        total = max(_PLACES_ROWS if isinstance(domain, PlacesDomain) else 0, len(names) + 1)
        work.send({"event": "total", "title": f"Comparing: {name}", "done": len(names), "total": total})
        names.append(name)

    compared: list[tuple[Any, Bracket | None, Bracket | None, str]]
    if isinstance(domain, PlacesDomain):
        places = compare_places(
            domain.visits,
            epsilon=epsilon,
            max_loss=None if loss is None else f"{loss!r} m",
            region=domain.region,
            spacing=f"{domain.lattice.spacing_m!r} m",
            gap=_GAP,
            most_visits=_VISITS,
            bound_time=_BOUND_S,
            time_limit=_COMPARE_S,
            files=files,
            progress=announce,
        )
        compared = [(row, _metres(row.loss), _metres(row.attacker_error), row.detail) for row in places.rows]
        visits = places.visits
    elif isinstance(domain, ValuesDomain):
        table = compare(
            domain.prior,
            domain.apart,
            epsilon=epsilon,
            max_loss=loss,
            loss=domain.metric,
            time_limit=_COMPARE_S,
            files=files,
            progress=announce,
        )
        compared = [(row, _open_bracket(row.loss), _open_bracket(row.attacker_error), "") for row in table.rows]
        visits = 0
    else:
        raise TypeError(f"a {type(domain).__name__} is not compared.")
    rows = [
        compared_row(domain, row.name, row.epsilon_upper, cost, error, detail, row.problem or row.stopped)
        for row, cost, error, detail in compared
    ]
    rows.sort(key=lambda row: not row["yours"])
    sentence = common_words(value, domain.subject, domain.distance_unit, visits, loss=equal == "loss")
    same = {name: request[name] for name in ("design", "level", "epsilon", "equal")}
    return {**same, "rows": rows, "sentence": sentence}


def _metres(km: Bracket | None) -> Bracket | None:
    """Return kilometres as metres."""
    return None if km is None else Bracket(*(1000 * end for end in (km.lower, km.value, km.upper)))


def _open_bracket(value: float) -> Bracket:
    """Return a number that is computed in floats, and not bounded."""
    return Bracket(-math.inf, value, math.inf)
