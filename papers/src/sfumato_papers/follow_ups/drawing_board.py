"""Back to the drawing board: mechanisms by loss and conditional entropy on the most visited spots of a city.

Source: Oya, Troncoso and Pérez-González, "Back to the drawing board: revisiting the design of optimal location
privacy-preserving mechanisms", CCS 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.attacks import blind, optimal
from sfumato.core import Prior, Space
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InfeasibleError
from sfumato.leakage import conditional_entropy_bits
from sfumato.mechanisms import coin_of_distortion, exponential, rate_distortion, rate_distortion_of_loss
from sfumato.optimal import Clarabel, Highs, maximise_distortion

from ..reproduction import Made
from ..results import columns_of
from .grounds import VisitedPlaces
from .measure import of_mechanism, of_noise
from .published import CIRCLE, COIN, COIN_KM, EXPONENTIAL, EXPOST, GAUSSIAN, LAPLACE

CITIES: Final = "board-cities"
BOARD: Final = "board"
LIMITED: Final = "board-limited"
TOWN: Final = "board-town"

SIMPLEX: Final = "simplex"
INTERIOR: Final = "interior point"

_LARGEST_KM: Final = 1.5  # the published limit of the worst loss
_INFORMATION: Final = 1e-6  # bits within which ExPost is found
_SIDE: Final = 5  # cells of the small town, along each side


@dataclass(frozen=True, slots=True, repr=False)
class CityRow(CompactRepr):
    """The spots of a city: the published box of its visits, how many, their entropy, and the blind error."""

    city: str
    box: str
    spots: int
    prior_bits: float
    blind_km: float


@dataclass(frozen=True, slots=True, repr=False)
class LimitedRow(CompactRepr):
    """ExPost with a limit on the worst loss, and ExPost of the same expected loss.

    ``largest_km`` is the largest distance from a spot to a report that it makes.
    """

    city: str
    level_km: float
    limit_km: float
    largest_km: float
    loss_km: float
    entropy_bits: float
    unlimited_bits: float


@dataclass(frozen=True, slots=True, repr=False)
class TownRow(CompactRepr):
    """A mechanism on 5 x 5 unit cells, all equally likely: expected loss, error of the best attacker, entropy."""

    mechanism: str
    loss_asked: float
    loss: float
    error: float
    entropy_bits: float


def described(ground: VisitedPlaces, box: str = "") -> Made:
    """Return the size of a city, and the coin at several losses.

    Args:
        ground: The spots.
        box: The city of the published box of its visits; "" for none.
    """
    prior = ground.prior
    metric = prior.space.metric("euclidean", unit="km")
    most = blind(prior, metric).error
    coins = [
        of_mechanism(ground.name, COIN, None, coin_of_distortion(prior, metric, target), prior, metric)
        for target in COIN_KM
        if target < most
    ]
    row = CityRow(ground.name, box, len(prior), prior.entropy_bits, most)
    return {CITIES: [columns_of(row)], BOARD: [columns_of(each) for each in coins]}


def measured(ground: VisitedPlaces, level_km: float, seeds: int, samples: int) -> Made:
    """Measure ExPost, exponential, Laplace, Gaussian and circle at one level.

    Reports of ExPost (least information, slope epsilon) and of the exponential mechanism (exp(-epsilon d),
    normalised) are spots; all are summed. The other three add noise in the plane, without borders: reports are
    simulated, and the exact posterior of each is measured. All three have the same mean length, 2 / epsilon.

    Args:
        ground: The spots.
        level_km: The level, 2 / epsilon.
        seeds: How many simulations.
        samples: The reports of each.
    """
    prior = ground.prior
    metric = prior.space.metric("euclidean", unit="km")
    rate = 2 / level_km
    expost = rate_distortion(prior, metric, rate, tolerance_bits=_INFORMATION).mechanism
    # The package's exponential mechanism promises twice its slope.
    plain = exponential(prior.space, metric, 2 * rate)
    rows = [
        of_mechanism(ground.name, name, level_km, each, prior, metric)
        for name, each in ((EXPOST, expost), (EXPONENTIAL, plain))
    ]
    rows += [
        of_noise(ground.name, name, level_km, prior, metric, samples=samples, seed=seed)
        for name in (LAPLACE, GAUSSIAN, CIRCLE)
        for seed in range(1, seeds + 1)
    ]
    return {BOARD: [columns_of(each) for each in rows]}


def finer(ground: VisitedPlaces, levels_km: tuple[float, ...]) -> Made:
    """Measure ExPost at more levels, so that its entropy is known at the losses of others."""
    prior = ground.prior
    metric = prior.space.metric("euclidean", unit="km")
    rows = []
    for level in levels_km:
        found = rate_distortion(prior, metric, 2 / level, tolerance_bits=_INFORMATION).mechanism
        rows.append(of_mechanism(ground.name, EXPOST, level, found, prior, metric))
    return {BOARD: [columns_of(each) for each in rows]}


def limited(ground: VisitedPlaces, level_km: float) -> Made:
    """Limit the worst loss of ExPost, and compare with ExPost of the same expected loss.

    Args:
        ground: The spots.
        level_km: The level, 2 / epsilon.
    """
    prior = ground.prior
    metric = prior.space.metric("euclidean", unit="km")
    held = rate_distortion(prior, metric, 2 / level_km, largest_loss=_LARGEST_KM, tolerance_bits=_INFORMATION)
    made = held.mechanism.matrix[prior.support] > 0
    try:
        free = rate_distortion_of_loss(prior, metric, held.loss)
    except InfeasibleError:  # a report that tells nothing loses no more
        return {LIMITED: []}
    row = LimitedRow(
        ground.name,
        level_km,
        _LARGEST_KM,
        float(metric.array[prior.support][made].max()),
        held.loss,
        conditional_entropy_bits(held.mechanism, prior),
        conditional_entropy_bits(free.mechanism, prior),
    )
    return {LIMITED: [columns_of(row)]}


def town(levels: int) -> Made:
    """Compare optima of one program on a small town: of the simplex method, an interior point, ExPost, the coin.

    Args:
        levels: How many losses up to the error without a report.
    """
    index = np.arange(_SIDE * _SIDE)
    space = Space(index, np.column_stack([index % _SIDE, index // _SIDE]).astype(np.float64), "")
    prior, metric = Prior.uniform(space), space.metric("euclidean")
    most = blind(prior, metric).error
    rows = []
    for step in range(1, levels + 1):
        asked = most * step / (levels + 1)
        found = {
            name: maximise_distortion(prior, loss=metric, max_loss=asked, solver=solver).mechanism
            for name, solver in ((SIMPLEX, Highs("simplex")), (INTERIOR, Clarabel()))
        }
        found[EXPOST] = rate_distortion_of_loss(prior, metric, asked).mechanism
        found[COIN] = coin_of_distortion(prior, metric, asked)
        for name, mechanism in found.items():
            rows.append(
                TownRow(
                    name,
                    asked,
                    mechanism.expected_loss(prior, metric),
                    optimal(mechanism, prior, metric).error,
                    conditional_entropy_bits(mechanism, prior),
                )
            )
    return {TOWN: [columns_of(each) for each in rows]}
