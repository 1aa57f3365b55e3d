"""Privacy and loss of mechanisms with and without dummies, each proved for two groups: sweeps, bounds, plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, log, pi, sqrt
from typing import Final

import numpy as np

from sfumato.core import Bracket, Mechanism, Metric, Prior
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InfeasibleError, InputError
from sfumato.geo import Grid, Places
from sfumato.mechanisms import (
    FamilyAccountant,
    PlanarGaussian,
    Tupling,
    attack_success,
    exponential,
    mass_above,
    mixture_dummies,
    optimised_dummies,
    plan_dummies,
    planar_geometric,
    published_for_delta,
    quality_loss,
    quality_loss_of_secrets,
    randomised_response,
    restricted_laplace,
    uniform_dummies,
)

from ..reproduction import Tables
from .groups import Groups

DELTA: Final = 1e-3
NEAR: Final = 1e-4  # of the accountant's bounds: the largest gap, in nats
DUMMIES: Final = (0, 5, 10, 20, 50, 100)
NONE, UNIFORM, MIXTURE, OPTIMISED = "none", "uniform", "mixture", "optimised"

SLOPES: Final = tuple(0.25 * 2 ** (j / 2) for j in range(13))  # per km, of the planar families: 0.25 to 16
RADII_KM: Final = (1.0, 2.0, 4.0)
LAPLACE: Final = "planar Laplace"
TUPLED: Final = "restricted Laplace, 2 km"  # also measured with optimised dummies
RESPONSE: Final = "randomised response"
EVERYWHERE: Final = inf  # the radius of noise that is not restricted
_SMALL: Final = Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])


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
    planar = tuple(slopes)
    # The truth is reported with probability 1/2 at ln(n - 1).
    around = (log(len(places) - 1) + step for step in (-5, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3, 4))
    responses = tuple(epsilon for epsilon in around if epsilon > 0)
    return [
        Line(LAPLACE, partial(noise, places, metric, radius=EVERYWHERE), planar),
        Line("planar geometric", lambda e: planar_geometric(places, f"{e!r}/km"), planar),
        Line(
            "planar Gaussian", lambda e: PlanarGaussian(places, f"{2 / e / sqrt(pi / 2)!r} km").mechanism(), planar
        ),
        Line(RESPONSE, lambda e: randomised_response(places, e), responses),
        *(
            Line(f"restricted Laplace, {radius:g} km", partial(noise, places, metric, radius=radius), planar)
            for radius in radii_km
        ),
    ]


def noise(places: Places, metric: Metric, slope: float, radius: float = 2.0) -> Mechanism:
    """Return Laplace noise restricted to a radius in km, or everywhere."""
    if radius == EVERYWHERE:
        return exponential(places, metric, 2 * slope)
    return restricted_laplace(places, metric, slope, radius)


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
                    yield measure_tupling(groups, tupling, line.name, parameter, source)


def dummies_of(groups: Groups, inner: Mechanism, source: str, count: int) -> Prior:
    """Return the distribution of dummies of a source; only optimised ones depend on their number."""
    if source not in (MIXTURE, OPTIMISED):
        return uniform_dummies(inner)
    mixture = mixture_dummies(inner, groups.distributions)
    if source == MIXTURE:
        return mixture
    family = FamilyAccountant(Tupling(inner, count, mixture), groups.distributions)
    return optimised_dummies(family, delta=DELTA).distribution


def measure_tupling(
    groups: Groups, tupling: Tupling, name: str, parameter: float, source: str, delta: float = DELTA
) -> DistributionRow:
    """Return epsilon, loss, gain and attack success of a mechanism with dummies."""
    family = groups.distributions
    visited = groups.population.support
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
        quality_loss(tupling, groups.population, groups.metric),
        float(gains.min()) if tupling.dummies else 0.0,
        attack_success(tupling, family[0], family[1]).upper,
    )


@dataclass(frozen=True, slots=True, repr=False)
class NeighbourRow(CompactRepr):
    """Epsilon at delta 0.001 for the groups and for a person, with dummies of the mixture."""

    slope_per_km: float
    dummies: int
    of_groups: float
    of_cells: float  # for two neighbouring visited cells, the worst of all such pairs


def run_line(
    groups: Groups,
    city: Grid,
    name: str,
    slopes: Sequence[float],
    radii_km: Sequence[float],
    dummies: Sequence[int],
    optimised: Sequence[int] = (),
    many: Sequence[int] = (),
) -> Tables:
    """Return the measurements of one line; optimised dummies are searched for at every other parameter."""
    lines = published_lines(city, groups.metric, slopes=slopes, radii_km=radii_km)
    line = next(line for line in lines if line.name == name)
    every_other = Line(name, line.build, line.parameters[::2])
    rows = [*sweep(groups, [line], dummies), *sweep(groups, [every_other], optimised, sources=(OPTIMISED,))]
    among_many = sweep(groups, [line], many, sources=(MIXTURE,))
    return {"distribution-privacy": rows, "many-dummies": list(among_many)}


def neighbours(groups: Groups, city: Grid, slopes: Sequence[float], dummies: Sequence[int]) -> Tables:
    """Return epsilon for two groups and for two neighbouring visited cells, around planar Laplace noise."""
    d, visited = groups.metric.array, groups.population.support
    between = d[np.ix_(visited, visited)]
    pairs = visited[np.argwhere((between > 0) & (between < 1.01 * d[d > 0].min()))]
    rows = []
    for slope in slopes:
        inner = noise(city, groups.metric, slope, EVERYWHERE)
        for k in dummies:
            tupling = Tupling(inner, k, mixture_dummies(inner, groups.distributions))
            of_groups = FamilyAccountant(tupling, groups.distributions).epsilon(DELTA, NEAR).bounds.upper
            of_cells = FamilyAccountant.of_points(tupling, pairs).epsilon(DELTA, 1e-3).bounds.upper
            rows.append(NeighbourRow(slope, k, of_groups, of_cells))
    return {"neighbours": rows}


@dataclass(frozen=True, slots=True, repr=False)
class TuplingRow(CompactRepr):
    """Restricted Laplace noise among 10 dummies."""

    varied: str  # the one of r and epsilon_A that this row is about
    radius_km: float
    slope_per_km: float
    source: str
    epsilon: Bracket  # the least at delta 0.001, with proved bounds
    loss_km: float  # expected distance to the best of the k + 1 answers


@dataclass(frozen=True, slots=True, repr=False)
class BoundRow(CompactRepr):
    """The paper's bound at delta 0.001 of a tuple with uniform dummies, and the exact value."""

    instance: str
    dummies: int
    epsilon: Bracket  # the exact value; without upper bound where it was not computed
    published: float | None  # at its best alpha and beta; None where no alpha gives this delta


