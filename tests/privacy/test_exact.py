"""Values that are exact are found exactly: held against fractions of all pairs."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx

from sfumato import Mechanism, Metric, Prior
from sfumato.audits import audit
from sfumato.core import Bracket
from sfumato.divergences import CHI_SQUARED, TOTAL_VARIATION
from sfumato.intervals import exact
from sfumato.privacy import (
    NOTION_KEYS,
    BoundedRange,
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DivergencePrivacy,
    IndistinguishablePrivacy,
    KLPrivacy,
    MetricDifferentialPrivacy,
    Relation,
    RenyiPrivacy,
)
from sfumato.rounding import Logarithm, log_below

COIN = [[0.75, 0.25], [0.25, 0.75]]


def channel(seed):
    """Random integers with ties, some of them one unit apart, as a mechanism or an array."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 6, size=2)
    counts = np.array([rng.multinomial(16 - m, np.ones(m) / m) for _ in range(n)]) + 1
    weights = counts.astype(np.int64) << 58
    weights[:, 0] += rng.integers(-1, 2, size=n)
    weights[:, -1] += (1 << 62) - weights.sum(axis=1)
    return Mechanism.from_weights(weights, 62) if seed % 3 else counts / 16


def fractions(given):
    if isinstance(given, Mechanism):
        return [[Fraction(weight, 2**62) for weight in row] for row in given.weights.tolist()]
    return [[Fraction(entry) for entry in row] for row in given.tolist()]


def pairs(relation):
    return [(int(s), int(t)) for s, t in relation.pairs]


def ratio(p, q):
    return max(a / b for a, b in zip(p, q, strict=True))


def mass(p, q):
    return sum(max(Fraction(0), a - b) for a, b in zip(p, q, strict=True))


def is_log(found, factor):
    """Whether the bounds are the floats on both sides of the logarithm of a fraction."""
    if factor <= 1:
        return found.lower == found.upper == 0
    with ctx.workprec(300):
        log = (exact(factor.numerator) / exact(factor.denominator)).log()
        return found.lower < log < found.upper == math.nextafter(found.lower, math.inf)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(60))
def test_ratios_and_masses_of_integers_are_exact(seed):
    given = channel(seed)
    rows = fractions(given)
    rng = np.random.default_rng(seed)
    relation = Relation(rng.random((len(rows), len(rows))) < 0.7)
    ratios = {(s, t): ratio(rows[s], rows[t]) for s in range(len(rows)) for t in range(len(rows))}
    chosen = pairs(relation)
    largest = max((ratios[pair] for pair in chosen), default=Fraction(1))
    found = DifferentialPrivacy(relation).measure(given)
    assert found.factor == max(largest, 1)
    assert is_log(found, largest)
    found = IndistinguishablePrivacy(relation).measure(given)
    assert is_log(found, max((max(ratios[s, t], ratios[t, s]) for s, t in chosen), default=Fraction(1)))
    found = BoundedRange(relation).measure(given)
    assert is_log(found, max((ratios[s, t] * ratios[t, s] for s, t in chosen), default=Fraction(1)))
    largest = max((mass(rows[s], rows[t]) for s, t in chosen), default=Fraction(0))
    for notion in (DeltaOfDifferentialPrivacy(0.0, relation), DivergencePrivacy(TOTAL_VARIATION, relation)):
        found = notion.measure(given)
        assert Fraction(found.lower) <= largest <= Fraction(found.upper)
        assert found.lower == found.upper or found.upper - found.lower <= 2.0**-50 * found.upper
        assert (found.rounding == 0) == (Fraction(float(largest)) == largest)


@pytest.mark.parametrize("seed", range(40))
def test_log_ratios_per_distance_are_known_to_a_few_floats(seed):
    given = channel(seed)
    rows = fractions(given)
    points = np.random.default_rng(seed).uniform(0, 3, size=len(rows))
    metric = Metric(np.abs(np.subtract.outer(points, points)), "km")
    found = MetricDifferentialPrivacy(metric).measure(given)
    rates = [exact(0)]
    with ctx.workprec(300):
        for s, t in pairs(Relation.all(len(rows))):
            factor = max(ratio(rows[s], rows[t]), Fraction(1))
            log = (exact(factor.numerator) / exact(factor.denominator)).log()
            rates.append(log / exact(float(metric.array[s, t])))
        assert all(rate <= found.upper for rate in rates)
        assert any(rate >= found.lower for rate in rates)
    assert found.upper - found.lower <= 2.0**-50 * found.upper


