"""The best conceivable beside a design: ``--bound-time`` of ``sfumato design``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..core import CoordinatePrivacy, Mechanism
    from ..geo import Visits
    from ..optimal import Design
    from ..reports import Summary


def check_bound_time(seconds: float, *, promised: bool) -> None:
    """Refuse a bound that cannot be proved, before the work.

    Args:
        seconds: ``--bound-time``.
        promised: Whether an epsilon is promised, or looked for.

    Raises:
        InputError: If the time is negative, or nothing is promised that a bound is about.
    """
    if not 0 <= seconds < float("inf"):
        raise InputError(f"--bound-time {seconds:g} is not a number of seconds.", "write 60, or 0 for no bound.")
    if seconds and not promised:
        raise InputError(
            "--bound-time was given, but no epsilon is promised, which the bound is about.",
            "add --epsilon, or leave --bound-time out.",
        )


def promise_of_points(result: Design) -> CoordinatePrivacy | None:
    """Return what a design promises of any two points; None where it promises nothing of them."""
    from ..core import CoordinatePrivacy
    from ..proofs import VertexPrivacy

    for each in result.guarantees:
        if isinstance(each, CoordinatePrivacy):
            return each
        if isinstance(each, VertexPrivacy):
            return each.promise
    return None


def loss_on(mechanism: Mechanism, visits: Visits) -> float:
    """Return an upper bound of the mean distance from visits to their reports, in kilometres."""
    from ..core import Prior
    from ..geo import Places
    from ..proofs import expected_loss_above

    places = mechanism.secrets
    if not isinstance(places, Places):
        raise InputError("the secrets are not places.", "design for points.")
    loss = places.loss(visits, unit="km", observables=mechanism.observables)
    return expected_loss_above(mechanism, Prior.from_visits(places, visits), loss) * (1 + 1e-12)


def with_best(
    summary: Summary, promise: CoordinatePrivacy, visits: Visits, loss: float, seconds: float
) -> Summary:
    """Return a summary with the section on the best that any mechanism with the promise could do.

    Args:
        summary: The summary.
        promise: What is promised of any two points.
        visits: The places that the bound is for.
        loss: What the mechanism loses on these, at most, in kilometres.
        seconds: For the bound.
    """
    from ..core import units
    from ..optimal import coordinate_bound
    from ..reports import Summary, best_section
    from .screen import Screen

    epsilon = promise.epsilon * units.factor("km", promise.unit)
    with Screen(stderr=True).status("Proving what no mechanism with this promise can go below"):
        bound = coordinate_bound(visits, epsilon, unit="km", time_limit=seconds)
    return Summary(summary.title, (*summary.sections, best_section(bound, loss)))
