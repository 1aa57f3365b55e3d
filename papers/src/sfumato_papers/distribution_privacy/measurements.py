"""Privacy and loss of mechanisms with and without dummies, each proved for two groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Final

import numpy as np

from sfumato.core import Bracket, Mechanism, Metric, Prior
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import Grid, Places
from sfumato.mechanisms import (
    FamilyAccountant,
    PlanarGaussian,
    Tupling,
    attack_success,
    exponential,
    mixture_dummies,
    optimised_dummies,
    planar_geometric,
    quality_loss,
    quality_loss_of_secrets,
    randomised_response,
    restricted_laplace,
    uniform_dummies,
)

from ..reproduction import Made
from .groups import Groups

SWEEP: Final = "distribution-privacy"
"""The table of mechanisms with and without dummies."""
MANY: Final = "many-dummies"
"""The table of restricted Laplace noise among many dummies of the mixture."""
NEIGHBOURS: Final = "neighbours"

DELTA: Final = 1e-3
NEAR: Final = 1e-4
"""The largest gap of the accountant's bounds, in nats."""
DUMMIES: Final = (0, 5, 10, 20, 50, 100)
NONE, UNIFORM, MIXTURE, OPTIMISED = "none", "uniform", "mixture", "optimised"

SLOPES: Final = tuple(0.25 * 2 ** (j / 2) for j in range(13))
"""Parameters of the planar families, per km: 0.25 to 16."""
RADII_KM: Final = (1.0, 2.0, 4.0)
LAPLACE: Final = "planar Laplace"
TUPLED: Final = "restricted Laplace, 2 km"
"""The line that is also measured with optimised dummies."""
RESPONSE: Final = "randomised response"


@dataclass(frozen=True, slots=True, repr=False)
class Line(CompactRepr):
    """A family of mechanisms that is drawn as one line; parameters go from much noise to little."""

    name: str
    build: Callable[[float], Mechanism]
    parameters: tuple[float, ...]


def published_lines(
    places: Places, metric: Metric, *, slopes: Sequence[float] = SLOPES, radii_km: Sequence[float] = RADII_KM
) -> list[Line]:
    """Return the inner mechanisms of the published experiment, and the planar geometric one.

    The planar Laplace mechanism of slope e per km is exp(-e d), each row normalised, as in the paper; its epsilon
    is at most 2 e per km. That of the planar geometric mechanism is e. Gaussian noise of slope e has the mean
    length of planar Laplace noise, 2 / e. Randomised response takes an epsilon.
    """

    def within(radius: float) -> Callable[[float], Mechanism]:
        return lambda e: restricted_laplace(places, metric, e, radius)

    planar = tuple(slopes)
    # The truth is reported with probability 1/2 at ln(n - 1).
    around = (log(len(places) - 1) + step for step in (-5, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3, 4))
    responses = tuple(epsilon for epsilon in around if epsilon > 0)
    return [
        Line(LAPLACE, lambda e: exponential(places, metric, 2 * e), planar),
        Line("planar geometric", lambda e: planar_geometric(places, f"{e!r}/km"), planar),
        Line("planar Gaussian", lambda e: _gaussian(places, e), planar),
        Line(RESPONSE, lambda e: randomised_response(places, e), responses),
        *(Line(f"restricted Laplace, {radius:g} km", within(radius), planar) for radius in radii_km),
    ]


def _gaussian(places: Places, slope: float) -> Mechanism:
    return PlanarGaussian(places, f"{2 / slope / sqrt(pi / 2)!r} km").mechanism()


@dataclass(frozen=True, slots=True, repr=False)
class DistributionRow(CompactRepr):
    """One mechanism, with a number of dummies."""

    groups: str
    mechanism: str
    parameter: float
    dummies: int
    source: str  # of the dummies: none, uniform, mixture or optimised
    epsilon: Bracket  # the least at the study's delta, with proved bounds; inf if there is none
    loss_km: float  # expected distance from a user to the best of the k + 1 answers
    least_gain: float  # share by which the loss falls with dummies, at the visited place of least gain
    attack_success: float  # of the best attacker between two groups of equal size, from above


