"""Checks of what a mechanism file holds, for each kind of mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..core import (
    Asked,
    CoordinatePrivacy,
    DistortionPrivacy,
    Guarantee,
    Loss,
    Mechanism,
    MetricPrivacy,
    Prior,
    as_guarantees,
    units,
)
from ..core.arguments import wrong_kind
from ..core.naming import check_unit
from ..errors import InputError, python
from ..mechanisms.tupling import TuplePrivacy, Tupling
from ..proofs import LinearConstraint, Optimality, check_optimality
from .decoding import MOST_CONSTRAINTS, MOST_GUARANTEES

_LONGEST: Final = 300  # characters of a source


def check_matrix(
    mechanism: Mechanism,
    prior: Prior | None,
    loss: Loss | None,
    guarantees: Sequence[Guarantee],
    tuple_guarantees: Sequence[TuplePrivacy],
    optimality: Optimality | None,
    constraints: Sequence[LinearConstraint],
    source: str,
    *,
    dummies: bool,
) -> None:
    """Refuse what does not fit a matrix, or the matrix inside a tupling (`InputError`).

    ``source`` is whose places a table is from, and ``dummies`` whether its reports are sent among dummies.
    """
    promised = len(guarantees) + len(tuple_guarantees)
    if promised > MOST_GUARANTEES:
        raise InputError(
            f"{promised:,} guarantees were given.", f"a mechanism file holds at most {MOST_GUARANTEES}."
        )
    if tuple_guarantees and not dummies:
        raise InputError(
            f"{tuple_guarantees[0]} was promised, but the mechanism sends no dummies.",
            "pass a Tupling, or leave this guarantee out.",
        )
    if prior is not None and prior.space != mechanism.secrets:
        mechanism.secrets.check_order(prior.space, "the prior")
        raise InputError(
            f"the prior is on {prior.space!r}, the mechanism on {mechanism.secrets!r}.",
            "use a prior on the mechanism's secrets.",
        )
    for guarantee in guarantees:
        guarantee.check_secrets(mechanism.secrets)
        if isinstance(guarantee, DistortionPrivacy) and prior is None:
            raise InputError(
                f"the guarantee ({guarantee}) comes without a prior, and without one it means nothing.",
                "give the prior that the attacker's error is averaged over.",
            )
    if len(constraints) > MOST_CONSTRAINTS:
        raise InputError(
            f"{len(constraints):,} linear constraints were given.",
            f"a mechanism file holds at most {MOST_CONSTRAINTS}.",
        )
    for limit in constraints:
        limit.check_shape(*mechanism.shape)
    if optimality is not None:
        check_optimality(mechanism, prior, loss, guarantees, optimality, constraints)
    if source:
        raise InputError(
            f"a source was given with a {mechanism!r}, which has no table of places.", python("leave source= out.")
        )
    check_sound(mechanism, loss, guarantees, optimality)


def check_noise(
    noise: object,
    prior: Prior | None,
    guarantees: object,
    source: str,
    parts: Sequence[str],
) -> tuple[Asked, ...]:
    """Return the promise of noise for coordinates; refuse what does not fit the noise (`InputError`).

    The prior is over some cells. ``guarantees`` is None for the noise's own promise, the only one that it can
    have. ``source`` is whose places its table is from; ``parts`` name what else was given and only a matrix can
    have.
    """
    from ..geo import Cells
    from ..mechanisms.planar import CoordinateNoise

    if not isinstance(noise, CoordinateNoise):
        raise wrong_kind("mechanism", noise, (Mechanism, Tupling, CoordinateNoise))
    if noise.projection is None:
        raise InputError(
            "a mechanism file holds noise for latitudes and longitudes, but this is for points of a plane.",
            python("pass a Projection when you make it, or use CoordinateNoise.for_visits."),
        )
    if parts:
        raise InputError(
            f"{parts[0]}= was given with a {noise!r}, which has no matrix.", python(f"leave {parts[0]}= out.")
        )
    promise = noise.promise
    if guarantees is not None and not _is_promise(as_guarantees(guarantees), promise):
        raise InputError(
            f"guarantees were given with a {noise!r}, whose recipe decides what it promises.",
            python("leave guarantees= out."),
        )
    if len(source) > _LONGEST:
        raise InputError(f"the source has {len(source):,} characters.", f"use at most {_LONGEST}.")
    if prior is not None:
        if not isinstance(prior.space, Cells):
            raise InputError(
                f"the prior is on {prior.space!r}, which are not cells on the ground.",
                "use one on a Grid or Hexagons.",
            )
        if not noise.serves(*prior.space.latlon.T).all():
            raise InputError(
                f"a cell of the prior is farther than {noise.reach_m / 1000:,.6g} km from the centre.",
                "use cells that the noise serves.",
            )
    return (promise,)


def _is_promise(guarantees: Sequence[Asked], promise: CoordinatePrivacy) -> bool:
    """Return whether guarantees are one promise for points with the same numbers."""
    return len(guarantees) == 1 and all(
        getattr(guarantees[0], name, None) == getattr(promise, name) for name in ("epsilon", "unit", "slack_m")
    )


def check_sound(
    mechanism: Mechanism, loss: Loss | None, guarantees: Sequence[Guarantee], optimality: Optimality | None
) -> None:
    """Refuse units that are no short words, and lengths below zero (`InputError`).

    Units stand in sentences: a longer text could read as one. They are those of the mechanism's secrets and
    observables, the loss, the guarantees' metrics and distances, and the attacker's distance in the prices.
    """
    losses = [each.distance for each in guarantees if isinstance(each, DistortionPrivacy)]
    candidates = None if optimality is None else optimality.candidates
    losses += [] if candidates is None else [candidates.loss]
    losses += [each for each in (loss, None if optimality is None else optimality.distance) if each is not None]
    metrics = [each.distances for each in guarantees if isinstance(each, MetricPrivacy)]
    spaces = (mechanism.secrets, mechanism.observables)
    named = [*(each.unit for each in spaces), *(each.unit for each in losses), *(each.unit for each in metrics)]
    for unit in named:
        check_unit(unit)
    for given in losses:
        if units.is_length(given.unit) and (given.array < 0).any():
            least = units.show(float(given.array.min()), given.unit)
            raise InputError(
                f"a distance or loss in {given.unit} is {least}, and no length is below zero.",
                "leave its unit out, or use lengths of at least 0.",
            )
