"""Statements that follow from how schemes are built, each with what the run shows of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...rounding import at_most
from ..reproduction import PaperClaim, follows
from .borders import BorderRow
from .summary import CloseRow, close_row, metres, over_seeds, shares
from .vocabulary import ALONE, AS_DOCUMENTED
from .zones import CIRCLE, CIRCLE_AND_LAW, ZoneRow

_CELLS = ("fixed-grid", "mesh-13", "obscured", "generalised-0.01")
_SHIFT_M = 250.0  # the median of the documented law of the shift


def built(borders: Sequence[BorderRow], zones: Sequence[ZoneRow], close: Sequence[CloseRow]) -> list[PaperClaim]:
    """Return what follows by construction, which is counted apart from published statements.

    Args:
        borders: Two people at a border.
        zones: Errors behind zones.
        close: Errors over the runs.
    """
    same = max(row.same_cell_epsilon for row in borders)
    factor = max(row.certified_factor for row in borders)
    pairs = [
        (
            close_row(close, key, AS_DOCUMENTED, ALONE, 1).median_m,
            close_row(close, key, AS_DOCUMENTED, ALONE, 100).median_m,
        )
        for key in _CELLS
    ]
    shown = ", ".join(metres(one) for one, _ in pairs)

    def behind(attack: str, tracks: int) -> list[ZoneRow]:
        return [row for row in zones if (row.scheme, row.attack, row.tracks) == ("zone-shifted", attack, tracks)]

    circle, ten, hundred = (
        over_seeds(found, lambda row: row.median_m)
        for found in (behind(CIRCLE, 100), behind(CIRCLE_AND_LAW, 10), behind(CIRCLE_AND_LAW, 100))
    )
    near = over_seeds(behind(CIRCLE_AND_LAW, 100), lambda row: row.within_100)
    return [
        follows(
            "Fixed cells",
            "They keep no epsilon per metre across a border, and tell nothing within a cell.",
            all(math.isinf(row.border_epsilon) for row in borders) and same == 0.0,
            f"Audited on the integers of {len(borders)} schemes of cells: of two people a metre apart in one "
            f"cell the epsilon is {same:g}, on the two sides of a border it is infinite. The certified noise of "
            f"the same average distance favours one of the two at most {at_most(factor)} times at the finest of "
            "them.",
        ),
        follows(
            "Fixed cells",
            "Reports of one place, however many, tell no more than the first of them.",
            all(one == many for one, many in pairs),
            f"The median errors after 1 and after 100 reports are the same: {shown} for a grid of 5 km, 13 "
            "bits, 0.2 degrees and 0.01 degrees.",
        ),
        follows(
            "The law of OpenBikeSensor's shift",
            "The middle of the circle is as far from home as the centre was moved. So the circle alone does not "
            "show home; ends of tracks that crowd on one side do.",
            circle.lower <= _SHIFT_M <= circle.upper and hundred.upper < circle.lower,
            f"With 100 tracks the middle of the circle is {metres(circle)} from home in the median; by its law "
            f"the centre is moved by {_SHIFT_M:g} m. An attacker who knows this law, and that tracks leave home "
            f"in even directions, is {metres(hundred)} off, and within 100 m of {shares(near)} of homes; with "
            f"ten tracks they are {metres(ten)} off.",
        ),
    ]
