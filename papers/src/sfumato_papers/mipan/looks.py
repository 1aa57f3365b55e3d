"""The look of generators and mechanisms in figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sfumato.core import Bracket
from sfumato.reports.theme import LIGHT

from .vocabulary import ANNEALED, LAPLACE, LEAST_INFORMATION, NETWORK, NO_NOISE, OPTIMUM, TABLE

_LOOKS: Final = {
    NO_NOISE: (LIGHT.muted, "x", ":"),
    LAPLACE: (LIGHT.series[1], "^", "--"),
    LEAST_INFORMATION: (LIGHT.series[3], "v", "-."),
    TABLE: (LIGHT.series[0], "o", "-"),
    ANNEALED: (LIGHT.series[4], "P", "-"),
    NETWORK: (LIGHT.series[2], "s", "-"),
    OPTIMUM: (LIGHT.ink, "D", ":"),
}


def bars(found: Sequence[Bracket]) -> list[list[float]]:
    """Return how far intervals reach below and above their values, as error bars."""
    return [[each.value - each.lower for each in found], [each.upper - each.value for each in found]]


def look(name: str) -> dict[str, Any]:
    """Return how the line of a generator is drawn."""
    colour, marker, line = _LOOKS[name]
    return {
        "color": colour,
        "marker": marker,
        "linestyle": line,
        "label": name,
        "markersize": 4.5,
        "linewidth": 1.2,
        "capsize": 2.5,
    }