@dataclass(frozen=True, slots=True, repr=False)
class FewestRow(CompactRepr):
    """The fewest dummies for an epsilon at delta 0.001."""

    slope_per_km: float
    epsilon_asked: float
    dummies: int | None  # None where 20,000 are not enough
    proved_fewest: bool
    loss_km: float | None  # expected distance to the best answer


def vary_noise(groups: Groups, city: Grid, radii_km: Sequence[float], slopes: Sequence[float]) -> Tables:
    """Return epsilon where the radius or the epsilon of the noise varies, the other being 2 km or 1/km."""
    varied = [("r", radius, 1.0) for radius in radii_km] + [("epsilon_A", 2.0, slope) for slope in slopes]
    rows = []
    for name, radius, slope in varied:
        inner = noise(city, groups.metric, slope, radius)
        for source in (UNIFORM, MIXTURE):
            tupling = Tupling(inner, 10, dummies_of(groups, inner, source, 10))
            epsilon = FamilyAccountant(tupling, groups.distributions).epsilon(DELTA, NEAR).bounds
            loss = quality_loss(tupling, groups.population, groups.metric)
            rows.append(TuplingRow(name, radius, slope, source, epsilon, loss))
    return {"tupling": rows}


def bounds(groups: Groups, city: Grid, exact: Sequence[int], more: Sequence[int]) -> Tables:
    """Return the paper's bound and exact values, for four reports and for the groups; the bound alone for more."""
    rows = []
    for instance, inner, family in (
        ("four reports", _SMALL, np.eye(2)),
        (groups.title, noise(city, groups.metric, 1.0), groups.distributions),
    ):
        for k in (*exact, *more):
            account = FamilyAccountant(Tupling(inner, k, uniform_dummies(inner)), family)
            epsilon = account.epsilon(DELTA, NEAR).bounds if k in exact else Bracket(0.0, inf, inf)
            rows.append(BoundRow(instance, k, epsilon, _published_bound(inner, family, k)))
    return {"bounds": rows}


def _published_bound(inner: Mechanism, family: Floats, dummies: int) -> float | None:
    """Return the least epsilon of the corrected bound over beta, each probability of a report."""
    laws = inner.lift(family)
    m = laws.shape[1]
    epsilons = []
    for beta in np.unique(np.quantile(laws, np.linspace(0.9, 1.0, 41), method="higher")):
        above = float(beta) * (1 + 1e-9)
        kappa = mass_above(inner, family, min(1.0, above))
        if kappa < 1 and above >= (1 - kappa) / m:
            bound = published_for_delta(dummies, m, min(1.0, above), DELTA, kappa)
            if bound is not None:
                epsilons.append(bound.epsilon)
    return min(epsilons, default=None)


def fewest(groups: Groups, city: Grid, slopes: Sequence[float], epsilons: Sequence[float]) -> Tables:
    """Return the fewest dummies for each epsilon at delta 0.001, over restricted Laplace noise within 2 km."""
    rows, prior = [], groups.population
    for slope in slopes:
        inner = noise(city, groups.metric, slope)
        tupling = Tupling(inner, 1, mixture_dummies(inner, groups.distributions))
        family = FamilyAccountant(tupling, groups.distributions)
        for epsilon in epsilons:
            try:
                plan = plan_dummies(family, epsilon, DELTA, most=20_000, prior=prior, loss=groups.metric.array)
            except InfeasibleError:
                rows.append(FewestRow(slope, epsilon, None, False, None))
            else:
                rows.append(FewestRow(slope, epsilon, plan.dummies, plan.fewest, plan.loss))
    return {"fewest": rows}
