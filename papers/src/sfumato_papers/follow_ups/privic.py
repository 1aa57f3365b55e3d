"""PRIVIC: mechanisms of Blahut and Arimoto, collected in rounds, each made for the estimate of the round before.

Distances are counted in cells, and so are slopes and epsilons, as in the code of its authors; earth
mover's distances are in km.

Source: Biswas and Palamidessi, "PRIVIC: A privacy-preserving method for incremental collection of location data",
2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.core import Mechanism, Metric, MetricPrivacy, Prior
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.estimation import Reports, bayesian_updates, incremental, maximum_likelihood
from sfumato.geo import Visits
from sfumato.mechanisms import rate_distortion
from sfumato.proofs import prove_metric_privacy
from sfumato.transport import wasserstein

from ..reproduction import Made
from ..results import columns_of
from .grounds import CityCells, cell_distances

SLOPES: Final = "privic-slopes"
ROUNDS: Final = "privic-rounds"
ESTIMATES: Final = "privic-estimates"
PLACES: Final = "privic-places"

CONVERGED: Final = "converged"
BLAHUT: Final = "Blahut-Arimoto"
NOISE: Final = "Laplace"

ISOLATED: Final = "isolated"
BUSIEST: Final = "busiest"

FIRST: Final = 2.0  # epsilon of the first round's noise, per cell
STEPS: Final = 10  # of Blahut and Arimoto, in the published comparison with noise
UPDATES: Final = 10  # of an estimate
_SHARE: Final = 0.1  # of the check-ins, in each round
_MARGIN: Final = 5  # cells around the map to which noise may report
_NEAR: Final = 2.0  # cells: who is within that is near
_INFORMATION: Final = 1e-6  # bits within which the optimum is found


@dataclass(frozen=True, slots=True, repr=False)
class RateRow(CompactRepr):
    """A mechanism for the true population: after so many steps, or converged; per cell.

    Attributes:
        city: Where the cells are.
        box: The city whose published box they divide; "" for none.
        slope: b of exp(-b d).
        steps: Steps of Blahut and Arimoto, or *converged*.
        epsilon: Its tight epsilon in floating point.
        epsilon_proved: The least epsilon that is proved of its integers, which round small probabilities.
        kept: Whether 2 b is proved of the integers.
        loss: The expected distance, in cells.
    """

    city: str
    box: str
    slope: float
    steps: str
    epsilon: float
    epsilon_proved: float
    kept: bool
    loss: float


@dataclass(frozen=True, slots=True, repr=False)
class RoundRow(CompactRepr):
    """One round of a collection: how far its estimate is from the truth.

    ``drawn_km`` is the distance of the estimate from the places of those who took part in the round alone.
    """

    city: str
    slope: float
    steps: str
    seed: int
    number: int
    users: int
    truth_km: float
    drawn_km: float


@dataclass(frozen=True, slots=True, repr=False)
class EstimateRow(CompactRepr):
    """An estimate from one collection, at equal tight epsilon; steps and updates are a number, or *converged*."""

    city: str
    slope: float
    steps: str
    epsilon: float
    mechanism: str
    seed: int
    updates: str
    truth_km: float


@dataclass(frozen=True, slots=True, repr=False)
class CellNoiseRow(CompactRepr):
    """The noise that a cell gets at equal tight epsilon.

    ``distance`` is the mean distance of the report in cells, ``true`` how often it is the true cell, and ``near``
    the share of the visits that are within two cells.
    """

    city: str
    slope: float
    epsilon: float
    place: str
    near: float
    mechanism: str
    distance: float
    true: float


def stepped(prior: Floats, distance: Metric, slope: float, steps: int) -> Floats:
    """Return p(o|s) after some steps of Blahut and Arimoto from uniform reports, array (n, n).

    q(o) <- sum over s of prior(s) p(o|s);  p(o|s) <- q(o) exp(-b d(s, o)) / sum over o' of the same

    Args:
        prior: Array (n,).
        distance: Between the n cells.
        slope: b, per unit of the distance.
        steps: How many.

    Source:
        Blahut, "Computation of channel capacity and rate-distortion functions", 1972; with 8 steps: PRIVIC.
    """
    decay = np.exp(-slope * distance.array)
    reports = np.full(len(prior), 1 / len(prior))
    for step in range(steps):
        found: Floats = reports * decay
        found /= found.sum(axis=1, keepdims=True)
        if step < steps - 1:
            reports = prior @ found
    return found


def tight(matrix: Floats, distance: Metric) -> float:
    """Return the largest epsilon between two secrets, in floating point; impossible reports do not count.

    Args:
        matrix: p(o|s), array (n, m).
        distance: Between the n secrets.
    """
    logs = np.log(matrix[:, matrix.min(axis=0) > 0])
    return max(
        float((np.abs(logs[s] - logs[s + 1 :]).max(axis=1) / distance.array[s, s + 1 :]).max())
        for s in range(len(logs) - 1)
    )


def sloped(city: str, visits: Visits, slope: float, steps: tuple[int, ...]) -> Made:
    """Make the mechanism of one slope for the true population, and prove its tight epsilon."""
    cells = CityCells.of(visits)
    asked = MetricPrivacy(2 * slope, cells.distance)
    rows = []
    for each in (*steps, None):
        mechanism = _mechanism(cells, cells.prior, slope, each)
        exact = (
            mechanism.matrix if each is None else stepped(cells.prior.probabilities, cells.distance, slope, each)
        )
        proof = prove_metric_privacy(mechanism, asked)
        rows.append(
            RateRow(
                city,
                cells.box,
                slope,
                str(each or CONVERGED),
                tight(exact, cells.distance),
                proof.upper,
                proof.holds,
                mechanism.expected_loss(cells.prior, cells.distance),
            )
        )
    return {SLOPES: [columns_of(row) for row in rows]}


def collected(city: str, visits: Visits, slope: float, steps: int | None, rounds: int, seed: int) -> Made:
    """Collect in rounds: first with noise, then with mechanisms for the last estimate.

    Each round asks as many as a tenth of the check-ins, drawn independently from all of them.

    Args:
        city: What it is called.
        visits: The check-ins.
        slope: Per cell.
        steps: Of Blahut and Arimoto in each round; None until converged.
        rounds: How many rounds.
        seed: Of those who take part, and of their reports.
    """
    cells = CityCells.of(visits)
    users = round(_SHARE * len(visits))
    rng = np.random.default_rng(seed)
    took_part: list[NDArray[np.intp]] = []

    def collect(mechanism: Mechanism, _: int) -> Reports:
        took_part.append(rng.choice(len(cells.prior), size=users, p=cells.prior.probabilities))
        return _reports(mechanism, took_part[-1], rng)

    first = Mechanism(_noise(FIRST, cells.shape, 0), cells.city, cells.city)
    done = incremental(
        collect,
        first,
        lambda estimate: _mechanism(cells, estimate, slope, steps),
        rounds,
        iterations=UPDATES,
        pooled=False,
    )
    km = cells.city.metric("euclidean", unit="km")
    rows = []
    for number, (each, people) in enumerate(zip(done, took_part, strict=True), 1):
        estimate = each.estimate.prior
        drawn = Prior.from_counts(cells.city, np.bincount(people, minlength=len(cells.prior)))
        rows.append(
            RoundRow(
                city,
                slope,
                str(steps or CONVERGED),
                seed,
                number,
                users,
                wasserstein(cells.prior, estimate, km).distance.value,
                wasserstein(drawn, estimate, km).distance.value,
            )
        )
    return {ROUNDS: [columns_of(row) for row in rows]}


def compared(city: str, visits: Visits, slope: float, seeds: int) -> Made:
    """Compare the mechanism of a slope with noise of the same tight epsilon: estimates, and noise by place."""
    cells = CityCells.of(visits)
    asked = MetricPrivacy(2 * slope, cells.distance)
    km = cells.city.metric("euclidean", unit="km")
    estimates: list[EstimateRow] = []
    places: list[CellNoiseRow] = []
    for steps in (STEPS, None):
        best = _mechanism(cells, cells.prior, slope, steps)
        epsilon = prove_metric_privacy(best, asked).upper
        noise = Mechanism(_noise(epsilon, cells.shape, _MARGIN), cells.city)
        for seed in range(1, seeds + 1):
            for number, (name, mechanism) in enumerate(((BLAHUT, best), (NOISE, noise))):
                rng = np.random.default_rng([seed, number])
                people = rng.choice(len(cells.prior), size=len(visits), p=cells.prior.probabilities)
                reports = _reports(mechanism, people, rng)
                for updates, found in (
                    (str(UPDATES), bayesian_updates(reports, UPDATES)),
                    (CONVERGED, maximum_likelihood(reports)),
                ):
                    apart = wasserstein(cells.prior, found.prior, km).distance.value
                    made = str(steps or CONVERGED)
                    estimates.append(EstimateRow(city, slope, made, epsilon, name, seed, updates, apart))
        if steps is None:
            places = _places(city, cells, slope, epsilon, best, noise)
    return {
        ESTIMATES: [columns_of(row) for row in estimates],
        PLACES: [columns_of(row) for row in places],
    }


def _places(
    city: str, cells: CityCells, slope: float, epsilon: float, best: Mechanism, noise: Mechanism
) -> list[CellNoiseRow]:
    """Return the noise of the visited cell with fewest visits near it, and of the most visited cell."""
    near = (cells.distance.array <= _NEAR) @ cells.prior.probabilities
    visited = cells.prior.support
    wide = cell_distances(cells.shape, _MARGIN)
    rows = []
    for place, cell in (
        (ISOLATED, int(visited[np.argmin(near[visited])])),
        (BUSIEST, int(np.argmax(cells.prior.probabilities))),
    ):
        for name, mechanism, distance in ((BLAHUT, best, cells.distance.array), (NOISE, noise, wide)):
            row = mechanism.matrix[cell]
            mean = float(row @ distance[cell])
            true = float(row[distance[cell] == 0].sum())
            rows.append(CellNoiseRow(city, slope, epsilon, place, float(near[cell]), name, mean, true))
    return rows


def _mechanism(cells: CityCells, prior: Prior, slope: float, steps: int | None) -> Mechanism:
    """Return the mechanism for a population, after some steps or converged."""
    if steps is None:
        return rate_distortion(prior, cells.distance, slope, tolerance_bits=_INFORMATION).mechanism
    return Mechanism(stepped(prior.probabilities, cells.distance, slope, steps), cells.city, cells.city)


def _noise(epsilon: float, shape: tuple[int, int], margin: int) -> Floats:
    """Return exp(-epsilon d), normalised in each row, with reports to so many cells around the map, too."""
    found: Floats = np.exp(-epsilon * cell_distances(shape, margin))
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


def _reports(mechanism: Mechanism, people: NDArray[np.intp], rng: np.random.Generator) -> Reports:
    """Return the reports of people at cells, drawn for a study."""
    counts = np.bincount(people, minlength=mechanism.shape[0])
    matrix = mechanism.matrix / mechanism.matrix.sum(axis=1, keepdims=True)
    return Reports(mechanism, rng.multinomial(counts, matrix).sum(axis=0))
