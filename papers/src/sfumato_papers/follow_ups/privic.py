"""PRIVIC: mechanisms of Blahut and Arimoto, collected in rounds, each made for the estimate of the round before.

Distances are counted in cells, and so are slopes and epsilons, as in the code of its authors; earth
mover's distances are in km.

Source: Biswas and Palamidessi, "PRIVIC: A privacy-preserving method for incremental collection of location data",
2023.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.core import Bracket, Mechanism, Metric, MetricPrivacy, Prior
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.estimation import Reports, bayesian_updates, incremental, maximum_likelihood
from sfumato.geo import Visits
from sfumato.mechanisms import rate_distortion
from sfumato.proofs import prove_metric_privacy
from sfumato.rounding import about, percent
from sfumato.transport import wasserstein

from ..reproduction import PaperClaim, RunTables, Tables, abstain, follows, illustrates, interval, judge, remark
from ..results import distinct, where
from .regions import BOXES, SAN_FRANCISCO, CityCells, PublishedBox, cell_distances, pair_epsilons

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

PRIVIC_EPSILONS: Final[Mapping[str, Mapping[float, float]]] = MappingProxyType(
    {
        "Paris": {0.2: 0.3928, 0.4: 0.7814, 1.0: 1.9202, 2.0: 3.9462, 3.0: 5.9678, 5.0: 9.7194},
        "San Francisco": {0.2: 0.3987, 0.4: 0.7884, 1.0: 1.9816, 2.0: 3.9866, 3.0: 5.9938, 5.0: 9.9958},
    }
)
"""Tight epsilons that PRIVIC's code lists, by city and slope; both per cell."""

_ABSTRACT: Final = "PRIVIC, abstract"
_ROUNDING: Final = 1e-9  # of an epsilon, for logarithms in floats
_STRONGEST: Final = 0.2  # the least slope of the authors' code


@dataclass(frozen=True, slots=True, repr=False)
class RateRow(CompactRepr):
    """A mechanism for the true population: after so many steps, or converged; per cell."""

    city: str
    box: str  # city whose published box the cells divide; "" for none
    slope: float  # b of exp(-b d)
    steps: str  # a number, or converged
    epsilon: float  # tight epsilon in floating point
    epsilon_proved: float  # least epsilon proved of the integers, which round small probabilities
    kept: bool  # whether 2 b is proved of the integers
    loss: float  # expected distance in cells


@dataclass(frozen=True, slots=True, repr=False)
class RoundRow(CompactRepr):
    """One round of a collection: how far its estimate is from the truth."""

    city: str
    slope: float
    steps: str
    seed: int
    number: int
    users: int
    truth_km: float


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
    """The noise that a cell gets at equal tight epsilon."""

    city: str
    slope: float
    epsilon: float
    place: str
    near: float  # share of the visits within two cells
    mechanism: str
    distance: float  # mean distance of the report in cells
    true: float  # how often the report is the true cell


def run_blahut(prior: Floats, distance: Metric, slope: float, steps: int) -> Floats:
    """Return p(o|s) after some steps of Blahut and Arimoto from uniform reports, array (n, n).

    q(o) <- sum over s of prior(s) p(o|s);  p(o|s) <- q(o) exp(-b d(s, o)) / sum over o' of the same
    """
    decay = np.exp(-slope * distance.array)
    reports = np.full(len(prior), 1 / len(prior))
    for step in range(steps):
        matrix: Floats = reports * decay
        matrix /= matrix.sum(axis=1, keepdims=True)
        if step < steps - 1:
            reports = prior @ matrix
    return matrix


def solve_slope(city: str, visits: Visits, slope: float, steps: tuple[int, ...]) -> Tables:
    """Make the mechanism of one slope for the true population, and prove its tight epsilon."""
    cells = CityCells.of(visits)
    privacy = MetricPrivacy(2 * slope, cells.distance)
    rows = []
    for count in (*steps, None):
        mechanism = _mechanism(cells, cells.prior, slope, count)
        exact = run_blahut(cells.prior.probabilities, cells.distance, slope, count) if count else mechanism.matrix
        proof = prove_metric_privacy(mechanism, privacy)
        possible = exact[:, exact.min(axis=0) > 0]  # impossible reports do not count
        tight = float(pair_epsilons(possible, cells.distance.array).max())
        epsilons = (tight, proof.upper, proof.holds)
        loss = mechanism.expected_loss(cells.prior, cells.distance)
        rows.append(RateRow(city, cells.box, slope, str(count or CONVERGED), *epsilons, loss))
    return {SLOPES: rows}


