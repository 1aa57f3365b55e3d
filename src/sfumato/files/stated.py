"""Statements of a mechanism file that nothing in it confirms: its writer's claims, distances and losses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core import Guarantee, Loss, Mechanism, MetricPrivacy, Space, as_named, follows
from ..core.naming import name_phrase, quote
from ..errors import InputError
from ..geo import TRUE_POINT
from ..proofs import LinearConstraint, Optimality, PlaceDistortion, VertexPrivacy

_LABELS: Final = "that the labels are where the file states it, not checked"
UNCONFIRMED_LOSS: Final = "the loss ("
"""Beginning of the words on a loss that nothing confirms."""


def stated(
    mechanism: Mechanism,
    loss: Loss | None,
    guarantees: Sequence[Guarantee],
    optimality: Optimality | None,
    constraints: Sequence[LinearConstraint] = (),
) -> tuple[str, ...]:
    """Return in words the distances and losses that the secrets and observables cannot confirm.

    These are of the loss and the linear constraints, arrays (secrets, observables), of the guarantees, and of the
    prices, with the attacker's distance in the dual game. Distances with a name that determines others are refused
    (`InputError`).
    """
    secrets, observables = mechanism.secrets, mechanism.observables
    found: list[str] = []
    for guarantee in guarantees:
        if isinstance(guarantee, VertexPrivacy):
            continue  # its steps are those of the lattice
        if isinstance(guarantee, MetricPrivacy):
            if not as_named(guarantee.distances, secrets, secrets):
                found.append(
                    f"distances ({name_phrase(guarantee.distances.name)}) as the file states them, not checked"
                )
            elif not guarantee.confirmed_by(secrets):
                found.append(_LABELS)
        elif isinstance(guarantee, PlaceDistortion):
            visits, places = int(guarantee.times.sum()), len(guarantee.degrees)
            found.append(
                f"that people are where the file states it ({visits:,} visits at {places:,} places), not checked; "
                "the attacker's error is computed from these places"
            )
        else:
            found += _attacker(guarantee.distance, mechanism)
    if optimality is not None and optimality.distance is not None:
        found += _attacker(optimality.distance, mechanism)
    priced = None if optimality is None else optimality.candidates
    named = loss is None or as_named(loss, secrets, observables)
    if priced is not None and loss is not None:
        named &= priced.loss.name == loss.name and as_named(priced.loss, secrets, priced.observables)
    if loss is not None and not named:
        held = any(isinstance(each, PlaceDistortion) for each in guarantees)
        averaged = loss.name.endswith(TRUE_POINT) and not held
        why = ": it is an average over visits, which the file does not hold" if averaged else ""
        found.append(f"{UNCONFIRMED_LOSS}{name_phrase(loss.name)}) as the file states it, not checked{why}")
    elif loss is not None and not follows(loss, secrets, observables, secrets):
        found.append(_LABELS)
    found += [
        f"the coefficients of the linear constraint called {quote(each.name)} as the file states them, not checked"
        for each in constraints
    ]
    found += _moved(secrets, observables)
    return tuple(dict.fromkeys(found))


def _attacker(distance: Loss, mechanism: Mechanism) -> list[str]:
    """Return in words what nothing confirms of an attacker's distances and guesses."""
    secrets, observables = mechanism.secrets, mechanism.observables
    guesses, refused = len(distance.array), None
    if guesses == len(secrets):
        try:
            if as_named(distance, secrets, secrets):
                return [] if follows(distance, secrets, secrets, secrets) else [_LABELS]
        except InputError as error:
            refused = error
    if guesses == len(observables) and observables != secrets and as_named(distance, observables, secrets):
        return [
            "the attacker is taken to guess one of the reports; an attacker who guesses anything else may err less"
        ]
    if refused is not None:
        raise refused
    what = "distances" if guesses in (len(secrets), len(observables)) else "guesses and distances"
    return [f"the attacker's {what} ({name_phrase(distance.name)}) as the file states them, not checked"]


def _moved(secrets: Space, observables: Space) -> list[str]:
    """Return in words which label stands for one place among the secrets and for another among the reports."""
    here, there = secrets.coordinates, observables.coordinates
    if here is None or there is None or secrets is observables:
        return []
    alike = (secrets.unit, secrets.crs, here.shape[1]) == (observables.unit, observables.crs, there.shape[1])
    shared = set(secrets.labels) & set(observables.labels)
    for label in (label for label in secrets.labels if label in shared):
        if not alike or not np.array_equal(here[secrets.position(label)], there[observables.position(label)]):
            return [f"the label {label} stands for one place among the secrets and for another among the reports"]
    return []


def json_of(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims as they will be read back; `InputError` if JSON cannot hold them."""
    try:
        again: dict[str, Any] = json.loads(json.dumps(dict(claims), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"the claims are not what JSON can hold ({error}).",
            "use texts, finite numbers, true, false, None, lists and mappings.",
        ) from None
    return again
