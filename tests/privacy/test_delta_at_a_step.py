"""Deltas that equal what only one secret can report, or a step: integers decide if an epsilon is enough.

The other route: the definitions themselves in fractions, by going through all sets of reports.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome, Requirement, audit
from sfumato.privacy import (
    DifferentialPrivacy,
    Family,
    MetricDifferentialPrivacy,
    ProbabilisticDifferentialPrivacy,
)
from sfumato.privacy.distributions import (
    DistributionPrivacy,
    MetricDistributionPrivacy,
    ProbabilisticDistributionPrivacy,
)

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
