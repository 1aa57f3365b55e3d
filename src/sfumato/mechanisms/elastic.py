"""Elastic metrics: more noise where few people are, less in a crowd."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..core import Metric, shortest_paths
from ..core.arrays import Floats, floats
from ..errors import InputError
from .family import positive

_ROUNDING: Final = 1e-12  # by how much steps are shortened, so that no rounding breaks the requirement
_EQUAL: Final = 1e-9  # of the diameter: distances so near to each other are one


def elastic_metric(distance: Metric, mass: ArrayLike, *, required: float, radius: float = math.log(2)) -> Metric:
    """Return a metric in which every ball of size r around every place holds a mass of required (r / radius)**2.

    What lies in the ball of size r is hidden within a factor exp(r). So the metric is
    large where much is near, and small where little is: in a crowd a report may be
    precise, in the country it must not be. With the exponential mechanism of epsilon 1
    it gives p(o|s) proportional to exp(-d(s, o) / 2).

    Two places are at most radius sqrt(M / required) apart, M being the mass strictly
    nearer to the one (itself included) than the other is, for the smaller of both
    directions; the metric is the shortest path of such steps. The requirement then holds
    for every r up to the one at which it asks for all the mass: the proof is in
    docs/proofs/places.md. Steps between neighbours weigh most: on a square lattice of
    even mass m it is, away from its border, radius sqrt(m / required) times the number of
    steps along the axes.

    Args:
        distance: The distance on the ground, on n places.
        mass: What each place contributes to hiding, array (n,), positive: for example
            its share of the people and of the area.
        required: The mass that must be within ``radius`` of every place, positive.
        radius: A size in the new metric, positive; by default ln 2: a factor 2.

    Returns:
        A metric without unit.

    Raises:
        InputError: If sizes differ, or a mass, the requirement or the radius is not positive.

    Source:
        Chatzikokolakis, Palamidessi and Stronati, "Constructing elastic distinguishability
        metrics for location privacy", PETS 2015. They add edges of a graph one by one
        until the requirement holds; here the edges are written down at once.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import elastic_metric
        >>> street = sf.Space.numbers(range(4)).metric("absolute")
        >>> elastic_metric(street, [9, 9, 1, 1], required=4, radius=1).array[[0, 2], [1, 3]]
        array([1.5, 0.5])
    """
    ground = distance.array
    masses = floats(mass, "the mass", shape=(len(ground),))
    if not (masses > 0).all():
        i = int(np.argmin(masses))
        raise InputError(
            f"the mass of place {i} is {masses[i]:g}, so it would be merged with its neighbours.",
            "give every place some, such as its share of the area in addition to its share of the people.",
        )
    positive(required, "the required mass")
    positive(radius, "the radius")
    nearer = _nearer(ground, masses, _EQUAL * distance.diameter)
    steps = (1 - _ROUNDING) * radius * np.sqrt(nearer / required)
    np.fill_diagonal(steps, 0.0)
    return Metric(shortest_paths(np.minimum(steps, steps.T)), name="elastic metric", triangle=True)


def elastic_surplus(metric: Metric, mass: ArrayLike, *, required: float, radius: float = math.log(2)) -> Floats:
    """Return how much mass each place has to spare, relative to what is required, array (n,).

    The least ratio of the mass within r to required (r / radius)**2, over all r up to
    where all the mass is required; the requirement holds where it is at least 1 (but for
    its own rounding). The metric is any one on n places; see `elastic_metric` for the others.

    Raises:
        InputError: If sizes differ or a number is not positive.
    """
    masses = floats(mass, "the mass", shape=(len(metric),))
    positive(required, "the required mass")
    positive(radius, "the radius")
    last = radius * math.sqrt(float(masses.sum()) / required)
    surplus = np.empty(len(masses))
    for s, row in enumerate(metric.array):
        order = np.argsort(row, kind="stable")
        # Just before the ball reaches the next place, the requirement has grown, the mass has not.
        within, until = np.cumsum(masses[order]), np.minimum(np.append(row[order[1:]], np.inf), last)
        positive_size = until > 0
        surplus[s] = (within[positive_size] / (required * (until[positive_size] / radius) ** 2)).min()
    return surplus


def _nearer(ground: Floats, masses: Floats, equal: float) -> Floats:
    """Return the mass that is strictly nearer to s than o is, s itself included, array (s, o)."""
    nearer = np.empty_like(ground)
    for s, row in enumerate(ground):
        order = np.argsort(row, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(masses[order])[:-1]])
        # Places at one distance count as none of them being nearer.
        first = np.concatenate([[True], np.diff(row[order]) > equal])
        nearer[s, order] = np.maximum(before[first][np.cumsum(first) - 1], masses[s])
    return nearer
