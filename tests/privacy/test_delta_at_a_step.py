"""Deltas that equal what only one secret can report, or a step: integers decide if an epsilon is enough.

The other route: the definitions themselves in fractions, by going through all sets of reports.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome, Requirement, audit
from sfumato.privacy import (
    DeltaOfProbabilisticDifferentialPrivacy,
    DifferentialPrivacy,
    Family,
    MetricDifferentialPrivacy,
    ProbabilisticDifferentialPrivacy,
    exact,
)
from sfumato.privacy.distributions import (
    DistributionPrivacy,
    MetricDistributionPrivacy,
    ProbabilisticDistributionPrivacy,
)
from sfumato.privacy.point import least_epsilon, probabilistic

from ..cli.conftest import runner

UNIT = 16
METRIC = sf.Metric([[0, 1, 2], [1, 0, 3], [2, 3, 0]], "km")
FAMILY = Family({"x": [1.0, 0.0, 0.0], "y": [0.0, 0.5, 0.5], "z": [0.25, 0.75, 0.0]})


def cases():
    """Yield small matrices of sixteenths with zeros, and a delta that is a sixteenth."""
    random = np.random.default_rng(14)
    for _ in range(60):
        rows = np.array([random.multinomial(UNIT, random.dirichlet([0.4] * 4)) for _ in range(3)])
        yield rows, int(random.integers(1, UNIT))


def subsets(size):
    return chain.from_iterable(combinations(range(size), k) for k in range(size + 1))


def factor(p, q, delta):
    """The least t >= 1 with p[R] <= t q[R] + delta for every set R; None for none."""
    least = Fraction(1)
    for chosen in subsets(len(p)):
        one, other = sum(p[o] for o in chosen), sum(q[o] for o in chosen)
        if one > delta:
            if other == 0:
                return None
            least = max(least, (one - delta) / other)
    return least


def step(p, q, delta):
    """The least t >= 1 beyond which the ratios have at most delta in each row; None for none."""
    ratios = {Fraction(max(a, b), min(a, b)) for a, b in zip(p, q, strict=True) if a and b} | {Fraction(1)}
    for t in sorted(ratios):
        beyond = [o for o, (a, b) in enumerate(zip(p, q, strict=True)) if max(a, b) > t * min(a, b)]
        if max(sum(p[o] for o in beyond), sum(q[o] for o in beyond)) <= delta:
            return t
    return None


def largest(rows, pairs, of, delta, distances=None):
    """The largest ln(t) / d of some pairs."""
    found = 0.0
    for s, t in pairs:
        least = of(rows[s], rows[t], delta)
        if least is None:
            return math.inf
        found = max(found, math.log(least) / (1 if distances is None else distances[s][t]))
    return found


NOTIONS = {
    "differential": (lambda delta: DifferentialPrivacy(delta=delta), factor, None, False),
    "probabilistic": (lambda delta: ProbabilisticDifferentialPrivacy(delta), step, None, False),
    "metric": (lambda delta: MetricDifferentialPrivacy(METRIC, delta), factor, METRIC.array, False),
    "distributions": (lambda delta: DistributionPrivacy(FAMILY, delta), factor, None, True),
    "probabilistic distributions": (
        lambda delta: ProbabilisticDistributionPrivacy(FAMILY, delta),
        step,
        None,
        True,
    ),
    "metric of distributions": (
        lambda delta: MetricDistributionPrivacy(FAMILY, METRIC, delta),
        factor,
        METRIC.array,
        True,
    ),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", NOTIONS)
def test_integers_decide(name):
    make, of, distances, lifted = NOTIONS[name]
    infinite = 0
    for rows, sixteenths in cases():
        delta = Fraction(sixteenths, UNIT)
        exact = [[Fraction(int(entry), UNIT) for entry in row] for row in rows]
        if lifted:
            weights = [[Fraction(float(mass)) for mass in each] for each in FAMILY.distributions]
            exact = [
                [sum((w * row[o] for w, row in zip(each, exact, strict=True)), Fraction(0)) for o in range(4)]
                for each in weights
            ]
        pairs = FAMILY.pairs.tolist() if lifted else [(s, t) for s in range(3) for t in range(3) if s != t]
        wanted = largest(exact, pairs, of, delta, distances)
        found = make(float(delta)).measure(sf.Mechanism(rows / UNIT))
        assert math.isinf(found.upper) == math.isinf(found.lower) == math.isinf(wanted), (rows, sixteenths)
        infinite += math.isinf(wanted)
        if math.isfinite(wanted):
            assert found.lower <= wanted * (1 + 1e-12) + 1e-12
            assert wanted <= found.upper + 1e-12
            assert found.upper - found.lower <= 1e-9 * (1 + wanted)
    assert 5 <= infinite <= 55


@pytest.mark.parametrize("name", NOTIONS)
def test_delta_1_asks_for_nothing(name):
    found = NOTIONS[name][0](1.0).measure(sf.Mechanism(np.eye(3)))
    assert found.value == found.upper == 0
    assert "no epsilon is enough" not in found.sentence


def fractions(mechanism):
    return [[Fraction(weight, 2**mechanism.bits) for weight in row] for row in mechanism.weights.tolist()]


def ties():
    """Yield mechanisms and arrays of decimals with a delta that is, or nearly is, a leak or an excess."""
    random = np.random.default_rng(15)
    for k in range(240):
        unit, size = int(random.choice([10, 16, 20, 100])), int(random.integers(2, 5))
        counts = np.array([random.multinomial(unit, random.dirichlet([0.5] * size)) for _ in range(3)])
        array, mechanism = counts / unit, sf.Mechanism(counts / unit)
        rows = fractions(mechanism) if k % 3 else [[Fraction(entry) for entry in row] for row in array.tolist()]
        p, q = (rows[each] for each in random.choice(3, 2, replace=False))
        leak = float(sum(a for a, b in zip(p, q, strict=True) if not b))
        excess = float(sum(max(a - b, 0) for a, b in zip(p, q, strict=True)))
        delta = (leak, excess, math.nextafter(leak, 0), math.nextafter(leak, 1))[k % 4]
        if 0 < delta < 1:
            yield mechanism if k % 3 else array, rows, delta


@pytest.mark.thinned(3)
@pytest.mark.parametrize("few", [1 << 17, 8], ids=["fractions", "words"])
@pytest.mark.parametrize("name", ["differential", "probabilistic", "metric"])
def test_ties_are_decided_in_fractions_and_in_words(name, few, monkeypatch):
    """Few pairs are compared in fractions, many in words of integers: with one pair at most only words decide."""
    for module in (exact, least_epsilon, probabilistic):
        monkeypatch.setattr(module, "FEW", few)
    make, of, distances, _ = NOTIONS[name]
    seen = set()
    for given, rows, delta in ties():
        needs = [
            (of(rows[s], rows[t], Fraction(delta)), 1 if distances is None else distances[s, t])
            for s in range(3)
            for t in range(3)
            if s != t
        ]
        found = make(delta).measure(given)
        if any(need is None for need, _ in needs):
            seen.add(math.inf)
            assert found.lower == found.upper == math.inf
            continue
        wanted = max(math.log1p(need - 1) / distance for need, distance in needs)
        seen.add(wanted > 0)
        assert (found.upper == 0) == (wanted == 0)
        assert (found.lower > 0) == (wanted > 0)
        assert found.lower * (1 - 1e-15) <= wanted <= found.upper * (1 + 1e-15)
        assert found.upper - found.lower < 1e-9 * (1 + wanted)
    assert seen >= {True, math.inf}


def own_reports(size, share):
    """A mechanism whose first reports are each made by some secrets alone, with the same probability.

    All other reports are made by all, with random probabilities.
    """
    random = np.random.default_rng(size)
    weights = np.zeros((size, 2 * size), dtype=np.int64)
    weights[:, size:] = np.ldexp(random.dirichlet(np.full(size, 3.0), size) * (1 - share), 62)
    weights[np.arange(size), random.integers(0, size, size)] = int(share * 2**62)
    weights[:, -1] += (1 << 62) - weights.sum(axis=1)
    return sf.Mechanism.from_weights(weights, 62)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("size", [130, 600])
def test_delta_at_the_leak_of_large_mechanisms_is_decided(size):
    """The reports that both make need their largest ratio, since all of delta is spent on the leak."""
    mechanism = own_reports(size, 0.25)
    shared = np.log(mechanism.matrix[:, size:])
    apart = np.array([[np.any(a[:size] != b[:size]) for b in mechanism.matrix] for a in mechanism.matrix])
    ratios = np.array([(row - shared).max(axis=1) for row in shared])
    one, both = ratios[apart].max(), np.maximum(ratios, ratios.T)[apart].max()
    for notion, wanted in ((DifferentialPrivacy(delta=0.25), one), (ProbabilisticDifferentialPrivacy(0.25), both)):
        found = notion.measure(mechanism)
        assert found.lower == pytest.approx(wanted, rel=1e-11)
        assert found.upper == pytest.approx(wanted, rel=1e-11)
        less = type(notion)(delta=math.nextafter(0.25, 0)).measure(mechanism)
        assert less.lower == less.upper == math.inf


@pytest.mark.thinned(2)
@pytest.mark.parametrize("size", [3, 700])
def test_a_rare_own_report_needs_no_epsilon(size):
    """The case of rare05.csv with many secrets: a report of one's own with probability .05, else all alike."""
    mechanism = sf.Mechanism(np.hstack([0.05 * np.eye(size), np.full((size, 1), 0.95)]))
    metric = sf.Metric(np.abs(np.subtract.outer(np.arange(size), np.arange(size))), "km")
    for notion in (
        DifferentialPrivacy(delta=0.05),
        ProbabilisticDifferentialPrivacy(0.05),
        MetricDifferentialPrivacy(metric, 0.05),
    ):
        assert notion.measure(mechanism).upper == 0
        less = replace(notion, delta=math.nextafter(0.05, 0)).measure(mechanism)
        assert less.lower == math.inf