def sweep(
    groups: Groups,
    lines: Iterable[Line],
    dummies: Sequence[int] = DUMMIES,
    *,
    sources: Sequence[str] = (UNIFORM, MIXTURE),
) -> Iterator[DistributionRow]:
    """Measure every line at all its parameters, with every number and source of dummies.

    Dummies are ``uniform``, of the ``mixture`` (like the groups' reports) or ``optimised`` (searched for, which
    takes seconds for each row). Zero dummies are the inner mechanism by itself. Raises `InputError` if a source is
    unknown.
    """
    if unknown := set(sources) - {UNIFORM, MIXTURE, OPTIMISED}:
        raise InputError(
            f"dummies from {', '.join(sorted(unknown))} are unknown.", "use uniform, mixture, optimised."
        )
    for line in lines:
        for parameter in line.parameters:
            inner = line.build(parameter)
            for k in dummies:
                for source in sources if k else (NONE,):
                    tupling = Tupling(inner, k, dummies_of(groups, inner, source, k))
                    yield measured(groups, tupling, line.name, parameter, source)


def dummies_of(groups: Groups, inner: Mechanism, source: str, count: int) -> Prior:
    """Return the distribution of dummies of a source; only optimised ones depend on their number."""
    if source not in (MIXTURE, OPTIMISED):
        return uniform_dummies(inner)
    mixture = mixture_dummies(inner, groups.distributions)
    if source == MIXTURE:
        return mixture
    family = FamilyAccountant(Tupling(inner, count, mixture), groups.distributions)
    return optimised_dummies(family, delta=DELTA).distribution


def measured(
    groups: Groups, tupling: Tupling, name: str, parameter: float, source: str, delta: float = DELTA
) -> DistributionRow:
    """Return epsilon, loss, gain and attack success of a mechanism with dummies."""
    family = groups.distributions
    visited = groups.everyone.support
    alone = tupling.inner.loss_of_secrets(groups.metric)[visited]
    best = quality_loss_of_secrets(tupling, groups.metric)[visited]
    gains = 1 - np.divide(best, alone, out=np.ones_like(best), where=alone > 0)
    return DistributionRow(
        groups.title,
        name,
        parameter,
        tupling.dummies,
        source,
        FamilyAccountant(tupling, family).epsilon(delta, NEAR).bounds,
        quality_loss(tupling, groups.everyone, groups.metric),
        float(gains.min()) if tupling.dummies else 0.0,
        attack_success(tupling, family[0], family[1]).upper,
    )


def best_within(
    rows: Iterable[DistributionRow], mechanism: str, dummies: int, source: str, loss_km: float
) -> DistributionRow | None:
    """Return the measured row of a line with the least epsilon within a loss; nothing is interpolated."""
    wanted = (mechanism, dummies, source)
    fitting = [
        row for row in rows if (row.mechanism, row.dummies, row.source) == wanted and row.loss_km <= loss_km
    ]
    return min(fitting, key=lambda row: row.epsilon.upper, default=None)


@dataclass(frozen=True, slots=True, repr=False)
class NeighbourRow(CompactRepr):
    """Epsilon at delta 0.001 for the groups and for a person, with dummies of the mixture."""

    slope_per_km: float
    dummies: int
    of_groups: float
    of_cells: float  # for two neighbouring visited cells, the worst of all such pairs


def swept(
    groups: Groups,
    city: Grid,
    name: str,
    slopes: Sequence[float],
    radii_km: Sequence[float],
    dummies: Sequence[int],
    optimised: Sequence[int] = (),
    many: Sequence[int] = (),
) -> Made:
    """Return the measurements of one line; optimised dummies are searched for at every other parameter."""
    lines = published_lines(city, groups.metric, slopes=slopes, radii_km=radii_km)
    line = next(line for line in lines if line.name == name)
    every_other = Line(name, line.build, line.parameters[::2])
    rows = [*sweep(groups, [line], dummies), *sweep(groups, [every_other], optimised, sources=(OPTIMISED,))]
    among_many = sweep(groups, [line], many, sources=(MIXTURE,))
    return {SWEEP: rows, MANY: list(among_many)}


def neighbours(groups: Groups, city: Grid, slopes: Sequence[float], dummies: Sequence[int]) -> Made:
    """Return epsilon for two groups and for two neighbouring visited cells, around planar Laplace noise."""
    d, visited = groups.metric.array, groups.everyone.support
    between = d[np.ix_(visited, visited)]
    pairs = visited[np.argwhere((between > 0) & (between < 1.01 * d[d > 0].min()))]
    rows = []
    for slope in slopes:
        inner = exponential(city, groups.metric, 2 * slope)
        for k in dummies:
            tupling = Tupling(inner, k, mixture_dummies(inner, groups.distributions))
            of_groups = FamilyAccountant(tupling, groups.distributions).epsilon(DELTA, NEAR).bounds.upper
            of_cells = FamilyAccountant.of_points(tupling, pairs).epsilon(DELTA, 1e-3).bounds.upper
            rows.append(NeighbourRow(slope, k, of_groups, of_cells))
    return {NEIGHBOURS: rows}
