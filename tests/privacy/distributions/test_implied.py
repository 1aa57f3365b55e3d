import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.core import Metric, MetricPrivacy
from sfumato.divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    FDivergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from sfumato.errors import InputError
from sfumato.privacy import (
    DifferentialPrivacy,
    DistributionPrivacy,
    Family,
    MetricDistributionPrivacy,
    ProbabilisticDistributionPrivacy,
    Promise,
    Relation,
    lifted_differential_privacy,
    lifted_divergence_privacy,
    lifted_metric_privacy,
    privacy_of_points,
)

from ...catalogue import geometric, line, randomised_response, unused
from .families import beliefs, channels, coupled, excess, least_delta, relations

FIVE = [KL, REVERSE_KL, TOTAL_VARIATION, CHI_SQUARED, HELLINGER]
TRIANGULAR = FDivergence("triangular", lambda t: (t - 1) ** 2 / (t + 1), 1.0, 1.0)


@settings(max_examples=15)
@given(st.data(), channels(), st.floats(0.0, 1.5))
def test_lifting_keeps_delta(data, matrix, epsilon):
    """A.5.1, tight: by all events, with no factor of the size of the relation."""
    relation = data.draw(relations(4))
    family = Family.lift(data.draw(coupled(relation)), relation)
    delta = min(1.0, least_delta(matrix, relation.pairs, epsilon))
    promise = lifted_differential_privacy(epsilon, family, delta)
    assert isinstance(promise.notion, DistributionPrivacy)
    assert promise.notion.delta == delta  # the couplings of these distributions are exact
    lifted = family.distributions @ matrix
    for i, j in family.pairs:
        assert excess(lifted[i], lifted[j], epsilon) <= delta + 1e-12
    assert promise.notion.measure(matrix).value <= epsilon + 1e-9


def test_the_factor_of_the_published_bound_is_unnecessary():
    """H4: with all pairs of 20 secrets the published delta is vacuous; the lifted one is attained."""
    matrix, relation = unused(randomised_response(20, 2.0)), Relation.all(20)
    epsilon = 1.5
    delta = least_delta_of_pair(matrix[0], matrix[1], epsilon)
    rows = [np.eye(20)[0], np.eye(20)[1], np.full(20, 0.05), np.r_[np.full(10, 0.1), np.zeros(10)]]
    family = Family.lift(rows, relation)
    promise = lifted_differential_privacy(epsilon, family, delta)
    assert isinstance(promise.notion, DistributionPrivacy)
    assert promise.notion.delta == pytest.approx(delta, abs=1e-12)
    assert delta * len(relation) > 1.0
    found = promise.notion.measure(matrix)
    assert found.value == pytest.approx(epsilon, abs=1e-9)  # tight: attained by the point masses
    assert found.witness.pair in {(0, 1), (1, 0)}