def test_delta_at_the_leak_of_distributions_over_many_secrets_is_decided():
    """Distributions that are certain of one secret have its reports."""
    size = 300
    mechanism = own_reports(size, 0.25)
    first = 0
    second = next(s for s in range(size) if (mechanism.matrix[s, :size] != mechanism.matrix[first, :size]).any())
    family = Family([np.eye(size)[first], np.eye(size)[second]])
    differences = np.log(mechanism.matrix[first, size:] / mechanism.matrix[second, size:])
    metric = sf.Metric(2.0 * (1 - np.eye(size)), "km")
    for notion, wanted in (
        (DistributionPrivacy(family, 0.25), np.abs(differences).max()),
        (ProbabilisticDistributionPrivacy(family, 0.25), np.abs(differences).max()),
        (MetricDistributionPrivacy.wasserstein(family, metric, delta=0.25), np.abs(differences).max() / 2),
    ):
        found = notion.measure(mechanism)
        assert found.lower == pytest.approx(wanted, rel=1e-11)
        assert found.upper == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize("name", ["distributions", "probabilistic distributions", "metric of distributions"])
def test_distributions_with_equal_reports_need_no_epsilon(name):
    """Their reports are equal although no two rows are; floats see a difference of sums."""
    mechanism = sf.Mechanism.from_weights(
        np.array([[3, 5, 8], [7, 1, 8], [5, 3, 8], [1, 7, 8]], dtype=np.int64) << 58, 62
    )
    family = Family({"one": [0.5, 0.5, 0.0, 0.0], "other": [0.0, 0.0, 1.0, 0.0], "same": [0.25, 0.25, 0.5, 0.0]})
    metric = sf.Metric(1.0 - np.eye(4))
    for delta in (0.0, 0.125):
        notion = {
            "distributions": DistributionPrivacy(family, delta),
            "probabilistic distributions": ProbabilisticDistributionPrivacy(family, delta),
            "metric of distributions": MetricDistributionPrivacy.wasserstein(family, metric, delta=delta),
        }[name]
        assert notion.measure(mechanism).upper == 0


