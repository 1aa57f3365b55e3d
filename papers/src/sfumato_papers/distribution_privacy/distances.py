"""Distances of distributions: the generators of Table I, and Wasserstein distances of groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import CHI_SQUARED, HELLINGER, KL, REVERSE_KL, TOTAL_VARIATION, Divergence, FDivergence
from sfumato.errors import InputError
from sfumato.geo import Grid
from sfumato.transport import north_west_corner, wasserstein

from ..reproduction import Tables
from .groups import Groups

LINE, MAP = "line", "map"  # from west to east, and in the plane
_RATIOS: Final = np.geomspace(1e-4, 1e4, 2001)

_Printed = tuple[str, Callable[[Floats], Floats], float, float, Divergence]

PRINTED: Final[tuple[_Printed, ...]] = (
    ("t ln t", lambda t: t * np.log(t), 0.0, inf, KL),
    ("-ln t", lambda t: -np.log(t), inf, 0.0, REVERSE_KL),
    ("|t - 1| / 2", lambda t: np.abs(t - 1) / 2, 0.5, 0.5, TOTAL_VARIATION),
    ("(t - 1)^2", lambda t: (t - 1) ** 2, 1.0, inf, CHI_SQUARED),
    ("(sqrt t - 1)^2 / 2", lambda t: (np.sqrt(t) - 1) ** 2 / 2, 0.5, 0.5, HELLINGER),
)
"""Each generator as printed, with f(0), the limit of f(t)/t at infinity, and the divergence of the package."""


@dataclass(frozen=True, slots=True, repr=False)
class GeneratorRow(CompactRepr):
    """A generator of Table I."""

    divergence: str
    generator: str
    at_one: float  # f(1), which must be 0
    least_turn: float  # least second difference over its largest size on ratios of 0.0001 to 10,000: 0 if convex
    pairs: int  # random pairs of distributions that were compared
    largest_difference: float  # relative, between the sum over f(p/q) and the other formula
    both_infinite: int  # pairs where both are infinite, because a report is possible under one alone


def generators(seed: int, pairs: int) -> Tables:
    """Return the checks of Table I on random pairs; in every fourth a report has probability 0."""
    random = np.random.Generator(np.random.PCG64(seed))
    laws = [_pair(random, k % 4 == 0) for k in range(pairs)]
    rows = []
    for printed, f, at_zero, slope, divergence in PRINTED:
        by_generator = FDivergence(f"generator {printed}", f, at_zero, slope)
        values = [(by_generator(p, q), divergence(p, q)) for p, q in laws]
        finite = [(a, b) for a, b in values if np.isfinite([a, b]).all()]
        infinite = sum(bool(np.isinf(a) and np.isinf(b)) for a, b in values)
        # A pair of which one alone is infinite counts as infinitely far apart.
        worst = max(abs(a - b) / b for a, b in finite) if len(finite) + infinite == pairs else inf
        at_one = float(f(np.ones(1))[0])
        rows.append(GeneratorRow(divergence.name, printed, at_one, _turn(f), pairs, worst, infinite))
    return {"generators": rows}


def _pair(random: np.random.Generator, bare: bool) -> tuple[Floats, Floats]:
    m = int(random.integers(2, 9))
    p, q = random.dirichlet(np.ones(m), 2)
    if bare:
        (p if random.random() < 0.5 else q)[random.integers(m)] = 0.0
    return p / p.sum(), q / q.sum()


def _turn(f: Callable[[Floats], Floats]) -> float:
    """Return the least rise of slopes between neighbouring ratios, over the largest slope there."""
    slopes = np.diff(f(_RATIOS)) / np.diff(_RATIOS)
    scale = np.maximum(np.abs(slopes[1:]), np.abs(slopes[:-1]))
    return float((np.diff(slopes) / scale).min())


@dataclass(frozen=True, slots=True, repr=False)
class GroupDistanceRow(CompactRepr):
    """A Wasserstein distance of two groups, and the cost of a coupling made in one pass."""

    groups: str
    where: str  # line or map
    order: float
    lower_km: float  # proved
    upper_km: float  # attained by the optimal coupling
    north_west_km: float | None  # of the north-west corner rule; None where its precondition fails


def group_distances(groups: Groups, city: Grid) -> Tables:
    """Return distances of two groups, of several orders, on the line from west to east and on the map."""
    centres = np.asarray(city.coordinates) / 1000
    east, column = np.unique(np.round(centres[:, 0], 9), return_inverse=True)
    first, second = (np.bincount(column, weights=law) for law in groups.distributions)
    rows = []
    for order in (1.0, 2.0, inf):
        for where, (p, q), d in (
            (LINE, (first / first.sum(), second / second.sum()), np.abs(np.subtract.outer(east, east))),
            (MAP, groups.distributions, groups.metric.array),
        ):
            best = wasserstein(p, q, d, order).distance
            corner = _corner(p, q, d, order)
            rows.append(GroupDistanceRow(groups.title, where, order, best.lower, best.upper, corner))
    return {"distances": rows}


def _corner(first: Floats, second: Floats, d: Floats, order: float) -> float | None:
    try:
        return north_west_corner(first, second, d, order).expected_distance(d, order)
    except InputError:
        return None