def run_rounds(city: str, visits: Visits, slope: float, steps: int | None, rounds: int, seed: int) -> Tables:
    """Collect in rounds: first with noise, then with mechanisms for the last estimate."""
    cells = CityCells.of(visits)
    users = round(_SHARE * len(visits))
    rng = np.random.default_rng(seed)

    def collect(mechanism: Mechanism, _: int) -> Reports:
        return _reports(mechanism, rng.choice(len(cells.prior), size=users, p=cells.prior.probabilities), rng)

    first = Mechanism(_noise(FIRST, cells.shape, 0), cells.city, cells.city)
    again = partial(_mechanism, cells, slope=slope, steps=steps)
    history = incremental(collect, first, again, rounds, iterations=UPDATES, pooled=False)
    km = cells.city.metric("euclidean", unit="km")
    rows = []
    for number, stage in enumerate(history, 1):
        apart = wasserstein(cells.prior, stage.estimate.prior, km).distance.value
        rows.append(RoundRow(city, slope, str(steps or CONVERGED), seed, number, users, apart))
    return {ROUNDS: rows}


def compare_noise(city: str, visits: Visits, slope: float, seeds: int) -> Tables:
    """Compare the mechanism of a slope with noise of the same tight epsilon: estimates, and noise by place."""
    cells = CityCells.of(visits)
    privacy = MetricPrivacy(2 * slope, cells.distance)
    km = cells.city.metric("euclidean", unit="km")
    estimates: list[EstimateRow] = []
    places: list[CellNoiseRow] = []
    for steps in (STEPS, None):
        best = _mechanism(cells, cells.prior, slope, steps)
        epsilon = prove_metric_privacy(best, privacy).upper
        noise = Mechanism(_noise(epsilon, cells.shape, _MARGIN), cells.city)
        for seed in range(1, seeds + 1):
            for number, (name, mechanism) in enumerate(((BLAHUT, best), (NOISE, noise))):
                rng = np.random.default_rng([seed, number])
                people = rng.choice(len(cells.prior), size=len(visits), p=cells.prior.probabilities)
                reports = _reports(mechanism, people, rng)
                for updates, estimate in (
                    (str(UPDATES), bayesian_updates(reports, UPDATES)),
                    (CONVERGED, maximum_likelihood(reports)),
                ):
                    apart = wasserstein(cells.prior, estimate.prior, km).distance.value
                    label = str(steps or CONVERGED)
                    estimates.append(EstimateRow(city, slope, label, epsilon, name, seed, updates, apart))
        if steps is None:
            places = _places(city, cells, slope, epsilon, best, noise)
    return {ESTIMATES: estimates, PLACES: places}


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
    return Mechanism(run_blahut(prior.probabilities, cells.distance, slope, steps), cells.city, cells.city)


def _noise(epsilon: float, shape: tuple[int, int], margin: int) -> Floats:
    """Return exp(-epsilon d), normalised in each row, with reports to so many cells around the map, too."""
    weights: Floats = np.exp(-epsilon * cell_distances(shape, margin))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _reports(mechanism: Mechanism, people: NDArray[np.intp], rng: np.random.Generator) -> Reports:
    """Return the reports of people at cells, drawn for a study."""
    counts = np.bincount(people, minlength=mechanism.shape[0])
    matrix = mechanism.matrix / mechanism.matrix.sum(axis=1, keepdims=True)
    return Reports(mechanism, rng.multinomial(counts, matrix).sum(axis=0))