@pytest.mark.parametrize("epsilon", [0.0, 0.5, math.log(3), math.inf])
def test_the_mass_beyond_an_epsilon_is_exact(epsilon):
    """Without a ratio near e to epsilon the reports beyond it are certain, and integers add them up."""
    random = np.random.default_rng(16)
    for _ in range(40):
        rows = np.array([random.multinomial(7, random.dirichlet([0.5] * 4)) for _ in range(3)]) / 7
        given = sf.Mechanism(rows)
        beyond = [
            max(sum(a for a, _ in chosen), sum(b for _, b in chosen))
            for p, q in combinations(fractions(given), 2)
            for chosen in [[(a, b) for a, b in zip(p, q, strict=True) if is_beyond(a, b, epsilon)]]
        ]
        found = DeltaOfProbabilisticDifferentialPrivacy(epsilon).measure(given)
        assert Fraction(found.lower) <= max(beyond) <= Fraction(found.upper)
        if epsilon != math.log(3):
            assert found.upper - found.lower <= 2**-50


def is_beyond(a, b, epsilon):
    if math.isinf(epsilon) or min(a, b) == 0:
        return (a == 0) != (b == 0)
    return a != b if epsilon == 0 else max(a, b) > Fraction(math.exp(epsilon)) * min(a, b)


def test_a_requirement_on_the_border_is_decided():
    mechanism = sf.Mechanism([[0.05, 0, 0.95], [0, 0.05, 0.95]])
    found = audit(mechanism, deltas=[0.05, 0.04])
    assert Requirement.parse("epsilon(delta=0.05) <= 0").hold_against(found).outcome is Outcome.HOLDS
    assert Requirement.parse("epsilon(delta=0.04) <= 9").hold_against(found).outcome is Outcome.FAILS


def test_the_case_file(shared_data, tmp_path, monkeypatch):
    file = shared_data.parent / "cases" / "audits" / "rare05.csv"
    done = runner(monkeypatch, tmp_path)("audit", file, "--delta", "0.05")
    assert done.code == 0
    lines = [line for line in done.out.split("\n- ")[1:] if "ifferential privacy (delta 0.05)" in line]
    assert len(lines) == 2
    assert not any("no epsilon is enough" in line for line in lines)
