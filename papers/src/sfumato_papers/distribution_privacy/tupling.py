"""Tupling: epsilon against the radius and the noise, the bound of the paper, and the fewest dummies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core import Bracket, Mechanism
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InfeasibleError
from sfumato.geo import Grid
from sfumato.mechanisms import (
    FamilyAccountant,
    Tupling,
    exponential,
    mass_above,
    mixture_dummies,
    plan_dummies,
    published_for_delta,
    quality_loss,
    restricted_laplace,
    uniform_dummies,
)

from ..reproduction import Made
from .groups import Groups
from .measurements import DELTA, MIXTURE, NEAR, UNIFORM, dummies_of

TUPLING: Final = "tupling"
BOUNDS: Final = "bounds"
FEWEST: Final = "fewest"

EVERYWHERE: Final = math.inf
"""The radius of noise that is not restricted."""
RADIUS_KM: Final = 2.0
_SMALL: Final = (np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4]))


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


def tupled(groups: Groups, city: Grid, radii_km: Sequence[float], slopes: Sequence[float]) -> Made:
    """Return epsilon where the radius or the epsilon of the noise varies, the other being 2 km or 1/km."""
    varied = [("r", radius, 1.0) for radius in radii_km] + [("epsilon_A", RADIUS_KM, slope) for slope in slopes]
    rows = []
    for name, radius, slope in varied:
        inner = noise(groups, city, slope, radius)
        for source in (UNIFORM, MIXTURE):
            tupling = Tupling(inner, 10, dummies_of(groups, inner, source, 10))
            epsilon = FamilyAccountant(tupling, groups.distributions).epsilon(DELTA, NEAR).bounds
            loss = quality_loss(tupling, groups.everyone, groups.metric)
            rows.append(TuplingRow(name, radius, slope, source, epsilon, loss))
    return {TUPLING: rows}


def noise(groups: Groups, city: Grid, slope: float, radius: float = RADIUS_KM) -> Mechanism:
    """Return Laplace noise restricted to a radius, or everywhere."""
    if radius == EVERYWHERE:
        return exponential(city, groups.metric, 2 * slope)
    return restricted_laplace(city, groups.metric, slope, radius)


def bounds(groups: Groups, city: Grid, exact: Sequence[int], more: Sequence[int]) -> Made:
    """Return the paper's bound and exact values, for four reports and for the groups; the bound alone for more."""
    rows = []
    for instance, inner, family in (
        ("four reports", Mechanism(np.array(_SMALL)), np.eye(2)),
        (groups.title, noise(groups, city, 1.0), groups.distributions),
    ):
        for k in (*exact, *more):
            account = FamilyAccountant(Tupling(inner, k, uniform_dummies(inner)), family)
            epsilon = account.epsilon(DELTA, NEAR).bounds if k in exact else Bracket(0.0, math.inf, math.inf)
            rows.append(BoundRow(instance, k, epsilon, _published(inner, family, k)))
    return {BOUNDS: rows}


def _published(inner: Mechanism, family: Floats, dummies: int) -> float | None:
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


def fewest(groups: Groups, city: Grid, slopes: Sequence[float], epsilons: Sequence[float]) -> Made:
    """Return the fewest dummies for each epsilon at delta 0.001, over restricted Laplace noise within 2 km."""
    rows = []
    for slope in slopes:
        inner = noise(groups, city, slope)
        tupling = Tupling(inner, 1, mixture_dummies(inner, groups.distributions))
        family = FamilyAccountant(tupling, groups.distributions)
        for epsilon in epsilons:
            try:
                plan = plan_dummies(
                    family, epsilon, DELTA, most=20_000, prior=groups.everyone, loss=groups.metric.array
                )
            except InfeasibleError:
                rows.append(FewestRow(slope, epsilon, None, False, None))
            else:
                rows.append(FewestRow(slope, epsilon, plan.dummies, plan.fewest, plan.loss))
    return {FEWEST: rows}
