"""Laplace noise in real numbers, integers and floats, epsilon as odds, and queries released together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, Final

import numpy as np
from scipy.integrate import quad

from sfumato.core import Mechanism
from sfumato.mechanisms import DiscreteLaplace, JointQueries, Laplace, datasets, sensitivity
from sfumato.privacy import DifferentialPrivacy, Relation, band, product_channel
from sfumato.sampling import simulator

EPSILONS: Final = ("1/10", "1/2", "1", "2")
SENSITIVITIES: Final = (1, 3)
_UNIT: Final = 2.0**-53
_STEPS: Final = 6  # answers of a range, in units of the sensitivity
ODDS_EPSILONS: Final = (0.1, 0.5, 1.0, 2.0, 4.0)
PRIORS: Final = (0.01, 0.1, 0.5)
REPORTS: Final = (1, 2, 5, 10, 20, 50)
_AGES: Final = (0, 1, 2)
_MOST: Final = 3  # records
_REACH: Final = 6  # of the range of reports beyond the answers


@dataclass(frozen=True, slots=True)
class NoiseRow:
    """Laplace noise: its deviation by quadrature, by formula and of integers, and its measured epsilon."""

    epsilon: float
    sensitivity: int
    scale: float
    deviation: float
    deviation_formula: float
    deviation_of_integers: float
    kept: float


@dataclass(frozen=True, slots=True)
class DrawRow:
    """Drawn integer noise at sensitivity 1: its mean size, also in closed form."""

    epsilon: float
    seed: int
    draws: int
    absolute: float
    absolute_closed: float


@dataclass(frozen=True, slots=True)
class FloatRow:
    """Textbook noise in floats: the shares of reports of the answers 0 and 1 that reveal the answer."""

    epsilon: float
    seed: int
    draws: int
    told_0: float
    told_1: float


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A report and its probabilities for two neighbouring answers."""

    report: int
    from_10: float
    from_11: float


def noise_rows() -> list[NoiseRow]:
    """Return Laplace noise at several epsilons and sensitivities."""
    return [_noise(epsilon, sensitivity) for epsilon in EPSILONS for sensitivity in SENSITIVITIES]


def _noise(epsilon: str, sensitivity: int) -> NoiseRow:
    whole = DiscreteLaplace(epsilon, sensitivity)
    real = Laplace(whole.epsilon, float(sensitivity))
    half, _ = quad(lambda x: x**2 * float(real.density(x)), 0.0, 60 * real.scale, epsabs=0.0, epsrel=1e-10)
    family = whole.clamped(0, _STEPS * sensitivity)
    near = Relation.within(family.metric, 1)
    return NoiseRow(
        whole.epsilon,
        sensitivity,
        real.scale,
        math.sqrt(2 * half),
        math.sqrt(2) * sensitivity / whole.epsilon,
        math.sqrt(whole.variance),
        DifferentialPrivacy(near).measure(family.mechanism()).upper,
    )


def draw_rows(seed: int, draws: int) -> list[DrawRow]:
    """Return statistics of integer noise, drawn as for releases but seeded."""
    found = []
    for epsilon in EPSILONS:
        noise = DiscreteLaplace(epsilon)
        drawn = simulator(noise, seed=seed).draw(np.zeros(draws, dtype=np.int64))
        found.append(DrawRow(noise.epsilon, seed, draws, float(np.abs(drawn).mean()), noise.absolute))
    return found


def float_rows(seed: int, draws: int) -> list[FloatRow]:
    """Return how often textbook noise in floats reveals the answer.

    A float between -1/2 and 1/2 that is no multiple of 2**-53 can be 0 + n but not 1 + n: then n, between -3/2 and
    -1/2, is such a multiple, and the sum is exact (Sterbenz).

    Source:
        Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
    """
    found = []
    for epsilon in EPSILONS:
        noise = Laplace(float(DiscreteLaplace(epsilon).epsilon))
        shares = []
        for answer in (0.0, 1.0):
            report = noise.simulate(np.full(draws, answer), np.random.default_rng([seed, int(answer)]))
            inside = np.abs(report) < 0.5  # half the way to the other answer
            shares.append(float((inside & (np.fmod(report, _UNIT) != 0)).mean()))
        found.append(FloatRow(noise.epsilon, seed, draws, *shares))
    return found


