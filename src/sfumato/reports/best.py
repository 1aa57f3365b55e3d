"""The distance of a mechanism for points from the best that any mechanism with its promise could do, in words."""

from __future__ import annotations

from ..optimal import CoordinateBound
from ..rounding import amount_at_most
from .summary import Section


def best_section(bound: CoordinateBound, loss: float) -> Section:
    """Return what a bound of all mechanisms says of one.

    Args:
        bound: The bound.
        loss: The mechanism's expected loss on the same places, or more; in the bound's unit.

    Raises:
        InputError: If no mechanism with the promise can have this loss.
    """
    stated = amount_at_most(loss, bound.loss_unit)
    return Section(
        "The best conceivable",
        (
            f"On the places that the bound is for it loses at most {stated} on average.",
            bound.sentence,
            bound.compared(loss),
        ),
    )
