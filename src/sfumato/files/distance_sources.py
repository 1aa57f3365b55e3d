"""Distances of a file's guarantees: their sources, what nothing confirms, and those that an audit measures by."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ..core import (
    DistortionPrivacy,
    Guarantee,
    KindErrors,
    Loss,
    Mechanism,
    Metric,
    MetricPrivacy,
    Space,
    as_named,
    follows,
)
from ..core.immutable import CompactRepr
from ..core.naming import name_phrase, quote
from ..errors import InputError
from ..escaping import plain, shorten
from ..proofs import FamilyPrivacy, LinearConstraint, Optimality, PlaceDistortion, VertexPrivacy

_UNCONFIRMED: Final = (
    "Epsilon per distance and errors count in distances that the file states and nothing confirms."
)
_INSTEAD: Final = (
    "Epsilon per distance and errors count in straight lines between the coordinates, because nothing confirms "
    "the distances that the file states."
)
_NEITHER: Final = "Nothing was measured by the distances that the file states, because nothing confirms them."
_MAP: Final = (
    "the map of the kinds of places as the file states it, not checked: 'sfumato audit' decides with the map, "
    "--kinds FILE"
)
_LABELS: Final = "that the labels are where the file states it, not checked"
_INFINITE: Final = "The file has no guarantee by distance: no two secrets are at a finite distance."


class DistanceSource(enum.Enum):
    """Source of the distances of a guarantee; the value is the word for it."""

    CONFIRMED = "confirmed"
    """The secrets have coordinates or labels that give just these distances."""
    REPORTS = "to reports"
    """The same, but an attacker is taken to guess one of the reports."""
    LABELS = "stated for labels"
    """The file states them, for secrets that have no coordinates."""
    UNCONFIRMED = "stated and not confirmed"
    """The file states them, and the coordinates of the secrets give others or none."""
    MAP = "map of kinds"
    """They are chances of wrong guesses of a kind, by a map that the caller has."""
    STATED_MAP = "stated map of kinds"
    """The same by a map that the file states, and nothing confirms."""


def source_of(mechanism: Mechanism, guarantee: Guarantee) -> DistanceSource:
    """Return the source of the distances of a guarantee, by the coordinates and labels of a mechanism."""
    secrets, observables = mechanism.secrets, mechanism.observables
    if isinstance(guarantee, VertexPrivacy | PlaceDistortion):
        return DistanceSource.CONFIRMED  # both are made of places alone
    if isinstance(guarantee, FamilyPrivacy):
        return DistanceSource.CONFIRMED if guarantee.distance is None else DistanceSource.LABELS
    if isinstance(guarantee, MetricPrivacy):
        if guarantee.confirmed_by(secrets):
            return DistanceSource.CONFIRMED
    elif isinstance(guarantee, DistortionPrivacy):
        if isinstance(guarantee.distance, KindErrors):
            return DistanceSource.MAP
        if KindErrors.matches(guarantee.distance):
            return DistanceSource.STATED_MAP
        if follows(guarantee.distance, secrets, secrets, secrets):
            return DistanceSource.CONFIRMED
        if follows(guarantee.distance, observables, secrets, secrets):
            return DistanceSource.REPORTS
    return DistanceSource.LABELS if secrets.coordinates is None else DistanceSource.UNCONFIRMED


@final
@dataclass(frozen=True, slots=True, repr=False)
class Yardstick(CompactRepr):
    """The distances to measure the mechanism of a file by.

    ``metric`` is None where there are none, ``stated`` is whether only the file states them, and ``note`` is a
    sentence about them.
    """

    metric: Metric | None
    stated: bool = False
    note: str = ""


def measured_by(mechanism: Mechanism, guarantees: Sequence[Guarantee]) -> Yardstick:
    """Return the distances to measure a file's mechanism by, from the guarantees of the file.

    They are those of the first guarantee of metric privacy if they are confirmed, or if the
    secrets have no coordinates; else those between the coordinates.
    """
    space = mechanism.secrets
    first = next((guarantee for guarantee in guarantees if isinstance(guarantee, MetricPrivacy)), None)
    if first is None:
        return Yardstick(None)
    if isinstance(first, VertexPrivacy):  # whose distances are steps, which no one asked for
        return Yardstick(space.metric("euclidean", unit=first.promise.unit))
    straight = _straight(space, first.metric.unit)
    if not promised_pairs(first.metric):
        return Yardstick(straight, note=_INFINITE)
    source = source_of(mechanism, first)
    if source is DistanceSource.CONFIRMED:
        return Yardstick(first.metric)
    if source is DistanceSource.LABELS:
        return Yardstick(first.metric, stated=True, note=_UNCONFIRMED)
    return Yardstick(straight, note=_NEITHER if straight is None else _INSTEAD)


def promised_pairs(metric: Metric) -> int:
    """Return the number of ordered pairs at a finite distance: those that a guarantee constrains."""
    return int(np.isfinite(metric.array).sum()) - len(metric)


def _straight(space: Space, unit: str) -> Metric | None:
    """Return the distances between the coordinates of a space, in a unit if it fits."""
    for kind in ("euclidean", "great-circle"):
        try:
            metric = space.metric(kind)
        except InputError:  # no coordinates, or degrees
            continue
        for target in (unit, "km"):
            try:
                return metric.to(target)
            except InputError:  # a unit of something else
                continue
        return metric
    return None


def unconfirmed_claims(
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
        elif isinstance(guarantee, FamilyPrivacy):
            apart = "" if guarantee.distance is None else ", and their distances,"
            family = shorten(plain(str(guarantee.notion.family)))
            notes.append(f"{family}{apart} as the file states them, not checked")
        elif isinstance(guarantee, DistortionPrivacy):
            notes += _attacker(guarantee.distance, mechanism)
    if optimality is not None and optimality.distance is not None:
        notes += _attacker(optimality.distance, mechanism)
    if loss is not None and not is_named(mechanism, loss, optimality):
        has_visits = any(isinstance(guarantee, PlaceDistortion) for guarantee in guarantees)
        averaged = bool(loss.true_point) and not has_visits
        why = ": it is an average over visits, which the file does not hold" if averaged else ""
        notes.append(f"the loss ({name_phrase(loss.name)}) as the file states it, not checked{why}")
    elif loss is not None and not follows(loss, secrets, observables, secrets):
        notes.append(_LABELS)
    notes += [
        f"the coefficients of the linear constraint called {quote(row.name)} as the file states them, not checked"
        for row in constraints
    ]
    notes += _place_conflicts(secrets, observables)
    return tuple(dict.fromkeys(notes))


def is_named(mechanism: Mechanism, loss: Loss, optimality: Optimality | None) -> bool:
    """Return whether a loss, and that of the candidates of a bound, follow from their name."""
    secrets, priced = mechanism.secrets, None if optimality is None else optimality.candidates
    is_match = as_named(loss, secrets, mechanism.observables)
    if priced is not None:
        is_match &= priced.loss.name == loss.name and as_named(priced.loss, secrets, priced.observables)
    return is_match


def _attacker(distance: Loss, mechanism: Mechanism) -> list[str]:
    """Return in words which of an attacker's distances and guesses nothing confirms."""
    if KindErrors.matches(distance):
        return [] if isinstance(distance, KindErrors) else [_MAP]
    secrets, observables = mechanism.secrets, mechanism.observables
    guesses, refusal = len(distance.array), None
    if guesses == len(secrets):
        try:
            if as_named(distance, secrets, secrets):
                return [] if follows(distance, secrets, secrets, secrets) else [_LABELS]
        except InputError as error:
            refusal = error
    if guesses == len(observables) and observables != secrets and as_named(distance, observables, secrets):
        return ["the attacker is assumed to guess one of the reports; the error of other guesses may be smaller"]
    if refusal is not None:
        raise refusal
    noun = "distances" if guesses in (len(secrets), len(observables)) else "guesses and distances"
    return [f"the attacker's {noun} ({name_phrase(distance.name)}) as the file states them, not checked"]


def _place_conflicts(secrets: Space, observables: Space) -> list[str]:
    """Return in words a label that has different places among the secrets and the reports."""
    here, there = secrets.coordinates, observables.coordinates
    if here is None or there is None or secrets is observables:
        return []
    alike = (secrets.unit, secrets.crs, here.shape[1]) == (observables.unit, observables.crs, there.shape[1])
    overlap = set(secrets.labels) & set(observables.labels)
    for label in (label for label in secrets.labels if label in overlap):
        if not alike or not np.array_equal(here[secrets.position(label)], there[observables.position(label)]):
            return [f"the label {label} stands for one place among the secrets and for another among the reports"]
    return []
