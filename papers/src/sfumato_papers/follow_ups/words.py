"""Tables of findings and published values, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sfumato.rounding import about, at_least, at_most, percent_at_most

from ..reproduction import interval
from .anchors_beside import AIPO, AIPO_WIDE, BOUND, CERTIFIED, EM, LP, AnchorRow
from .claims_drawing_board import Mean
from .published import CIRCLE, EXPONENTIAL, EXPOST, GAUSSIAN, LAPLACE, LEVELS_KM, PUBLISHED
from .spanners import EXACT, REALISED, SpannerRow

_BOARD: Final = (EXPOST, EXPONENTIAL, LAPLACE, GAUSSIAN, CIRCLE)


def spanner_table(rows: Sequence[SpannerRow]) -> str:
    """Return losses and rows of spanners on most places in Markdown, a column for each ground."""
    most = max(row.places for row in rows)
    own = [row for row in rows if row.places == most and row.kind in (REALISED, EXACT)]
    grounds = list(dict.fromkeys(row.ground for row in own))
    lines = [f"| dilation asked | {' | '.join(grounds)} |", f"|---|{'--:|' * len(grounds)}"]
    by = {(row.ground, None if row.kind == EXACT else row.dilation_asked): row for row in own}
    for dilation in dict.fromkeys(dilation for _, dilation in by):
        asked = "none" if dilation is None else f"{dilation:g}"
        found = [by[ground, dilation] for ground in grounds]
        cells = [f"{percent_at_most(row.loss / row.least - 1)}; {row.rows:,}" for row in found]
        lines.append(f"| {asked} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def board_table(found: Sequence[Mean], city: str, levels: Sequence[float] = LEVELS_KM) -> str:
    """Return loss after the remap and entropy in Markdown, of one city and as published, by level.

    Args:
        found: Means over seeds.
        city: The city.
        levels: Mean lengths of the noise, km, of `LEVELS_KM`.
    """
    by = {(each.mechanism, each.level_km): each for each in found if each.city == city}
    lines = [f"| 2 / epsilon (km) | | {' | '.join(_BOARD)} |", f"|---|---|{'---|' * len(_BOARD)}"]
    for level in levels:
        own = [by.get((name, level)) for name in _BOARD]
        if None in own:
            continue
        here = [f"{about(each.loss_km.value, 3)} / {about(each.entropy_bits.value, 4)}" for each in own if each]
        theirs = [PUBLISHED[name][LEVELS_KM.index(level)] for name in _BOARD]
        lines.append(f"| {level:g} | {city} | {' | '.join(here)} |")
        lines.append(f"| | published | {' | '.join(f'{lost:.4f} / {bits:.3f}' for lost, bits in theirs)} |")
    return "\n".join(lines) + "\n"


def anchor_table(rows: Sequence[AnchorRow]) -> str:
    """Return losses of AIPO and others in km in Markdown, means over draws of the reports."""
    names = (EM, AIPO, AIPO_WIDE, CERTIFIED, BOUND, LP)
    lines = [
        f"| city | epsilon (per km) | {' | '.join(names)} (epsilon violated) |",
        f"|---|--:|{'--:|' * len(names)}",
    ]
    for city, epsilon in dict.fromkeys((row.city, row.epsilon) for row in rows):
        cells = []
        for name in names:
            losses = [row.loss for row in rows if (row.city, row.epsilon, row.mechanism) == (city, epsilon, name)]
            mean = interval(losses).value
            words = {CERTIFIED: at_most, BOUND: at_least}.get(name, about)
            cells.append(words(mean, 3))
        lines.append(f"| {city} | {epsilon:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