def least_delta_of_pair(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def test_mass_outside_the_relation_is_added_to_delta():
    same = Relation(np.zeros((2, 2), dtype=bool), "equal secrets")
    family = Family.lift([[0.3, 0.7], [0.1 + 0.2, 0.7]], same)
    assert 0 < family.outside.max() < 1e-15
    promise = lifted_differential_privacy(0.0, family, 0.0)
    assert isinstance(promise.notion, DistributionPrivacy)
    assert promise.notion.delta == family.outside.max()
    assert promise.notion.measure(np.eye(2)).value <= 1e-9
    with pytest.raises(InputError, match="outside the relation"):
        lifted_divergence_privacy(0.0, KL, family)
    assert lifted_divergence_privacy(0.0, TOTAL_VARIATION, family).value > 0


@settings(max_examples=15)
@given(st.data(), channels(positive=True))
def test_metric_privacy_lifts_to_the_largest_step(data, matrix):
    """A.5.2: D_inf(A#lam || A#mu) <= epsilon W_inf(lam, mu), pure and with delta."""
    rows = data.draw(beliefs(count=3))
    assume(len({tuple(row) for row in rows}) == 3)
    family, ground = Family(rows), Metric(line(4), "km")
    tight = max(
        np.log(matrix[s][:3] / matrix[t][:3]).max() / line(4)[s, t] for s in range(4) for t in range(4) if s != t
    )
    assume(tight > 1e-6)
    promise = lifted_metric_privacy(MetricPrivacy(tight, ground), family)
    assert promise.everywhere
    assert promise.notion.measure(matrix).value <= tight + 1e-9
    share = data.draw(st.sampled_from([0.3, 0.7]))
    delta = max(
        excess(matrix[s], matrix[t], share * tight * line(4)[s, t]) for s in range(4) for t in range(4) if s != t
    )
    approximate = lifted_metric_privacy(MetricPrivacy(share * tight, ground), family, min(1.0, delta))
    assert isinstance(approximate.notion, MetricDistributionPrivacy)
    for i, j in family.pairs:
        apart = share * tight * approximate.notion.distance.array[i, j]
        assert excess(rows[i] @ matrix, rows[j] @ matrix, apart) <= delta + 1e-12


def test_the_largest_step_is_attained():
    matrix = geometric(4, 0.7)
    family = Family([np.eye(4)[0], np.eye(4)[3]])
    promise = lifted_metric_privacy(MetricPrivacy(0.7, Metric(line(4))), family)
    assert promise.notion.measure(matrix).value == pytest.approx(0.7)


@settings(max_examples=15)
@given(st.data(), channels(), st.sampled_from([*FIVE, TRIANGULAR, HockeyStick(0.4), Renyi(1.0)]))
def test_divergence_privacy_lifts_to_the_earth_movers_distance(data, matrix, divergence):
    """A.5.3: D_f(A#lam || A#mu) <= epsilon W_1(lam, mu)."""
    rows = data.draw(beliefs(count=3))
    tight = max(divergence(matrix[s], matrix[t]) / line(4)[s, t] for s in range(4) for t in range(4) if s != t)
    assume(math.isfinite(tight) and len({tuple(row) for row in rows}) == 3)
    promise = lifted_divergence_privacy(tight, divergence, Family(rows), Metric(line(4)))
    assert promise.notion.measure(matrix).value <= tight + 1e-9


@settings(max_examples=15)
@given(
    st.data(),
    channels(),
    st.sampled_from(
        [*FIVE, TRIANGULAR, HockeyStick(0.4), Renyi(0.5), Renyi(3.0), MaxDivergence(), MaxDivergence(0.1)]
    ),
)
def test_divergence_privacy_lifts_to_the_relation(data, matrix, divergence):
    """A.5.3: joint (quasi-)convexity over the coupling."""
    relation = data.draw(relations(4))
    first, second = data.draw(coupled(relation))
    family = Family.lift([first, second], relation, tolerance=0.0)
    tight = max([0.0] + [divergence(matrix[s], matrix[t]) for s, t in relation.pairs])
    assume(math.isfinite(tight))
    promise = lifted_divergence_privacy(tight, divergence, family)
    assert promise.value == tight
    lifted = family.distributions @ matrix
    for i, j in family.pairs:
        assert divergence(lifted[i], lifted[j]) <= tight + 1e-9


def test_renyi_divergence_of_high_order_does_not_lift_to_the_earth_movers_distance():
    """It is quasi-convex, not convex: an average over the coupling can be too small a bound."""
    matrix = np.array([[0.999, 0.001], [0.001, 0.999], [0.001, 0.999]])
    d = np.array([[0, 1, 1], [1, 0, 1e-9], [1, 1e-9, 0]])
    rows = np.array([[0.01, 0.99, 0.0], [0.0, 0.99, 0.01]])
    order = Renyi(50.0)
    tight = max(order(matrix[s], matrix[t]) / d[s, t] for s in range(3) for t in range(3) if s != t)
    assert order(rows[0] @ matrix, rows[1] @ matrix) > tight * 0.01
    with pytest.raises(InputError, match="not known to be jointly convex"):
        lifted_divergence_privacy(tight, order, Family(rows), Metric(d))


@settings(max_examples=15)
@given(st.data(), channels(), st.sampled_from([0.0, 0.1]))
def test_point_masses_give_the_privacy_back(data, matrix, delta):
    """A.5.4, from a measured family and from a theorem."""
    relation: Relation = data.draw(relations(4))
    assume(len(relation) > 0)
    found = DistributionPrivacy(Family.of_points(relation), delta).measure(matrix)
    assume(math.isfinite(found.upper))
    back = privacy_of_points(Promise.of(found), relation)
    assert isinstance(back.notion, DifferentialPrivacy)
    assert back.notion.relation == relation
    assert DifferentialPrivacy(relation, delta).measure(matrix).value <= back.value + 1e-12
    family = Family.lift(data.draw(coupled(relation)), relation)
    again = privacy_of_points(lifted_differential_privacy(back.value, family, delta), relation)
    assert again.value == back.value
    assert len(again.reasons) == 2


def test_refusals():
    near = Relation(line(3) == 1)
    rows = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    family = Family.lift(rows, near)
    with pytest.raises(InputError, match="not lifted"):
        lifted_differential_privacy(1.0, Family(rows))
    with pytest.raises(InputError, match="delta"):
        lifted_differential_privacy(1.0, family, 2.0)
    with pytest.raises(InputError, match="finite one"):
        lifted_differential_privacy(math.inf, family)
    measured = Promise.of(DistributionPrivacy(family).measure(geometric(3, 1.0)))
    with pytest.raises(InputError, match="point masses of secrets 0 and 1"):
        privacy_of_points(measured, near)
    with pytest.raises(InputError, match="4 secrets"):
        privacy_of_points(measured, Relation.all(4))
    whole = lifted_differential_privacy(1.0, family)
    assert privacy_of_points(whole, near).value == 1.0
    with pytest.raises(InputError, match="secrets 0 and 2"):
        privacy_of_points(whole, Relation.all(3))
    wrong = Promise.of(ProbabilisticDistributionPrivacy(family, 0.1).measure(geometric(3, 1.0)))
    with pytest.raises(InputError, match="probabilistic"):
        privacy_of_points(wrong, near)
    split = Metric(np.where(np.eye(3, dtype=bool), 0.0, math.inf))
    with pytest.raises(InputError, match="infinite distance"):
        lifted_divergence_privacy(1.0, KL, Family([[0.1 + 0.2, 0.7, 0.0], [0.3, 0.7, 0.0]]), split)

    class Unknown(Divergence):
        @property
        def name(self):
            return "unknown divergence"

        def _divergences(self, p, q):
            return np.abs(p - q).max(axis=-1)

    with pytest.raises(InputError, match="unknown divergence"):
        lifted_divergence_privacy(1.0, Unknown(), family)


def test_a_promise_says_why():
    near = Relation(line(3) == 1, "neighbours")
    family = Family.lift([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]], near)
    promise = lifted_differential_privacy(1.0, family, 0.01)
    assert "docs/proofs/distribution-privacy.md#differential-privacy" in str(promise.reasons[0])
    assert "neighbours" in promise.sentence
    assert "epsilon at most 1" in repr(promise)
