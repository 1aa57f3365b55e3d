"""Positions of Meshtastic radios with fewer bits."""

from __future__ import annotations

from typing import Final

from sfumato.errors import InputError

from ..degrees import degree_m
from ..fixed_cells import FixedCells
from ..scheme import WildFact, WildScheme
from .biodiversity import LATITUDE

_SOURCE: Final = "meshtastic/firmware, src/mesh/PositionPrecision.cpp"
_READ: Final = "commit 7754068, 2026-07"
_UNIT: Final = 1e-7  # degrees
_BITS: Final = 32


def mesh_cells(bits: int, lat: float) -> FixedCells:
    """Return the cells of a position precision.

    Latitude and longitude are integers of 32 bits in units of 1e-7 degrees, of which the upper ones are kept.

    Args:
        bits: How many bits are kept, 1 to 31.
        lat: Latitude, degrees.

    Raises:
        InputError: If the number of bits is another one.

    Example:
        >>> from sfumato_papers import wild
        >>> round(wild.mesh_cells(13, 0.0).width_m)
        5836
    """
    if not 1 <= bits < _BITS:
        raise InputError(f"a precision of {bits} bits has no cells.", "use 1 to 31, such as 13.")
    step = 2.0 ** (_BITS - bits) * _UNIT
    east, north = degree_m(lat)
    return FixedCells(step * east, step * north)


MESH: Final = WildScheme(
    key="mesh-13",
    title="Meshtastic, 13 bits",
    who="Meshtastic, its default precision",
    facts=(
        WildFact(
            "Latitude and longitude are 32-bit integers in units of 1e-7 degrees. The upper p bits and the "
            "middle of the cell are reported. The default is 13 bits; 0 sends no position, 32 the exact one.",
            _SOURCE,
            _READ,
        ),
        WildFact("Channels with public keys send at most 15 bits.", _SOURCE, "2026-05"),
    ),
    model="Every point of a cell of 2^19 x 1e-7 degrees is reported as its centre, at 40 degrees north.",
    promise="None across a border (epsilon infinite). Points of one cell give the same report.",
    repeats="the same report, however often",
    unknown=("What else a radio sends, and when, is not covered.",),
    channel=mesh_cells(13, LATITUDE),
)
