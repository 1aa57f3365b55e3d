"""Experiments: Laplace noise, epsilon as odds, queries released together, and the exponential mechanism."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, Final

import numpy as np
from scipy.integrate import quad

from sfumato.core import Mechanism
from sfumato.mechanisms import (
    DiscreteLaplace,
    ExponentialMechanism,
    JointQueries,
    Laplace,
    UtilityTable,
    datasets,
    sensitivity,
)
from sfumato.privacy import BoundedRange, DifferentialPrivacy, Relation, band, product_channel
from sfumato.sampling import simulator

EPSILONS: Final = ("1/10", "1/2", "1", "2")
SENSITIVITIES: Final = (1, 3)
ODDS_EPSILONS: Final = (0.1, 0.5, 1.0, 2.0, 4.0)
PRIORS: Final = (0.01, 0.1, 0.5)
REPORTS: Final = (1, 2, 5, 10, 20, 50)
BLOG, CLASSIC = "introductory", "mcsherry-talwar"
KINDS: Final = ("any", "monotone", "symmetric")  # of random tables
_UNIT: Final = 2.0**-53
_STEPS: Final = 6  # answers of a range, in units of the sensitivity
_DATA: Final = datasets((0, 1, 2), range(4))  # up to three records of three ages
_REACH: Final = 6  # of the range of reports beyond the answers
_SIZES: Final = (2, 3, 10, 30, 100, 300, 1000, 3000)  # numbers of answers


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
    rows = []
    for epsilon, delta in product(EPSILONS, SENSITIVITIES):
        whole = DiscreteLaplace(epsilon, delta)
        real = Laplace(whole.epsilon, float(delta))
        half, _ = quad(lambda x, of=real: x**2 * of.density(x), 0.0, 60 * real.scale, epsabs=0.0, epsrel=1e-10)
        by_formula, of_integers = math.sqrt(2) * delta / whole.epsilon, math.sqrt(whole.variance)
        family = whole.clamp(0, _STEPS * delta)
        upper = DifferentialPrivacy(Relation.of_radius(family.metric, 1)).measure(family.mechanism()).upper
        widths = real.scale, math.sqrt(2 * half), by_formula, of_integers
        rows.append(NoiseRow(whole.epsilon, delta, *widths, upper))
    return rows


def draw_rows(seed: int, draws: int) -> list[DrawRow]:
    """Return statistics of integer noise, drawn as for releases but seeded."""
    rows = []
    for epsilon in EPSILONS:
        noise = DiscreteLaplace(epsilon)
        sample = simulator(noise, seed=seed).draw(np.zeros(draws, dtype=np.int64))
        rows.append(DrawRow(noise.epsilon, seed, draws, float(np.abs(sample).mean()), noise.absolute))
    return rows


def float_rows(seed: int, draws: int) -> list[FloatRow]:
    """Return how often textbook noise in floats reveals the answer.

    A float between -1/2 and 1/2 that is no multiple of 2**-53 can be 0 + n but not 1 + n: then n, between -3/2 and
    -1/2, is such a multiple, and the sum is exact (Sterbenz).

    Source:
        Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
    """
    rows = []
    for epsilon in EPSILONS:
        noise = Laplace(float(DiscreteLaplace(epsilon).epsilon))
        shares = []
        for answer in (0.0, 1.0):
            report = noise.simulate(np.full(draws, answer), np.random.default_rng([seed, int(answer)]))
            inside = np.abs(report) < 0.5  # half the way to the other answer
            shares.append(float((inside & (np.fmod(report, _UNIT) != 0)).mean()))
        rows.append(FloatRow(noise.epsilon, seed, draws, *shares))
    return rows


def report_rows() -> list[ReportRow]:
    """Return the probabilities of reports of two neighbouring counts, 10 and 11, at epsilon 1/2."""
    noise, reports = DiscreteLaplace("1/2"), np.arange(22)
    columns = (column.tolist() for column in (reports, noise.pmf(reports - 10), noise.pmf(reports - 11)))
    return [ReportRow(*row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class OddsRow:
    """The largest belief in a fact after reports."""

    epsilon: float
    reports: int
    prior: float
    posterior: float


def odds_rows() -> list[OddsRow]:
    """Return the largest beliefs after reports."""
    return [
        OddsRow(epsilon, reports, prior, float(band("differential-privacy", epsilon * reports).upper(prior)))
        for epsilon, reports, prior in product(ODDS_EPSILONS, REPORTS, PRIORS)
    ]


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
    """Queries with integer Laplace noise: the sum of epsilons, and the measured joint cost."""

    queries: str
    rule: str
    epsilons: str
    allowed: float
    kept: float


def sensitivity_rows() -> list[SensitivityRow]:
    """Return the sensitivities of the queries."""
    rows = []
    for name, query in QUERIES.items():
        largest = sensitivity(query, _DATA)
        first, second = largest.witness or ((), ())
        rows.append(SensitivityRow(name, len(_DATA), largest.value, f"{list(first)} and {list(second)}"))
    return rows


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
    near = np.array([[_differences(a, b) == 1 for b in _DATA] for a in _DATA])
    answers = np.array([[QUERIES[name](data) for name in names] for data in _DATA])
    deltas = [int(sensitivity(QUERIES[name], _DATA).value) for name in names]
    if isinstance(epsilon, Fraction):
        epsilon = [epsilon * Fraction(delta, sum(deltas)) for delta in deltas]
    reports = []
    for column, delta, share in zip(answers.T, deltas, epsilon, strict=True):
        low, high = int(column.min()) - _REACH, int(column.max()) + _REACH
        noise = DiscreteLaplace(share, delta).clamp(low, high).mechanism()
        reports.append(Mechanism(noise.matrix[column - low]))
    joint = reduce(product_channel, reports)
    cost = DifferentialPrivacy(Relation(near, "data sets that differ by one record")).measure(joint).upper
    allowed = JointQueries([float(delta) for delta in deltas], [float(share) for share in epsilon]).epsilon
    words = " and ".join(names), rule, " ".join(map(str, epsilon))
    return JointRow(*words, allowed, cost)


def _differences(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many records are in one data set only."""
    left, right = Counter(first), Counter(second)
    return ((left - right) + (right - left)).total()


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """The exponential mechanism on a table of utilities at epsilon 1.

    `promised` is the guaranteed epsilon, `kept` that of the table, `measured` the same on integers, rounded up.
    """

    kind: str
    convention: str
    seed: int
    number: int
    answers: int
    promised: float
    kept: float
    measured: float
    range: float
    measured_range: float
    below_best: float
    below_best_bound: float


