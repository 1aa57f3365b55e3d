"""Sources of the distances of a file's guarantees, and the distances that an audit measures by."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from ..core import DistortionPrivacy, Guarantee, Mechanism, Metric, MetricPrivacy, Space, follows
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..proofs import PlaceDistortion, VertexPrivacy

_STATED: Final = "Epsilon per distance and errors count in distances that the file states and nothing confirms."
_INSTEAD: Final = (
    "Epsilon per distance and errors count in straight lines between the coordinates, because nothing confirms "
    "the distances that the file states."
)
_NEITHER: Final = "Nothing was measured by the distances that the file states, because nothing confirms them."
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


def source_of(mechanism: Mechanism, guarantee: Guarantee) -> DistanceSource:
    """Return the source of the distances of a guarantee, by the coordinates and labels of a mechanism."""
    secrets, observables = mechanism.secrets, mechanism.observables
    if isinstance(guarantee, VertexPrivacy | PlaceDistortion):
        return DistanceSource.CONFIRMED  # both are made of places alone
    if isinstance(guarantee, MetricPrivacy):
        if guarantee.confirmed_by(secrets):
            return DistanceSource.CONFIRMED
    elif isinstance(guarantee, DistortionPrivacy):
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
    first = next((each for each in guarantees if isinstance(each, MetricPrivacy)), None)
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
        return Yardstick(first.metric, stated=True, note=_STATED)
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
        for wanted in (unit, "km"):
            try:
                return metric.to(wanted)
            except InputError:  # a unit of something else
                continue
        return metric
    return None
