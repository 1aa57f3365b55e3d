import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric, Prior, Space
from sfumato.divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    FDivergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from sfumato.errors import InputError
from sfumato.privacy import (
    DifferentialPrivacy,
    DistributionPrivacy,
    DivergenceDistributionPrivacy,
    DivergenceMetricDistributionPrivacy,
    Family,
    FamilyDistance,
    MetricDistributionPrivacy,
    ProbabilisticDistributionPrivacy,
    Relation,
    bayes_factors,
)
from sfumato.proofs import FamilyPrivacy
from sfumato.transport import lifting, wasserstein

from ...catalogue import CASES, line
from .families import beliefs, channels, coupled, events, least_epsilon, relations

DELTAS = st.sampled_from([0.0, 1e-9, 0.05, 0.3, 1.0])
TRIANGULAR = FDivergence("triangular", lambda t: (t - 1) ** 2 / (t + 1), 1.0, 1.0)
DIVERGENCES = [KL, REVERSE_KL, TOTAL_VARIATION, CHI_SQUARED, HELLINGER, HockeyStick(0.3), Renyi(2.0), TRIANGULAR]


@settings(max_examples=15)
@given(channels(), beliefs(count=3), DELTAS)
def test_distribution_privacy_by_all_events(matrix, rows, delta):
    found = DistributionPrivacy(Family(rows), delta).measure(matrix)
    lifted = rows @ matrix
    by_events = [least_epsilon(lifted[i], lifted[j], delta) for i in range(3) for j in range(3) if i != j]
    assert found.lower <= max(by_events) + 1e-9
    assert found.upper >= max(by_events) - 1e-12
    if not math.isinf(found.rounding):
        assert found.value == pytest.approx(max(by_events), abs=1e-9)
    assert found.witness.pair is not None
    i, j = found.witness.pair
    if 0 < found.value < math.inf:
        outputs = found.witness.outputs
        p, q = lifted[i][outputs].sum(), lifted[j][outputs].sum()
        assert math.log((p - delta) / q) == pytest.approx(found.value, abs=1e-6)


@settings(max_examples=15)
@given(channels(positive=True), beliefs(count=2), st.floats(0.0, 0.5))
def test_the_upper_value_is_enough_and_the_lower_one_is_not(matrix, rows, delta):
    found = DistributionPrivacy(Family(rows), delta).measure(matrix)
    lifted = rows @ matrix

    def needed(epsilon):
        return max(np.maximum(lifted[i] - math.exp(epsilon) * lifted[j], 0).sum() for i, j in [(0, 1), (1, 0)])

    assert needed(found.upper) <= delta + 1e-15
    assert found.lower == 0 or needed(found.lower) >= delta - 1e-15
    assert found.rounding < 1e-6 or math.isinf(found.rounding) or delta > 0


@settings(max_examples=15)
@given(channels(), beliefs(count=2), DELTAS)
def test_probabilistic_distribution_privacy_by_all_events(matrix, rows, delta):
    """The least epsilon such that some set V of reports can be set aside, by trying every V."""
    found = ProbabilisticDistributionPrivacy(Family(rows), delta).measure(matrix)
    p, q = rows @ matrix
    best = math.inf
    for aside in [[], *events(len(p))]:
        if max(p[aside].sum(), q[aside].sum()) <= delta:
            rest = [y for y in range(len(p)) if y not in aside and (p[y] > 0 or q[y] > 0)]
            with np.errstate(divide="ignore"):
                best = min(best, max([0.0] + [float(abs(np.log(p[y]) - np.log(q[y]))) for y in rest]))
    assert found.value == pytest.approx(best, abs=1e-12)
    assert found.upper >= best - 1e-12
    # It implies distribution privacy with the same values, and for delta = 0 it is the same.
    weaker = DistributionPrivacy(Family(rows), delta).measure(matrix)
    assert weaker.value <= found.value + 1e-12
    if delta == 0:
        assert weaker.value == pytest.approx(found.value, abs=1e-12)


def test_distribution_privacy_does_not_imply_the_probabilistic_one():
    family = Family([[1.0, 0.0], [0.0, 1.0]])
    matrix = [[0.5, 0.5], [0.4, 0.6]]
    assert DistributionPrivacy(family, 0.1).measure(matrix).value == pytest.approx(0.0, abs=1e-9)
    assert ProbabilisticDistributionPrivacy(family, 0.1).measure(matrix).value == pytest.approx(math.log(1.25))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_point_masses_give_differential_privacy(case):
    """A.5.4: distribution privacy of point masses is differential privacy; metric privacy likewise."""
    size = len(case.mechanism.secrets)
    if size == 1:
        return
    everyone = Family.of_points(Relation.all(size))
    for delta in (0.0, 0.1):
        ours = DistributionPrivacy(everyone, delta).measure(case.mechanism)
        theirs = DifferentialPrivacy(Relation.all(size), delta).measure(case.mechanism)
        assert ours.value == pytest.approx(theirs.value, abs=1e-12)
    distance = FamilyDistance.wasserstein(everyone, case.metric)
    found = MetricDistributionPrivacy(everyone, distance).measure(case.mechanism)
    assert found.value == pytest.approx(case.epsilon, rel=1e-6)
    assert found.upper >= found.value
    assert found.sentence