def rounds_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims of PRIVIC, judged."""
    slopes, estimates = tables.rows(SLOPES, RateRow), tables.rows(ESTIMATES, EstimateRow)
    boxes = {row.city: row.box for row in slopes}
    places = tables.rows(PLACES, CellNoiseRow)
    by = {(row.city, row.slope, row.place, row.mechanism): row.distance for row in places}
    cases = list(dict.fromkeys((row.city, row.slope) for row in places))
    more = sum(by[*case, ISOLATED, BLAHUT] > by[*case, ISOLATED, NOISE] for case in cases)
    (city, slope), kinds = cases[-1], ((ISOLATED, BLAHUT), (ISOLATED, NOISE), (BUSIEST, BLAHUT))
    alone, noise, busy = (about(by[city, slope, *kind], 3) for kind in kinds)
    return [
        _promise(slopes),
        *(_tight(where(slopes, box=box.city), box) for box in BOXES),
        illustrates(
            _ABSTRACT,
            "The mechanism of Blahut and Arimoto mitigates the problem of isolation.",
            more == len(cases),
            "The visited cell with fewest visits within two cells gets more noise than from Laplace noise of "
            f"equal tight epsilon in {more} of {len(cases)} cases. In {city} (b {slope:g}) this cell gets {alone} "
            f"cells of noise on average, Laplace noise {noise}; the most visited cell gets {busy}.",
            quote="enforces an elastic metric that mitigates the problem of isolation",
        ),
        _rounds(tables.rows(ROUNDS, RoundRow)),
        *(_estimates([row for row in estimates if boxes[row.city] == box.city], box) for box in BOXES),
        _estimates_at_best(estimates),
    ]


def _steps(name: str) -> str:
    return name if name == CONVERGED else f"{name} steps"


def _promise(rows: Sequence[RateRow]) -> PaperClaim:
    beyond = [row for row in rows if row.epsilon > 2 * row.slope * (1 + _ROUNDING)]
    loose, tight = (pick(rows, key=lambda row: row.epsilon / row.slope) for pick in (min, max))
    rounded = [row for row in rows if not row.kept]
    words = (
        f"So for {len(rows) - len(beyond)} of {len(rows)} mechanisms in floats, after any number of steps. The "
        f"tight epsilon is {percent(loose.epsilon / (2 * loose.slope))} (b {loose.slope:g}, "
        f"{_steps(loose.steps)}, {loose.city}) to {percent(tight.epsilon / (2 * tight.slope))} of 2 b. Proved of "
        f"the integers for {len(rows) - len(rounded)}."
    )
    if rounded:
        worst = max(rounded, key=lambda row: row.epsilon_proved / row.slope)
        words += (
            f" The others exceed it by up to {percent(worst.epsilon_proved / (2 * worst.slope) - 1)} (b "
            f"{worst.slope:g}, {_steps(worst.steps)}, {worst.city}): there the smallest probabilities are few "
            "grains."
        )
    return follows(
        "PRIVIC, section not known",
        "A mechanism of Blahut and Arimoto with slope b has metric privacy at 2 b.",
        not beyond,
        words,
    )


def _tight(rows: Sequence[RateRow], box: PublishedBox) -> PaperClaim:
    place = f"PRIVIC, code, {box.city}"
    says = f"In {box.city} the authors list a tight epsilon for each slope b, below 2 b."
    quote = f"#Empirical tight epsilon for {'SF' if box is SAN_FRANCISCO else box.city}"
    if not rows:
        return abstain(place, says, box.request, quote=quote)
    published = PRIVIC_EPSILONS[box.city]
    words = []
    for slope in sorted(distinct(rows, "slope")):
        epsilons = ", ".join(f"{about(row.epsilon, 4)} ({_steps(row.steps)})" for row in where(rows, slope=slope))
        words.append(f"b {slope:g}: listed {published[slope]:g}, here {epsilons}.")
    return illustrates(
        place,
        says,
        all(row.epsilon < 2 * row.slope for row in rows),
        f"{' '.join(words)} All are per cell; the visits of this run are not exactly those of the authors.",
        quote=quote,
    )


def _mean(rows: Iterable[RoundRow | EstimateRow]) -> Bracket:
    return interval([row.truth_km for row in rows])


def _in_km(distance: Bracket) -> str:
    return f"{about(distance.value, 2)} km ({about(max(distance.lower, 0.0), 2)} to {about(distance.upper, 2)})"


def _rounds(rows: Sequence[RoundRow]) -> PaperClaim:
    """State the best and the worst last round, of those with the epsilon of the first round's noise."""
    last = max(row.number for row in rows)
    cases = []
    for city, slope, steps in dict.fromkeys((row.city, row.slope, row.steps) for row in rows):
        rounds = where(rows, city=city, steps=steps)
        first, second, final = (_mean(where(rounds, number=number)) for number in (1, 2, last))
        words = (
            f"{city}, b {slope:g}, {_steps(steps)}: {_in_km(first)} after Laplace noise, {_in_km(second)} after "
            f"round 2, {_in_km(final)} after round {last}."
        )
        cases.append((final.value - first.value, words))
    ends = dict.fromkeys(words for _, words in (min(cases), max(cases)))
    return abstain(
        _ABSTRACT,
        "The statistical utility of the rounds with Blahut and Arimoto is quite good.",
        "The abstract gives no number. Here are earth mover's distances from all check-ins, with intervals of 95 "
        f"% over seeds; of {len(cases)} cases whose rounds have the noise's epsilon, 2 b = {FIRST:g}, the two "
        "with the best and the worst last round compared with the first. " + " ".join(ends),
        quote="the statistical utility of BA is quite good",
    )


