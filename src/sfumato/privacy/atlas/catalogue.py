"""The atlas: which notion of privacy implies which, with what constants, and where none does."""

from __future__ import annotations

from typing import Final

from ..vocabulary import VOCABULARY, described
from . import (
    _edges_curve,
    _edges_distribution,
    _edges_divergence,
    _edges_facts,
    _edges_knowledge,
    _edges_orders,
    _edges_point,
    _edges_records,
)
from ._edge import Edge, Goal, Refusal, Status, Tightness

__all__ = ["ATLAS", "NOTIONS", "Edge", "Goal", "Refusal", "Status", "Tightness", "implications", "table"]

ATLAS: Final[tuple[Edge, ...]] = (
    *_edges_point.EDGES,
    *_edges_divergence.EDGES,
    *_edges_orders.EDGES,
    *_edges_curve.EDGES,
    *_edges_facts.EDGES,
    *_edges_knowledge.EDGES,
    *_edges_records.EDGES,
    *_edges_distribution.EDGES,
)
"""All implications that are known here."""

NOTIONS: Final[tuple[str, ...]] = tuple(VOCABULARY)
"""The keys of all notions that claims may be about."""


def implications(*, start: str | None = None, end: str | None = None) -> tuple[Edge, ...]:
    """Return the implications from a notion, to a notion, or between two.

    Args:
        start: The key of the notion that implies; any if None.
        end: The key of the notion that is implied; any if None.

    Raises:
        InputError: If a key is unknown.

    Example:
        >>> from sfumato.privacy.atlas.catalogue import implications
        >>> [edge.name for edge in implications(start="bounded-range")]
        ['range-to-dp', 'range-to-zcdp']
    """
    for key in (start, end):
        if key is not None:
            described(key)
    return tuple(
        edge for edge in ATLAS if (start is None or edge.start == start) and (end is None or edge.end == end)
    )


def table() -> str:
    """Return the atlas as a table in Markdown, one implication per line."""
    lines = [
        "| from | to | how the values change | if | least value | source | proof |",
        "|---|---|---|---|---|---|---|",
    ]
    for edge in ATLAS:
        cells = (
            VOCABULARY[edge.start].title,
            VOCABULARY[edge.end].title,
            edge.rule,
            edge.needs or "always",
            f"{edge.tightness.value}: {edge.witness}",
            edge.source if edge.source == edge.status.value else f"{edge.source} ({edge.status.value})",
            f"[{edge.name}](proofs/atlas.md#{edge.name})",
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