@settings(max_examples=15)
@given(channels(), beliefs(count=3))
def test_metric_distribution_privacy_is_the_largest_quotient(matrix, rows):
    family = Family(rows)
    distance = FamilyDistance.wasserstein(family, Metric(line(4)))
    found = MetricDistributionPrivacy(family, distance).measure(matrix)
    wanted = 0.0
    for i, j in family.pairs:
        value = least_epsilon(rows[i] @ matrix, rows[j] @ matrix)
        apart = wasserstein(rows[i], rows[j], line(4), np.inf).distance.value
        if value > 1e-12:
            wanted = max(wanted, value / apart if apart else math.inf)
    assert found.value == pytest.approx(wanted, abs=1e-9)
    assert found.upper >= wanted - 1e-12


def test_wasserstein_distances_over_an_asymmetric_metric_have_a_direction():
    ground = Metric([[0, 1], [3, 0]], symmetric=False)
    family = Family({"low": [0.75, 0.25], "high": [0.25, 0.75]})  # half of the mass moves one step
    for order, distances in ((1, (0.5, 1.5)), (math.inf, (1, 3))):
        array = FamilyDistance.wasserstein(family, ground, order).array
        np.testing.assert_allclose([array[0, 1], array[1, 0]], distances)
    notion = MetricDistributionPrivacy.wasserstein(family, ground)
    assert notion.measure([[0.75, 0.25], [0.5, 0.5]]).value == pytest.approx(math.log(11 / 9))


