"""The subject of a report: what is protected, and on which region."""

from __future__ import annotations

import numpy as np

from ...core import Mechanism, NumberBins, Prior, Space
from ...core.arrays import Floats
from ...escaping import plain
from ...files import MechanismFile
from ...geo import Cells, ChosenPlaces, Lattice, Places, Projection
from .facts import SubjectFacts
from .quantity import Known, Quantity

_LONGEST = 40  # characters of a label


def subject_of(held: MechanismFile) -> SubjectFacts:
    """Return what a file protects."""
    if not held.has_matrix:
        return _of_noise(held)
    mechanism, prior = held.report_channel, held.prior
    secrets = mechanism.secrets
    region, size = _served(secrets) if isinstance(secrets, Places) else ((), ())
    return SubjectFacts(
        kind_of(secrets),
        len(secrets),
        mechanism.shape[1],
        _unused(mechanism),
        0 if prior is None else len(prior) - len(prior.support),
        region,
        size,
        short(secrets.labels[0]),
        short(secrets.labels[-1]),
        plain(secrets.unit) if not isinstance(secrets, Places) else "m",
        _of_data(secrets, mechanism.observables),
        None if secrets.period is None else Quantity.exact(secrets.period, plain(secrets.unit), Known.STATED),
    )


def kind_of(space: Space) -> str:
    """Return ``points``, ``cells``, ``ranges`` (of numbers), ``numbers`` or ``categories``."""
    if isinstance(space, Places):
        return "points" if isinstance(space, Lattice) else "cells"
    if isinstance(space, NumberBins) and space.width > 1:
        return "ranges"
    return "numbers" if of_numbers(space) else "categories"


def of_numbers(space: Space) -> bool:
    """Return whether values are numbers, or bins of numbers, on one line or circle."""
    found = space.coordinates
    return found is not None and space.crs is None and found.shape[1] == 1


def centres_m(space: Places) -> Floats:
    """Return the middles of places on their plane, metres, array (n, 2)."""
    return np.asarray(space.coordinates, dtype=np.float64)


def short(label: object) -> str:
    """Return a label as one line of at most forty characters."""
    text = plain(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _of_data(secrets: Space, reports: Space) -> bool:
    """Return whether reports are at other points than vertices or the centres of cells."""
    at_secrets = isinstance(reports, Places | ChosenPlaces)
    return isinstance(secrets, Places) and reports.crs is not None and not at_secrets


def _unused(mechanism: Mechanism) -> int:
    return int((~(mechanism.weights != 0).any(axis=0)).sum())


def _served(places: Places) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the box around what is served: south, west, north, east in degrees; width and height in metres."""
    xy = centres_m(places)
    if isinstance(places, Lattice):
        pieces = places.pieces
        if places.kind == "square":
            xy, half = xy[pieces[:, 4]], places.spacing_m / 2
            xy = np.concatenate([xy - half, xy + half])
        else:
            xy = xy[np.unique(pieces)]
    elif isinstance(places, Cells):
        corners = places.outlines_latlon().reshape(-1, 2)
        xy = places.projection.forward(*corners.T)
    low, high = xy.min(axis=0), xy.max(axis=0)
    return _box(places.projection, low, high), tuple(map(float, high - low))


def _box(projection: Projection, low: Floats, high: Floats) -> tuple[float, ...]:
    corners = np.array([(x, y) for x in (low[0], high[0]) for y in (low[1], high[1])])
    degrees = projection.inverse(corners)
    south, west = degrees.min(axis=0)
    north, east = degrees.max(axis=0)
    return (float(south), float(west), float(north), float(east))


def _of_noise(held: MechanismFile) -> SubjectFacts:
    reach, plane = held.mechanism.reach_m, held.mechanism.projection
    region: tuple[float, ...] = ()
    if plane is not None:
        region = _box(plane, np.array([-reach, -reach]), np.array([reach, reach]))
    prior: Prior | None = held.prior
    impossible = 0 if prior is None else len(prior) - len(prior.support)
    return SubjectFacts("noise", 0, 0, 0, impossible, region, (2 * reach, 2 * reach), "", "", "m")