def _pairs(rows: Sequence[EstimateRow]) -> dict[tuple[str, float, str, str], tuple[Bracket, Bracket]]:
    """Return the distances with Blahut and Arimoto and with noise, of each case."""
    groups: dict[tuple[str, float, str, str], list[EstimateRow]] = {}
    for row in rows:
        groups.setdefault((row.city, row.slope, row.steps, row.updates), []).append(row)
    return {
        case: (_mean(where(group, mechanism=BLAHUT)), _mean(where(group, mechanism=NOISE)))
        for case, group in groups.items()
    }


def _estimates(rows: Sequence[EstimateRow], box: PublishedBox) -> PaperClaim:
    """Judge with the steps and updates of the authors' code, beyond the intervals over seeds.

    The abstract has no number: the estimate has to be better at the authors' least slope, or worse at all slopes.
    """
    place = f"{_ABSTRACT}, {box.city}"
    says = f"In {box.city}, for strong guarantees, the distribution is estimated better than from Laplace noise."
    quote = "better than LAP for high privacy levels"
    if not rows:
        return abstain(place, says, box.request, quote=quote)
    pairs = {
        (city, slope): pair
        for (city, slope, steps, updates), pair in _pairs(rows).items()
        if (steps, updates) == (str(STEPS), str(UPDATES))
    }
    words = (
        f"Earth mover's distance of the estimate from the truth at equal tight epsilon, with {STEPS} steps and "
        f"{UPDATES} updates as in the authors' code. "
        + " ".join(
            f"{city}, b {slope:g}: {_in_km(best)} with Blahut and Arimoto, {_in_km(noise)} with noise."
            for (city, slope), (best, noise) in pairs.items()
        )
    )
    strongest = [pair for (_, slope), pair in pairs.items() if slope == _STRONGEST]
    if strongest and all(best.upper < noise.lower for best, noise in strongest):
        return judge(place, says, True, words, quote=quote)
    if strongest and all(best.lower > noise.upper for best, noise in pairs.values()):
        return judge(place, says, False, words, quote=quote, on_other_data=True)
    return abstain(place, says, f"{words} That decides nothing: the abstract does not say how high.", quote=quote)


def _estimates_at_best(rows: Sequence[EstimateRow]) -> PaperClaim:
    """State the comparison in all cities, with other steps and updates too."""
    pairs = _pairs(rows)
    better = sum(best.upper < noise.lower for best, noise in pairs.values())
    worse = sum(best.lower > noise.upper for best, noise in pairs.values())
    ends = sorted((best.value - noise.value, case) for case, (best, noise) in pairs.items())
    words = []
    for _, case in dict.fromkeys((ends[0], ends[-1])):
        city, slope, steps, updates = case
        best, noise = pairs[case]
        label = updates if updates == CONVERGED else f"{updates} updates"
        words.append(
            f"{city}, b {slope:g}, {_steps(steps)}, {label}: {_in_km(best)} off with Blahut and Arimoto, "
            f"{_in_km(noise)} with noise."
        )
    return remark(
        _ABSTRACT,
        "On all cities of the run, and for all slopes, steps and updates, the distribution is estimated better "
        "than from Laplace noise of equal tight epsilon.",
        better == len(pairs),
        f"It is better beyond the intervals in {better} of {len(pairs)} cases, and worse in {worse}. Where it is "
        f"best and worst compared with noise: {' '.join(words)}",
    )