def report_rows() -> list[ReportRow]:
    """Return the probabilities of reports of two neighbouring counts, 10 and 11, at epsilon 1/2."""
    noise = DiscreteLaplace("1/2")
    reports = np.arange(22)
    return [
        ReportRow(int(o), float(p), float(q))
        for o, p, q in zip(reports, noise.pmf(reports - 10), noise.pmf(reports - 11), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class OddsRow:
    """The largest belief in a fact after reports, and the growth of its odds."""

    epsilon: float
    reports: int
    prior: float
    posterior: float
    factor: float


def odds_rows() -> list[OddsRow]:
    """Return the largest beliefs after reports."""
    rows = []
    for epsilon, reports, prior in product(ODDS_EPSILONS, REPORTS, PRIORS):
        limit = band("differential-privacy", epsilon * reports)
        rows.append(OddsRow(epsilon, reports, prior, float(limit.upper(prior)), math.exp(epsilon * reports)))
    return rows


QUERIES: Final[dict[str, Callable[[tuple[Any, ...]], int]]] = {
    "records": len,
    "sum, from 0 to 2 each": sum,
    "records above 0": lambda data: sum(age > 0 for age in data),
    "records of 0": lambda data: sum(age == 0 for age in data),
}


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """The sensitivity of a query over all data sets of up to three records, and two that attain it."""

    query: str
    datasets: int
    sensitivity: float
    witness: str


@dataclass(frozen=True, slots=True)
class JointRow:
    """Queries with integer Laplace noise: the sum of epsilons, the measured joint cost, and that by the vector."""

    queries: str
    rule: str
    epsilons: str
    allowed: float
    kept: float
    vector: float


def sensitivity_rows() -> list[SensitivityRow]:
    """Return the sensitivities of the queries."""
    among = datasets(_AGES, range(_MOST + 1))
    found = []
    for name, query in QUERIES.items():
        own = sensitivity(query, among)
        first, second = own.witness or ((), ())
        found.append(SensitivityRow(name, len(among), own.value, f"{list(first)} and {list(second)}"))
    return found


def joint_rows() -> list[JointRow]:
    """Return the joint cost of several queries, with equal noise and with given shares."""
    names = list(QUERIES)
    return [
        _joint(names[:2], Fraction(1), "the same noise"),
        _joint(names[:2], Fraction(1, 2), "the same noise"),
        _joint(names[2:], Fraction(1), "the same noise"),
        _joint(names[:3], Fraction(3, 2), "the same noise"),
        _joint(names[:2], (Fraction(1, 4), Fraction(1)), "as given"),
        _joint(names[1:], (Fraction(1, 8), Fraction(1, 2), Fraction(1, 4)), "as given"),
    ]


def _joint(names: Sequence[str], epsilon: Fraction | Sequence[Fraction], rule: str) -> JointRow:
    among = datasets(_AGES, range(_MOST + 1))
    near = np.array([[_differences(a, b) == 1 for b in among] for a in among])
    answers = np.array([[QUERIES[name](data) for name in names] for data in among])
    deltas = [int(sensitivity(QUERIES[name], among).value) for name in names]
    even = [Fraction(delta, sum(deltas)) for delta in deltas]
    shares = [epsilon * part for part in even] if isinstance(epsilon, Fraction) else list(epsilon)
    reports = []
    for column, delta, share in zip(answers.T, deltas, shares, strict=True):
        low, high = int(column.min()) - _REACH, int(column.max()) + _REACH
        noise = DiscreteLaplace(share, delta).clamped(low, high).mechanism()
        reports.append(Mechanism(noise.matrix[column - low]))
    joint = reduce(product_channel, reports)
    kept = DifferentialPrivacy(Relation(near, "data sets that differ by one record")).measure(joint).upper
    rates = [float(share / delta) for share, delta in zip(shares, deltas, strict=True)]
    moved = np.abs(answers[:, None, :] - answers) @ rates
    allowed = JointQueries([float(delta) for delta in deltas], [float(share) for share in shares]).epsilon
    words = " and ".join(names), rule, " ".join(map(str, shares))
    return JointRow(*words, allowed, kept, float(moved[near].max()))


def _differences(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many records are in one data set only."""
    one, other = Counter(first), Counter(second)
    return ((one - other) + (other - one)).total()