def choice_rows(seed: int, tables: int) -> list[ChoiceRow]:
    """Return both conventions on random tables of three kinds."""
    return _choices(seed, _tables(seed, tables))


def steep_rows() -> list[ChoiceRow]:
    """Return both conventions on tables with one answer against growing numbers of others."""
    first = (np.arange(size) == 0 for size in _SIZES)
    return _choices(0, (("steep", UtilityTable(np.array([mask, ~mask], dtype=float))) for mask in first))


def _tables(seed: int, count: int) -> Iterator[tuple[str, UtilityTable]]:
    rng = np.random.default_rng(seed)
    for number in range(count):
        n, m = int(rng.integers(2, 5)), int(rng.integers(2, 7))
        kind = KINDS[number % 3]
        if kind == "any":
            table = UtilityTable(rng.integers(0, 4, size=(n, m)) + rng.random((n, m)))
        elif kind == "monotone":
            values = np.cumsum(rng.integers(0, 2, size=(n, m)), axis=0).astype(float)
            values[:, 0] = np.arange(n)
            table = UtilityTable(values, neighbours=np.abs(np.arange(n)[:, None] - np.arange(n)) == 1)
        else:
            base = np.sort(rng.random(m) + np.arange(m))
            table = UtilityTable(np.array([np.roll(base, shift) for shift in range(m)]))
        yield kind, table


def _choices(seed: int, tables: Iterable[tuple[str, UtilityTable]]) -> list[ChoiceRow]:
    rows = []
    for (number, (kind, table)), convention in product(enumerate(tables), (BLOG, CLASSIC)):
        family = ExponentialMechanism(table, 1.0, convention)  # type: ignore[arg-type]
        mechanism, near = family.mechanism(), Relation(table.neighbours, "neighbours")
        epsilon, spread = (notion(near).measure(mechanism).upper for notion in (DifferentialPrivacy, BoundedRange))
        regret = -(mechanism.matrix * table.below_best).sum(axis=1)
        head = kind, convention, seed, number, table.values.shape[1]
        privacy = family.promised, family.epsilon, epsilon, family.bounded_range, spread
        rows.append(ChoiceRow(*head, *privacy, float(regret.max()), family.regret_bound))
    return rows


PARTS: Final[dict[str, dict[str, Callable[..., Sequence[Any]]]]] = {
    "noise and odds": {"noise": noise_rows, "reports": report_rows, "odds": odds_rows},
    "queries": {"sensitivities": sensitivity_rows, "queries": joint_rows},
    "steep tables": {"choices": steep_rows},
    "draws": {"draws": draw_rows, "floats": float_rows},
    "tables": {"choices": choice_rows},
}
