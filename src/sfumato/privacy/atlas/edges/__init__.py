"""The implications of the atlas, in files by the notions that they connect."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from ..edge import Edge
from . import differential, distributions, divergences, known_priors, membership, records, renyi, trade_off


def _of(file: ModuleType) -> tuple[Edge, ...]:
    """Return the edges that a file defines, in their order."""
    return tuple(value for value in vars(file).values() if isinstance(value, Edge))


EDGES: Final[tuple[Edge, ...]] = (
    *_of(differential),
    *_of(divergences),
    *_of(renyi),
    *_of(trade_off),
    *_of(membership),
    *_of(known_priors),
    *_of(records),
    *_of(distributions),
)
"""All implications that are known here."""
