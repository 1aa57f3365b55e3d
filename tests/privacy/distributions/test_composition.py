import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric, MetricPrivacy
from sfumato.divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from sfumato.errors import InputError
from sfumato.privacy import (
    DeltaOfDifferentialPrivacy,
    DistributionPrivacy,
    DivergenceDistributionPrivacy,
    DivergenceMetricDistributionPrivacy,
    Family,
    FamilyDistance,
    MetricDistributionPrivacy,
    ProbabilisticDistributionPrivacy,
    Promise,
    Relation,
    independent_inputs,
    lifted_differential_privacy,
    lifted_divergence_privacy,
    lifted_metric_privacy,
    post_process,
    pre_process,
    product_channel,
    same_input,
    stability,
)

from ...catalogue import geometric, line, randomised_response, unused
from .families import beliefs, channels, coupled, excess, relations

SUMS = [KL, REVERSE_KL, TOTAL_VARIATION, HELLINGER, Renyi(0.5), Renyi(2.0), MaxDivergence()]
BITS = [np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]]]
XOR = Family({"equal": [0.5, 0.0, 0.0, 0.5], "unequal": [0.0, 0.5, 0.5, 0.0]})


def delta_of(matrix, relation, epsilon):
    return DeltaOfDifferentialPrivacy(epsilon, relation).measure(matrix).upper


def outer(first, second):
    """The joint law of two independent reports, flat."""
    return np.multiply.outer(first, second).ravel()