def test_what_only_one_secret_reports_is_an_exact_mass():
    found = DeltaOfDifferentialPrivacy(math.inf).measure([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 0.5, 0.5]])
    assert (found.lower, found.upper) == (0.75, 0.75)


def test_texts_of_a_coin_are_short():
    metric = Metric([[0, 1], [1, 0]], "km")
    for notion, text in (
        (DifferentialPrivacy(), "at most 3 times"),
        (IndistinguishablePrivacy(), "at most 3 times"),
        (BoundedRange(), "a factor of 9 "),
        (MetricDifferentialPrivacy(metric), "at most 3 times"),
        (DeltaOfDifferentialPrivacy(0.0), "plus 0.5 (epsilon 0, delta 0.5)."),
        (DivergencePrivacy(TOTAL_VARIATION), "is at most 0.5."),
    ):
        for mechanism in (COIN, Mechanism(COIN)):
            assert text in notion.measure(mechanism).sentence, notion
    found = audit(COIN)
    assert "at most 3 times" in found.find("differential-privacy").sentence


@pytest.mark.parametrize(
    "notion",
    [
        DifferentialPrivacy(),
        IndistinguishablePrivacy(),
        BoundedRange(),
        MetricDifferentialPrivacy(Metric([[0, 1, 2], [1, 0, 1], [2, 1, 0]])),
        DeltaOfDifferentialPrivacy(0.0),
        DeltaOfDifferentialPrivacy(1.0),
        DivergencePrivacy(TOTAL_VARIATION),
        DivergencePrivacy(CHI_SQUARED),
        KLPrivacy(),
        RenyiPrivacy(2.0),
    ],
)
@pytest.mark.parametrize("rows", [[[0.5, 0.25, 0.25]] * 3, [[1 / 3, 1 / 3, 1 / 3]] * 3, [[0.1, 0.2, 0.7]] * 3])
def test_equal_rows_give_away_nothing_at_all(notion, rows):
    for mechanism in (rows, Mechanism(rows)):
        found = notion.measure(mechanism)
        assert (found.value, found.lower, found.upper) == (0, 0, 0)


@pytest.mark.parametrize("row", [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])
@pytest.mark.parametrize("known", [False, True])
def test_audits_of_equal_rows_find_nothing_at_all(row, known):
    mechanism = Mechanism([row] * 3)
    prior = Prior(mechanism.secrets, [0.2, 0.3, 0.5]) if known else None
    found = audit(mechanism, prior=prior, metric=Metric([[0, 1, 2], [1, 0, 1], [2, 1, 0]]))
    entries = [entry for entry in found.entries if entry.key in set(NOTION_KEYS) - {"distortion"}]
    assert len(entries) > 20
    for entry in entries:
        assert entry.bracket == Bracket.exact(0.0), entry.title
        assert "0000000" not in entry.sentence


def test_where_too_much_is_tied_the_error_of_floats_stays():
    mechanism = np.full((200, 200), 1 / 256) + np.eye(200) * (56 / 256)
    found = DifferentialPrivacy().measure(mechanism)
    assert found.factor is None
    assert found.lower < math.log(57) < found.upper


def test_rows_that_differ_by_one_unit_only_are_told_apart():
    half = 1 << 61
    mechanism = Mechanism.from_weights(np.array([[half, half], [half - 1, half + 1]]), 62)
    assert np.array_equal(mechanism.matrix[0], mechanism.matrix[1])
    assert DifferentialPrivacy().measure(mechanism).factor == Fraction(half, half - 1)
    assert DeltaOfDifferentialPrivacy(0.0).measure(mechanism).upper >= 2.0**-62


def test_a_logarithm_remembers_its_fraction_in_copies():
    log = pickle.loads(pickle.dumps(Logarithm(Fraction(3))))
    assert (log, log.factor) == (math.nextafter(log_below(Fraction(3)), math.inf), 3)
    assert Logarithm(Fraction(1)) == 0.0
    assert log_below(Fraction(1)) == 0.0
