"""Checks of what a mechanism file holds: that its parts fit together, and what nothing in it confirms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..core import (
    Asked,
    DistortionPrivacy,
    Guarantee,
    Loss,
    Mechanism,
    MetricPrivacy,
    Prior,
    Space,
    as_guarantees,
    as_named,
    follows,
    units,
)
from ..core.arguments import wrong_kind
from ..core.naming import check_unit, name_phrase, quote
from ..errors import InputError, python
from ..mechanisms.tupling import TuplePrivacy, Tupling
from ..proofs import LinearConstraint, Optimality, PlaceDistortion, VertexPrivacy, check_optimality
from .archive import MOST_CONSTRAINTS, MOST_GUARANTEES

_LONGEST: Final = 300  # characters of a source
_LABELS: Final = "that the labels are where the file states it, not checked"


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
    """Refuse parts that do not fit a matrix, or that of a tupling (``dummies``); each is an `InputError`."""
    promised = len(guarantees) + len(tuple_guarantees)
    if promised > MOST_GUARANTEES:
        raise InputError(
            f"{promised:,} guarantees were given.", f"a mechanism file holds at most {MOST_GUARANTEES}."
        )
    if tuple_guarantees and not dummies:
        raise InputError(
            f"{tuple_guarantees[0]} was given, but the mechanism sends no dummies.",
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
    # In sentences a negative length, or a unit that is no short word, could be mistaken for something else.
    losses = [each.distance for each in guarantees if isinstance(each, DistortionPrivacy)]
    losses += [] if optimality is None or optimality.candidates is None else [optimality.candidates.loss]
    losses += [each for each in (loss, None if optimality is None else optimality.distance) if each is not None]
    metrics = [each.distances for each in guarantees if isinstance(each, MetricPrivacy)]
    spaces = (mechanism.secrets.unit, mechanism.observables.unit)
    for unit in (*spaces, *(each.unit for each in losses), *(each.unit for each in metrics)):
        check_unit(unit)
    for each in losses:
        if units.is_length(each.unit) and (each.array < 0).any():
            least = units.show(float(each.array.min()), each.unit)
            raise InputError(
                f"a distance or loss in {each.unit} is {least}, and no length is below zero.",
                "leave its unit out, or use lengths of at least 0.",
            )


def check_noise(
    noise: object,
    prior: Prior | None,
    guarantees: object,
    source: str,
    parts: Sequence[str],
) -> tuple[Asked, ...]:
    """Return the guarantee of noise for coordinates; `InputError` for parts that do not fit, or need a matrix."""
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
    every = (promise, *([promise] if guarantees is None else as_guarantees(guarantees)))
    numbers = [[getattr(each, name, None) for name in ("epsilon", "unit", "slack_m")] for each in every]
    if numbers[1:] != numbers[:1]:
        raise InputError(
            f"guarantees were given with a {noise!r}, whose guarantee follows from its recipe.",
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


def stated(
    mechanism: Mechanism,
    loss: Loss | None,
    guarantees: Sequence[Guarantee],
    optimality: Optimality | None,
    constraints: Sequence[LinearConstraint] = (),
) -> tuple[str, ...]:
    """Return in words the distances and losses that nothing confirms; refuse those with the name of others."""
    secrets, observables = mechanism.secrets, mechanism.observables
    notes: list[str] = []
    for guarantee in guarantees:
        if isinstance(guarantee, VertexPrivacy):
            continue  # its steps are those of the lattice
        if isinstance(guarantee, MetricPrivacy):
            if not as_named(guarantee.distances, secrets, secrets):
                notes.append(
                    f"distances ({name_phrase(guarantee.distances.name)}) as the file states them, not checked"
                )
            elif not guarantee.confirmed_by(secrets):
                notes.append(_LABELS)
        elif isinstance(guarantee, PlaceDistortion):
            visits, places = int(guarantee.times.sum()), len(guarantee.degrees)
            notes.append(
                f"that people are where the file states it ({visits:,} visits at {places:,} places), not checked; "
                "the attacker's error is computed from these places"
            )
        else:
            notes += _attacker(guarantee.distance, mechanism)
    if optimality is not None and optimality.distance is not None:
        notes += _attacker(optimality.distance, mechanism)
    if loss is not None and not is_named(mechanism, loss, optimality):
        has_visits = any(isinstance(each, PlaceDistortion) for each in guarantees)
        averaged = bool(loss.true_point) and not has_visits
        why = ": it is an average over visits, which the file does not hold" if averaged else ""
        notes.append(f"the loss ({name_phrase(loss.name)}) as the file states it, not checked{why}")
    elif loss is not None and not follows(loss, secrets, observables, secrets):
        notes.append(_LABELS)
    notes += [
        f"the coefficients of the linear constraint called {quote(each.name)} as the file states them, not checked"
        for each in constraints
    ]
    notes += _moved(secrets, observables)
    return tuple(dict.fromkeys(notes))


def is_named(mechanism: Mechanism, loss: Loss, optimality: Optimality | None) -> bool:
    """Return whether a loss, and that of the candidates of a bound, follow from their name."""
    secrets, priced = mechanism.secrets, None if optimality is None else optimality.candidates
    named = as_named(loss, secrets, mechanism.observables)
    if priced is not None:
        named &= priced.loss.name == loss.name and as_named(priced.loss, secrets, priced.observables)
    return named


def _attacker(distance: Loss, mechanism: Mechanism) -> list[str]:
    """Return in words which of an attacker's distances and guesses nothing confirms."""
    secrets, observables = mechanism.secrets, mechanism.observables
    guesses, refused = len(distance.array), None
    if guesses == len(secrets):
        try:
            if as_named(distance, secrets, secrets):
                return [] if follows(distance, secrets, secrets, secrets) else [_LABELS]
        except InputError as error:
            refused = error
    if guesses == len(observables) and observables != secrets and as_named(distance, observables, secrets):
        return ["the attacker is assumed to guess one of the reports; the error of other guesses may be smaller"]
    if refused is not None:
        raise refused
    what = "distances" if guesses in (len(secrets), len(observables)) else "guesses and distances"
    return [f"the attacker's {what} ({name_phrase(distance.name)}) as the file states them, not checked"]


def _moved(secrets: Space, observables: Space) -> list[str]:
    """Return in words a label that has different places among the secrets and the reports."""
    here, there = secrets.coordinates, observables.coordinates
    if here is None or there is None or secrets is observables:
        return []
    alike = (secrets.unit, secrets.crs, here.shape[1]) == (observables.unit, observables.crs, there.shape[1])
    shared = set(secrets.labels) & set(observables.labels)
    for label in (label for label in secrets.labels if label in shared):
        if not alike or not np.array_equal(here[secrets.position(label)], there[observables.position(label)]):
            return [f"the label {label} stands for one place among the secrets and for another among the reports"]
    return []