@given(st.data(), channels(grain=16), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@settings(max_examples=12)
def test_reports_about_one_secret_add_up_over_a_lifting(data, first, one, two):
    """The second mechanism reads the first report: one channel for each of its values."""
    second = [data.draw(channels(grain=16)) for _ in range(first.shape[1])]
    relation = data.draw(relations(4))
    family = Family.lift(data.draw(coupled(relation)), relation)
    assume(len(relation) > 0)
    deltas = delta_of(first, relation, one), max(delta_of(matrix, relation, two) for matrix in second)
    promises = [
        lifted_differential_privacy(epsilon, family, min(1.0, delta))
        for epsilon, delta in zip((one, two), deltas, strict=True)
    ]
    together = same_input(*promises)
    assert isinstance(together.notion, DistributionPrivacy)
    assert together.value == pytest.approx(one + two)
    assert together.notion.delta == pytest.approx(min(1.0, sum(deltas)))
    joint = product_channel(first, second).matrix
    for i, j in family.pairs:
        p, q = family.distributions[[i, j]] @ joint
        assert np.maximum(p - math.exp(together.value) * q, 0).sum() <= together.notion.delta + 1e-12


def test_reports_about_one_secret_do_not_add_up_for_any_pairs():
    """H5: each bit of two hides whether they are equal, perfectly; both reveal it."""
    promises = [Promise.of(DistributionPrivacy(XOR).measure(bit)) for bit in BITS]
    assert max(promise.value for promise in promises) < 1e-14
    with pytest.raises(InputError, match="together what each one hides") as refusal:
        same_input(*promises)
    assert "product_channel" in str(refusal.value)
    both = product_channel(*BITS)
    for delta in (0.0, 0.999):
        assert DistributionPrivacy(XOR, delta).measure(both).value == math.inf
    # The pair is in the lifting of all pairs: that the family was lifted is not enough.
    lifted = Family.lift(XOR.distributions, Relation.all(4))
    with pytest.raises(InputError, match="known for the pairs of its family only"):
        same_input(*(Promise.of(DistributionPrivacy(lifted).measure(bit)) for bit in BITS))
    # About two secrets, drawn independently, they do add up.
    assert independent_inputs(*promises).value < 1e-14


def test_liftings_of_different_relations_do_not_compose():
    """Each bit hides the secrets that differ in the other bit; equal and unequal bits are in both liftings."""
    secrets = [(0, 0), (0, 1), (1, 0), (1, 1)]
    differ = [
        np.array([[s[k] != t[k] and s[1 - k] == t[1 - k] for t in secrets] for s in secrets]) for k in (0, 1)
    ]
    promises = [
        lifted_differential_privacy(0.0, Family.lift(XOR.distributions, Relation(differ[1 - k]))) for k in (0, 1)
    ]
    for promise, bit in zip(promises, BITS, strict=True):
        assert promise.notion.measure(bit).value == 0.0
    with pytest.raises(InputError, match="different relations"):
        same_input(*promises)
    hops = [Metric(np.where(one, 1.0, np.where(np.eye(4, dtype=bool), 0.0, 9.0))) for one in differ]
    apart = [lifted_metric_privacy(MetricPrivacy(0.1, d), XOR) for d in hops]
    with pytest.raises(InputError, match="different relations"):
        same_input(*apart)


def test_a_measured_promise_for_all_point_masses_composes():
    relation = Relation(line(3) == 1, "neighbours")
    matrix = geometric(3, 0.5)
    rows = np.vstack([[0.5, 0.5, 0.0], [0.1 + 0.2, 0.2, 0.5], np.eye(3)])
    family = Family.lift(rows, relation)
    promise = Promise.of(DistributionPrivacy(family, 0.0).measure(matrix))
    both = same_input(promise, promise)
    assert both.everywhere
    assert both.value == pytest.approx(1.0)
    assert "docs/proofs/distribution-privacy.md#points" in str(both.reasons[1])
    assert both.notion.measure(product_channel(matrix, matrix)).value <= both.value + 1e-12
    distance = FamilyDistance.wasserstein(family, Metric(line(3)))
    everything = Family(np.eye(3))
    points = FamilyDistance.wasserstein(everything, Metric(line(3)))
    metric = Promise.of(MetricDistributionPrivacy(everything, points).measure(matrix))
    assert same_input(metric, metric).value == pytest.approx(1.0)
    in_family = Promise.of(MetricDistributionPrivacy(family, distance).measure(matrix))
    with pytest.raises(InputError, match="only"):
        same_input(in_family, in_family)  # the family does not compare secrets 0 and 2
    earth = FamilyDistance.wasserstein(everything, Metric(line(3)), 1.0)
    by_kl = Promise.of(DivergenceMetricDistributionPrivacy(everything, KL, earth).measure(matrix))
    assert same_input(by_kl, by_kl).value == pytest.approx(2 * by_kl.value)
    average = Promise.of(MetricDistributionPrivacy(everything, earth).measure(matrix))
    with pytest.raises(InputError, match="only"):
        same_input(average, average)  # max divergence lifts to the largest step, not to the average one


@given(st.data(), channels(positive=True), channels(positive=True))
@settings(max_examples=12)
def test_metric_distribution_privacy_adds_up(data, first, second):
    rows = data.draw(beliefs(count=2))
    assume((rows[0] != rows[1]).any())
    ground = Metric(line(4))

    def tight(matrix):
        logs = np.log(matrix[:, :3])
        worst = max((logs[s] - logs[t]).max() / line(4)[s, t] for s in range(4) for t in range(4) if s != t)
        return MetricPrivacy(worst * (1 + 1e-12) + 1e-12, ground)

    promises = [lifted_metric_privacy(tight(matrix), Family(rows)) for matrix in (first, second)]
    same = same_input(*promises)
    assert same.notion.measure(product_channel(first, second)).value <= same.value + 1e-9
    apart = independent_inputs(*promises)
    assert apart.value == same.value
    assert isinstance(apart.notion, MetricDistributionPrivacy)
    laws = np.array([outer(row @ first, row @ second) for row in rows])
    for i, j in ((0, 1), (1, 0)):
        bound = apart.value * apart.notion.distance.array[i, j]
        assert np.maximum(laws[i] - math.exp(bound) * laws[j], 0).sum() <= 1e-12


@given(channels(grain=16), channels(grain=16), beliefs(count=2), st.sampled_from([0.0, 0.05, 0.3]))
@settings(max_examples=12)
def test_reports_about_independent_secrets_add_up_for_any_pairs(first, second, rows, delta):
    family = Family(rows)
    found = [DistributionPrivacy(family, delta).measure(matrix) for matrix in (first, second)]
    assume(all(math.isfinite(one.upper) for one in found))
    together = independent_inputs(*(Promise.of(one) for one in found))
    assert isinstance(together.notion, DistributionPrivacy)
    laws = [outer(row @ first, row @ second) for row in rows]
    for p, q in (laws, laws[::-1]):
        assert np.maximum(p - math.exp(together.value) * q, 0).sum() <= together.notion.delta + 1e-12


@given(st.data(), channels(grain=16), st.sampled_from([*SUMS, CHI_SQUARED]))
@settings(max_examples=12)
def test_divergences_that_compose(data, first, divergence):
    """For one secret, the second reading the first report, and for independent secrets."""
    second = [data.draw(channels(grain=16)) for _ in range(first.shape[1])]
    relation = data.draw(relations(4))
    family = Family.lift(data.draw(coupled(relation)), relation, tolerance=0.0)

    def worst(matrix):
        return max([0.0] + [divergence(matrix[s], matrix[t]) for s, t in relation.pairs])

    values = worst(first), max(worst(matrix) for matrix in second)
    assume(all(math.isfinite(value) for value in values))
    together = same_input(*(lifted_divergence_privacy(value, divergence, family) for value in values))
    joint = product_channel(first, second).matrix
    for i, j in family.pairs:
        p, q = family.distributions[[i, j]] @ joint
        assert divergence(p, q) <= together.value + 1e-9
    grown = values[0] * values[1] if divergence == CHI_SQUARED else 0.0
    assert together.value == pytest.approx(sum(values) + grown)
    found = [DivergenceDistributionPrivacy(family, divergence).measure(matrix) for matrix in (first, second[0])]
    assume(all(math.isfinite(one.upper) for one in found))
    independent = independent_inputs(*(Promise.of(one) for one in found))
    for i, j in family.pairs:
        p, q = (outer(row @ first, row @ second[0]) for row in family.distributions[[i, j]])
        assert divergence(p, q) <= independent.value + 1e-9


def test_chi_square_does_not_add_up():
    matrix, family = np.array([[0.75, 0.25], [0.25, 0.75]]), Family(np.eye(2))
    single = Promise.of(DivergenceDistributionPrivacy(family, CHI_SQUARED).measure(matrix))
    laws = [outer(row, row) for row in matrix]
    assert CHI_SQUARED(laws[0], laws[1]) > 2 * single.value + 0.1
    assert CHI_SQUARED(laws[0], laws[1]) == pytest.approx(independent_inputs(single, single).value)


@settings(max_examples=15)
@given(channels(), beliefs(count=2), st.sampled_from([0.0, 0.1]), st.data())
def test_post_processing_keeps_promises(matrix, rows, delta, data):
    after = data.draw(channels(secrets=4))
    family = Family(rows)
    distance = FamilyDistance.wasserstein(family, Metric(line(4)))
    notions = [
        DistributionPrivacy(family, delta),
        MetricDistributionPrivacy(family, distance, delta),
        *(DivergenceDistributionPrivacy(family, one) for one in [*SUMS, CHI_SQUARED, HockeyStick(0.2)]),
    ]
    for notion in notions:
        found = notion.measure(matrix)
        if math.isfinite(found.upper):
            promise = post_process(Promise.of(found))
            assert promise.notion.measure(matrix @ after).value <= promise.value + 1e-9


def test_post_processing_breaks_probabilistic_distribution_privacy():
    family = Family(np.eye(2), [("0", "1")])
    matrix = np.array([[0.1, 0.0, 0.1, 0.8], [0.0, 0.1, 0.1, 0.8]])
    merged = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    notion = ProbabilisticDistributionPrivacy(family, 0.1)
    found = notion.measure(matrix)
    assert found.value == 0.0
    assert notion.measure(matrix @ merged).value == pytest.approx(math.log(2))
    with pytest.raises(InputError, match="post-processing can break it"):
        post_process(Promise.of(notion.measure(geometric(3, 1.0)[:2])))


@given(st.data(), channels(), st.sampled_from([0.0, 0.3, 0.8]))
@settings(max_examples=12)
def test_pre_processing_by_steps_of_a_lifted_relation(data, matrix, epsilon):
    relation = data.draw(st.sampled_from([Relation(line(4) == 1), Relation(np.triu(line(4) == 1))]))
    transform = data.draw(channels(secrets=3, reports=5, grain=8))[:, :4]
    rows = data.draw(beliefs(size=3, count=2))
    source = Family(rows, [("0", "1")])
    delta = min(1.0, delta_of(matrix, relation, epsilon))
    promise = lifted_differential_privacy(epsilon, Family.of_points(relation), delta)
    steps = stability(source, transform, Family.of_points(relation), everywhere=True).steps
    if math.isinf(steps):
        with pytest.raises(InputError, match="no steps"):
            pre_process(promise, source, transform)
        return
    implied = pre_process(promise, source, transform)
    assert isinstance(implied.notion, DistributionPrivacy)
    wanted = min(1.0, delta * sum(math.exp(k * epsilon) for k in range(int(steps))))
    assert implied.value == pytest.approx(steps * epsilon, abs=1e-12)
    assert implied.notion.delta == pytest.approx(wanted)
    p, q = rows @ transform @ matrix
    assert excess(p, q, implied.value) <= implied.notion.delta + 1e-12


@settings(max_examples=15)
@given(channels(), beliefs(count=3), st.sampled_from([0.0, 0.1]))
def test_pre_processing_by_steps_of_a_family(matrix, rows, delta):
    """The images of the source are members; two steps lead from the first to the last."""
    family = Family({"a": rows[0], "b": rows[1], "c": rows[2]}, [("a", "b"), ("b", "c")])
    found = DistributionPrivacy(family, delta).measure(matrix)
    assume(math.isfinite(found.upper) and len({tuple(row) for row in rows}) == 3)
    source = Family({"first": [1.0, 0.0], "last": [0.0, 1.0]}, [("first", "last")])
    implied = pre_process(Promise.of(found), source, rows[[0, 2]])
    assert implied.value == pytest.approx(2 * found.upper)
    assert "c = 2" in str(implied.reasons[-1])
    p, q = rows[[0, 2]] @ matrix
    assert excess(p, q, implied.value) <= implied.notion.delta + 1e-12  # type: ignore[attr-defined]


def test_more_delta_is_needed_after_more_steps():
    """The sum of the delta over c steps is attained: a chain of secrets, each told from the next by delta."""
    matrix, delta = np.array([[0.3, 0.7], [0.2, 0.8], [0.1, 0.9]]), 0.1
    promise = lifted_differential_privacy(0.0, Family.of_points(Relation(line(3) == 1)), delta)
    source = Family(np.eye(2), [("0", "1")])
    implied = pre_process(promise, source, np.eye(3)[[0, 2]])
    assert isinstance(implied.notion, DistributionPrivacy)
    assert implied.notion.delta == pytest.approx(0.2)
    assert excess(matrix[0], matrix[2], 0.0) == pytest.approx(0.2)


@given(st.data(), channels(positive=True), st.sampled_from([0.0, 0.05]))
@settings(max_examples=12)
def test_pre_processing_of_metric_distribution_privacy(data, matrix, delta):
    rows = data.draw(beliefs(size=3, count=2))
    transform = data.draw(channels(secrets=3, reports=5, grain=8))[:, :4]
    assume((rows[0] != rows[1]).any())
    points = Family(np.eye(4))
    ground = FamilyDistance.wasserstein(points, Metric(line(4)))
    promise = Promise.of(MetricDistributionPrivacy(points, ground, delta).measure(matrix))
    source = Family(rows)
    distance = FamilyDistance.wasserstein(source, Metric(2 * line(3)))
    implied = pre_process(promise, source, transform, distance)
    assert isinstance(implied.notion, MetricDistributionPrivacy)
    assert implied.notion.delta == pytest.approx(delta)
    assert implied.value <= 3 * promise.value / 2 + 1e-12  # the images are at most 3 apart, the sources at least 2
    laws = rows @ transform @ matrix
    for i, j in source.pairs:
        bound = implied.value * distance.array[i, j]
        assert excess(laws[i], laws[j], bound) <= implied.notion.delta + 1e-12
    with pytest.raises(InputError, match="without a distance"):
        pre_process(promise, source, transform)


def test_pre_processing_of_members_at_given_distances():
    family = Family({"a": [0.5, 0.5], "b": [0.25, 0.75], "c": [1.0, 0.0]})
    distance = FamilyDistance([[0, 1, 2], [1, 0, 4], [2, 4, 0]], "km")
    promise = Promise.of(MetricDistributionPrivacy(family, distance).measure([[0.75, 0.25], [0.25, 0.75]]))
    source = Family(np.eye(2))
    implied = pre_process(promise, source, family.distributions[[0, 2]], FamilyDistance(4.0 * line(2), "km"))
    assert implied.value == pytest.approx(promise.value / 2)
    with pytest.raises(InputError, match="no c is enough"):
        pre_process(promise, source, family.distributions[[0, 2]], FamilyDistance(0.0 * line(2), "km"))
    with pytest.raises(InputError, match="is not a distribution of the family"):
        pre_process(promise, source, [[0.5, 0.5], [0.9, 0.1]], FamilyDistance(line(2), "km"))


def test_the_product_is_exact():
    first, second = Mechanism(randomised_response(3, 1.0)), Mechanism(unused(geometric(3, 0.5)))
    both = product_channel(first, second)
    assert both.bits == 126
    exactly = [int(a) * int(b) * 4 for a in first.weights[1] for b in second.weights[1]]
    assert both.weights[1].tolist() == exactly
    assert both.observables.labels[5] == (1, 1)
    fine = product_channel(both, first)
    assert fine.matrix == pytest.approx(
        np.hstack([both.matrix[:, [o]] * first.matrix for o in range(12)]), rel=1e-9
    )


def test_refusals():
    family, other = Family.of_points(Relation.all(2)), Family(np.eye(2), [("0", "1")])
    coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    one = Promise.of(DistributionPrivacy(family).measure(coin))
    with pytest.raises(InputError, match="different families"):
        independent_inputs(one, Promise.of(DistributionPrivacy(other).measure(coin)))
    with pytest.raises(InputError, match="not known to compose"):
        same_input(one, Promise.of(DivergenceDistributionPrivacy(family, KL).measure(coin)))
    stick = Promise.of(DivergenceDistributionPrivacy(family, HockeyStick(0.1)).measure(coin))
    with pytest.raises(InputError, match="do not add up"):
        independent_inputs(stick, stick)
    near, far = (FamilyDistance(scale * line(2)) for scale in (1.0, 2.0))
    metric = [Promise.of(MetricDistributionPrivacy(family, d).measure(coin)) for d in (near, far)]
    with pytest.raises(InputError, match="distances differ"):
        independent_inputs(*metric)
    with pytest.raises(InputError, match="only"):
        same_input(metric[0], metric[0])  # a given distance says nothing of other distributions
    with pytest.raises(InputError, match="second mechanisms"):
        product_channel(coin, [np.eye(2)])
    with pytest.raises(InputError, match="the second 3"):
        product_channel(coin, np.eye(3))
    with pytest.raises(InputError, match="3 outputs"):
        pre_process(one, family, np.eye(2, 3))
    with pytest.raises(InputError, match="with a distance"):
        pre_process(one, family, coin, near)
    with pytest.raises(InputError, match="between 3"):
        pre_process(metric[0], family, coin, FamilyDistance(line(3)))
    with pytest.raises(InputError, match="not lifted"):
        stability(family, coin, other, everywhere=True)

    class Unknown(Divergence):
        @property
        def name(self):
            return "unknown divergence"

        def _divergences(self, p, q):
            return np.abs(p - q).max(axis=-1)

    finding = DivergenceDistributionPrivacy(family, Unknown()).measure(coin)
    assert finding.upper == math.inf  # nothing is known of its rounding
    promise = Promise(finding.notion, finding.value, one.reasons)
    with pytest.raises(InputError, match="unknown divergence"):
        post_process(promise)