def test_pairs_at_distance_zero_need_the_same_reports():
    towns = np.array([[0.7, 0.3], [0.7, 0.3], [0.1, 0.9]])
    ground = Metric([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    family = Family([[0.125, 0.625, 0.25], [0.5, 0.25, 0.25]])
    distance = FamilyDistance.wasserstein(family, ground)
    for mechanism in (towns, Mechanism(towns)):
        found = MetricDistributionPrivacy(family, distance).measure(mechanism)
        assert found.value == 0.0
        assert found.upper == pytest.approx(0.0, abs=1e-300)
        by_kl = DivergenceMetricDistributionPrivacy(family, KL, distance).measure(mechanism)
        assert by_kl.upper == pytest.approx(0.0, abs=1e-300)
    slightly = towns + np.array([[1e-14, -1e-14], [0, 0], [0, 0]])
    assert MetricDistributionPrivacy(family, distance).measure(slightly).value == math.inf
    # Tenths are not exact in binary: strictly, some mass has to go from one town to the other.
    rounded = Family([[0.1, 0.7, 0.2], [0.6, 0.2, 0.2]])
    strict = FamilyDistance.wasserstein(rounded, ground, tolerance=0.0)
    assert strict.array[0, 1] == 1.0
    assert MetricDistributionPrivacy(rounded, strict).measure(towns).upper < 1e-14


@settings(max_examples=15)
@given(channels(), beliefs(count=3), st.sampled_from(DIVERGENCES))
def test_divergence_versions_by_their_definition(matrix, rows, divergence):
    family = Family(rows)
    lifted = rows @ matrix
    values = {(i, j): divergence(lifted[i], lifted[j]) for i, j in family.pairs}
    found = DivergenceDistributionPrivacy(family, divergence).measure(matrix)
    assert found.value == max(values.values())
    assert found.lower <= found.value <= found.upper
    distance = FamilyDistance(1.0 + np.arange(9.0).reshape(3, 3), "km")
    metric = DivergenceMetricDistributionPrivacy(family, divergence, distance).measure(matrix)
    assert metric.value == pytest.approx(max(v / distance.array[pair] for pair, v in values.items()))
    assert metric.upper >= metric.value
    assert divergence.name in found.sentence


def in_long_doubles(divergence, p, q):
    t = p / q
    return {
        "KL divergence": lambda: (p * np.log(t) - p + q).sum(),
        "reverse KL divergence": lambda: (q * np.log(q / p) - q + p).sum(),
        "total variation": lambda: np.abs(p - q).sum() / 2,
        "chi-square divergence": lambda: ((p - q) ** 2 / q).sum(),
        "squared Hellinger distance": lambda: ((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2,
        HockeyStick(0.3).name: lambda: np.maximum(p - np.exp(np.longdouble(0.3)) * q, 0).sum(),
        "triangular": lambda: (q * (t - 1) ** 2 / (t + 1)).sum(),
        Renyi(2.0).name: lambda: np.log((p * t).sum()),
        Renyi(0.5).name: lambda: -2 * np.log(np.sqrt(p * q).sum()),
        Renyi(1.0).name: lambda: (p * np.log(t) - p + q).sum(),
        Renyi(math.inf).name: lambda: np.log(t).max(),
        "max divergence": lambda: np.log(t).max(),
    }[divergence.name]()


@pytest.mark.parametrize("divergence", [*DIVERGENCES, Renyi(0.5), Renyi(1.0), Renyi(math.inf), MaxDivergence()])
def test_rounding_covers_the_value_in_many_digits(divergence):
    """The same divergence with lifted rows and logarithms in long doubles."""
    generator = np.random.default_rng(5)
    for _ in range(20):
        matrix = generator.dirichlet(np.ones(30) / 2, 40)
        matrix = np.maximum(matrix, 1e-12)
        matrix /= matrix.sum(axis=1, keepdims=True)
        rows = generator.dirichlet(np.ones(40), 2)
        found = DivergenceDistributionPrivacy(Family(rows, [("0", "1")]), divergence).measure(matrix)
        p, q = (np.asarray(rows, dtype=np.longdouble) @ np.asarray(matrix, dtype=np.longdouble)).astype(
            np.longdouble
        )
        truth = in_long_doubles(divergence, p, q)
        assert abs(float(truth) - found.value) <= found.rounding < 1e-11


def test_families():
    space = Space(["a", "b", "c"])
    north, south = Prior(space, [0.5, 0.5, 0.0]), Prior(space, [0.0, 0.5, 0.5])
    family = Family({"north": north, "south": south}, [("north", "south")])
    assert family.pairs.tolist() == [[0, 1]]
    assert family.position("south") == 1
    assert str(family) == "the ordered pair of distributions north and south"
    near = Relation(line(3) == 1, "neighbours")
    lifted = Family.lift({"north": north, "south": south}, near)
    assert len(lifted.pairs) == len(lifted.outside) == 2
    assert lifted.outside.tolist() == [0.0, 0.0]
    assert "neighbours" in repr(lifted)
    one = MetricDistributionPrivacy(family, FamilyDistance.wasserstein(family, Metric(line(3), "km"), 1))
    assert one.distance.array[0, 1] == pytest.approx(1.0)
    assert one.distance.lower[0, 1] <= 1.0 <= one.distance.array[0, 1]
    assert "in km" in one.sentence(0.5)


@settings(max_examples=15)
@given(st.data())
def test_lifted_families_keep_exactly_the_pairs_with_a_coupling(data):
    relation = data.draw(relations(4))
    first, second = data.draw(coupled(relation))
    third = data.draw(beliefs(count=1))[0]
    rows = [first, second, third]
    reflexive = relation.array | np.eye(4, dtype=bool)
    inside = {(i, j) for i in range(3) for j in range(3) if i != j and lifting(reflexive, rows[i], rows[j]).holds}
    assert (0, 1) in inside
    family = Family.lift(rows, relation)
    assert {tuple(pair) for pair in family.pairs.tolist()} == inside
    for k, (i, j) in enumerate(family.pairs):
        coupling = family.coupling(k)
        assert coupling.mass_outside(reflexive) <= 1e-12
        assert coupling.first == pytest.approx(rows[i])
        assert coupling.second == pytest.approx(rows[j])


def test_optimal_lifting_keeps_fewer_pairs():
    far = Relation(np.array([[False, False, True], [False, False, False], [False, False, False]]))
    rows = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    assert Family.lift(rows, far).pairs.tolist() == [[0, 1]]
    best = Family.lift_optimally(rows, far, line(3), 1.0)
    assert best.pairs.tolist() == [[0, 1]]
    assert best.coupling(0).joint[0, 2] == 0.5
    with pytest.raises(InputError, match="not lifted"):
        Family(rows).coupling(0)
    with pytest.raises(InputError, match="no pair"):
        Family.lift_optimally(rows, far, line(3), 2.0)


@settings(max_examples=15)
@given(channels(positive=True), beliefs(count=2), st.floats(0.1, 10))
def test_bayes_factors_move_the_odds(matrix, rows, odds):
    found = bayes_factors(matrix, rows[0], rows[1])
    p, q = rows @ matrix
    used = p + q > 0
    after = odds * p[used] / q[used]
    low, high = found.posterior_odds(odds)
    assert after.min() == pytest.approx(low)
    assert after.max() == pytest.approx(high)
    epsilon = DistributionPrivacy(Family(rows)).measure(matrix)
    assert found.epsilon_upper >= epsilon.value
    assert found.epsilon_upper == pytest.approx(epsilon.upper, abs=1e-12)
    assert (after <= odds * math.exp(found.epsilon_upper)).all()
    assert abs(found.logs[found.worst]) == pytest.approx(epsilon.value, abs=1e-12)


@settings(max_examples=15)
@given(channels(), beliefs(count=2), st.sampled_from([0.0, 0.1, 0.4]))
def test_bayes_factors_stay_bounded_but_for_rare_reports(matrix, rows, delta):
    found = ProbabilisticDistributionPrivacy(Family(rows), delta).measure(matrix)
    factors = bayes_factors(matrix, rows[0], rows[1])
    assert max(factors.masses_beyond(found.value + 1e-12)) <= delta + 1e-12
    assert found.value < 1e-9 or max(factors.masses_beyond(min(found.value, 1e3) - 1e-9)) > delta


def test_certain_odds_stay_certain():
    found = bayes_factors(np.eye(2), [1.0, 0.0], [0.5, 0.5])
    assert found.range == (0.0, 2.0)
    assert found.posterior_odds(0.0) == (0.0, 0.0)
    assert found.posterior_odds(math.inf) == (math.inf, math.inf)
    assert bayes_factors(np.eye(2), [0.5, 0.5], [1.0, 0.0]).range == (0.5, math.inf)


def test_refusals():
    pair = [[0.5, 0.5], [0.25, 0.75]]
    refused: list[tuple[Any, str]] = [
        (([[1.0]],), "family of 1"),
        (([[0.5, 0.5], [1.0]],), "secrets"),
        (([[0.5, 0.6], [1.0, 0.0]],), "sum 1.1"),
        ((pair, [("0", "2")]), "'2'"),
        ((pair, [("0", "0")]), "itself"),
        ((pair, []), "empty"),
    ]
    for arguments, words in refused:
        with pytest.raises(InputError, match=words):
            Family(*arguments)
    family = Family(pair)
    with pytest.raises(InputError, match="delta"):
        DistributionPrivacy(family, 1.5)
    with pytest.raises(InputError, match="2 secrets, but the mechanism has 3"):
        DistributionPrivacy(family).measure(np.eye(3))
    with pytest.raises(InputError, match="3 distributions"):
        MetricDistributionPrivacy(family, line(3))
    with pytest.raises(InputError, match="shape 1 x 2"):
        FamilyDistance([[1.0, 2.0]])
    with pytest.raises(InputError, match="3 secrets"):
        Family.lift(pair, Relation.all(3))
    with pytest.raises(InputError, match="max divergence"):
        DivergenceDistributionPrivacy(family, MaxDivergence(0.1)).measure(np.eye(2))
    with pytest.raises(InputError, match="below 1e-280"):
        DistributionPrivacy(Family([[1.0, 0.0], [1.0, 1e-300]])).measure(np.eye(2))
    with pytest.raises(InputError, match="odds"):
        bayes_factors(np.eye(2), pair[0], pair[1]).posterior_odds(-1.0)
    with pytest.raises(InputError, match="epsilon"):
        bayes_factors(np.eye(2), pair[0], pair[1]).masses_beyond(math.nan)


def test_distributions_of_other_orders_or_of_one_name_are_refused():
    here, there = Space("abc"), Space("cba")
    rows = [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]
    family, same = Family([Prior(there, row) for row in rows]), cast("Any", {1: rows[0], "1": rows[1]})
    mechanism = Mechanism(np.full((3, 2), 0.5), here)
    with pytest.raises(InputError, match="in another order"):
        DistributionPrivacy(family).measure(mechanism)
    with pytest.raises(InputError, match="in another order"):
        mechanism.promising(FamilyPrivacy(0.5, DistributionPrivacy(family)))
    with pytest.raises(InputError, match="in another order"):
        Family([Prior(here, rows[0]), Prior(there, rows[1])])
    with pytest.raises(InputError, match="same name"):
        Family(same)
    assert DistributionPrivacy(Family([Prior(here, row) for row in rows])).measure(mechanism).upper == 0


def test_the_name_of_a_distance_is_escaped_in_every_sentence():
    family = Family({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    notion = MetricDistributionPrivacy(family, FamilyDistance([[0, 1], [1, 0]], name="far\x1b[2J"))
    assert not any("\x1b" in notion.sentence(value) for value in (0.5, math.inf))
