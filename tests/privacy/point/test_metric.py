import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric, MetricPrivacy, Space
from sfumato.divergences import Profile
from sfumato.errors import InputError, MetricWarning
from sfumato.privacy import DifferentialPrivacy, MetricDifferentialPrivacy
from sfumato.proofs import prove_metric_privacy

from ...catalogue import CASES, directed_metrics, geometric, line
from ...divergences.pairs import several

DELTAS = st.one_of(st.sampled_from([0.0, 1e-12, 0.02, 0.3]), st.floats(0, 1))
TOWNS = Metric([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]], "km")
TWINS = Metric([[0, 0, 1], [0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue_and_the_proof_over_integers(case):
    found = MetricDifferentialPrivacy(case.metric).measure(case.mechanism)
    assert found.value == pytest.approx(case.epsilon, abs=1e-8)
    assert found.lower <= case.epsilon + 1e-8
    proof = prove_metric_privacy(case.mechanism, MetricPrivacy(max(1e-9, min(case.epsilon, 1e3)), case.metric))
    assert found.value == pytest.approx(proof.upper, abs=1e-7)
    if math.isfinite(found.upper):
        # What rounding leaves room for is proved on the integers.
        assert prove_metric_privacy(case.mechanism, MetricPrivacy(max(found.upper, 1e-14), case.metric)).holds


@given(several(count=3), DELTAS)
def test_least_epsilon_is_the_largest_of_the_pairs(rows, delta):
    d = line(3)
    found = MetricDifferentialPrivacy(Metric(d), delta).measure(rows)
    expected = max(
        float(Profile(rows[s], rows[t]).epsilon(delta)) / d[s, t] for s in range(3) for t in range(3) if s != t
    )
    assert found.value == pytest.approx(max(0.0, expected), abs=1e-9)
    assert found.lower <= found.value <= found.upper


@given(several(count=3), DELTAS)
def test_the_definition_holds_at_the_upper_bound(rows, delta):
    d = line(3)
    upper = MetricDifferentialPrivacy(Metric(d), delta).measure(rows).upper
    if math.isfinite(upper):
        for s in range(3):
            for t in range(3):
                excess = np.maximum(rows[s] - np.exp(min(700.0, upper * d[s, t])) * rows[t], 0).sum()
                assert excess <= delta + 1e-12


@given(several(count=3), DELTAS)
def test_the_discrete_metric_is_differential_privacy(rows, delta):
    metric = Metric(1.0 - np.eye(3))
    found = MetricDifferentialPrivacy(metric, delta).measure(rows)
    assert found.value == DifferentialPrivacy(delta=delta).measure(rows).value


def test_epsilon_is_per_unit():
    metric = Metric(line(5), "km")
    mechanism = Mechanism(geometric(5, 0.7))
    found = MetricDifferentialPrivacy(metric).measure(mechanism)
    assert found.value == pytest.approx(0.7)
    assert MetricDifferentialPrivacy(metric.to("m")).measure(mechanism).value == pytest.approx(0.0007)
    assert "0.70000000001/km" in found.sentence  # a little more than 0.7, once rounded to integers
    assert MetricDifferentialPrivacy(metric, 0.01).measure(mechanism).value < 0.7
    assert "plus 0.01; the exponent" in MetricDifferentialPrivacy(metric, 0.01).measure(mechanism).sentence


def test_pairs_at_infinite_distance_need_no_protection():
    rows = [[0.75, 0.25, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    assert MetricDifferentialPrivacy(TOWNS).measure(rows).value == pytest.approx(math.log(3))
    assert MetricDifferentialPrivacy(TOWNS, 0.01).measure(rows).value == pytest.approx(math.log(74 / 25))


def test_secrets_at_distance_zero_must_look_alike():
    alike, unlike = [0.5, 0.5, 0.0], [0.6, 0.4, 0.0]
    same = MetricDifferentialPrivacy(TWINS).measure([alike, alike, unlike])
    assert same.value == pytest.approx(math.log(0.5 / 0.4))
    broken = MetricDifferentialPrivacy(TWINS).measure([alike, unlike, unlike])
    assert broken.value == math.inf
    assert broken.witness.pair == (0, 1)
    assert "no epsilon" in broken.sentence
    assert MetricDifferentialPrivacy(TWINS, 0.09).measure([alike, unlike, unlike]).value == math.inf
    assert MetricDifferentialPrivacy(TWINS, 0.11).measure([alike, unlike, unlike]).upper < 1e-9
    # The total variation is that of the floats, 0.6 - 0.5 or 0.5 - 0.4, whichever is larger: fractions decide.
    border = max(0.6 - 0.5, 0.5 - 0.4)
    assert MetricDifferentialPrivacy(TWINS, border).measure([alike, unlike, unlike]).upper < 1e-9
    under = MetricDifferentialPrivacy(TWINS, math.nextafter(border, 0)).measure([alike, unlike, unlike])
    assert under.lower == under.upper == math.inf


def test_rows_that_differ_in_one_integer_differ():
    weights = np.array([[2**61, 2**61], [2**61 + 1, 2**61 - 1], [2**61, 2**61]], dtype=np.int64)
    mechanism = Mechanism.from_weights(weights, 62)
    assert (mechanism.matrix == 0.5).all()
    assert MetricDifferentialPrivacy(TWINS).measure(mechanism).value == math.inf


def test_short_distances_count_in_the_integers():
    half = 1 << 61
    weights = np.array([[half, half], [half + 120, half - 120], [half >> 1, half + (half >> 1)]])
    mechanism = Mechanism.from_weights(weights, 62)
    assert (mechanism.matrix[:2] == 0.5).all()
    d = np.array([[0.0, 1e-17, 1.0], [1e-17, 0.0, 1.0], [1.0, 1.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = MetricDifferentialPrivacy(Metric(d)).measure(mechanism)
    # Floats call the first two rows equal; that they differ by 120 units is much over 1e-17.
    assert found.value == pytest.approx(120 / half / 1e-17)


def test_refusals():
    with pytest.raises(InputError, match="delta"):
        MetricDifferentialPrivacy(TWINS, 1.5)
    with pytest.raises(InputError, match="metric is on 3"):
        MetricDifferentialPrivacy(TWINS).measure([[1.0]])


@pytest.mark.parametrize("far", [5e-324, 1e-310, 1e-160, 1e160, 1.7e308])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_distances_at_the_ends_of_the_floats(far, delta):
    mechanism = Mechanism([[0.5, 0.5], [0.25, 0.75], [0.25, 0.75]])
    metric = Metric([[0, far, far], [far, 0, 5e-324], [far, 5e-324, 0]])
    found = MetricDifferentialPrivacy(metric, delta).measure(mechanism)
    assert found.lower <= found.value <= found.upper
    at_one = MetricDifferentialPrivacy(Metric(1 - np.eye(3)), delta).measure(mechanism)
    assert found.lower <= at_one.upper / far
    assert found.upper >= at_one.lower / far


def directed_cases(count):
    """Yield asymmetric metrics and mechanisms in multiples of 2**-10."""
    rng = np.random.default_rng(21)
    for metric in directed_metrics(count, seed=21):
        rows = rng.multinomial(1024, rng.dirichlet(np.ones(int(rng.integers(2, 6)))), len(metric)) / 1024
        yield metric, Mechanism(rows, Space(range(len(metric))), Space(range(rows.shape[1])))


def test_an_asymmetric_metric_is_measured_by_each_ordered_pair_and_names_it():
    for metric, mechanism in directed_cases(100):
        finding = MetricDifferentialPrivacy(metric).measure(mechanism)
        rates = {(0, 0): 0.0}
        for s, t in np.argwhere(np.isfinite(metric.array) & ~np.eye(len(metric), dtype=bool)).tolist():
            for a, b in zip(mechanism.matrix[s].tolist(), mechanism.matrix[t].tolist(), strict=True):
                rate = (math.inf if b == 0 else math.log(a / b)) / metric.array[s, t] if a > 0 else -math.inf
                rates[s, t] = max(rates.get((s, t), 0.0), rate)
        assert finding.value == pytest.approx(max(rates.values()), rel=1e-12)
        if finding.value > 0 and not metric.symmetric:
            assert finding.witness.pair is not None
            assert rates[finding.witness.pair] == pytest.approx(finding.value, rel=1e-12)
            assert "from the first to the second" in finding.witness.note


def test_the_delta_of_an_asymmetric_metric_is_measured_by_each_ordered_pair():
    for metric, mechanism in directed_cases(40):
        rows, d = mechanism.matrix, metric.array
        pairs = np.argwhere(np.isfinite(d) & (d > 0)).tolist()
        expected = [float(Profile(rows[s], rows[t]).epsilon(0.1)) / d[s, t] for s, t in pairs]
        finding = MetricDifferentialPrivacy(metric, 0.1).measure(mechanism)
        assert finding.value == pytest.approx(max(0.0, *expected, 0.0), abs=1e-9)


def test_distance_zero_in_one_direction_needs_equal_rows():
    with pytest.warns(MetricWarning):
        metric = Metric([[0, 0], [3, 0]], symmetric=False)
    assert MetricDifferentialPrivacy(metric).measure([[0.5, 0.5], [0.5, 0.5]]).value == 0
    finding = MetricDifferentialPrivacy(metric).measure([[0.5, 0.5], [0.25, 0.75]])
    assert (finding.value, finding.witness.pair) == (math.inf, (0, 1))


def test_the_sentence_says_that_the_direction_counts():
    notion = MetricDifferentialPrivacy(Metric([[0, 1], [2, 0]], "km", symmetric=False))
    finding = notion.measure([[0.75, 0.25], [0.5, 0.5]])  # ln 2 over 2 km from the second to the first
    assert finding.value == pytest.approx(math.log(1.5))
    assert notion.sentence(finding.value).endswith("for A against B, the one from A to B counts.")
    assert (
        finding.witness.describe(Space("xy"), Space("pq"))
        == "x against y, report p, 1 km from the first to the second"
    )
