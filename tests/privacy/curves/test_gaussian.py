import itertools
import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sfumato.divergences import MaxDivergence
from sfumato.errors import InputError
from sfumato.privacy import GaussianPrivacy, GaussianTradeOff, Relation, TradeOff, TradeOffPrivacy
from sfumato.privacy.curves import trade_off_privacy
from sfumato.privacy.curves.curve import LARGEST, QUANTILE_ERROR, quantile
from sfumato.privacy.curves.errors_of_tests import errors

from ...catalogue import CASES, geometric, randomised_response, unused
from ...divergences.pairs import several


def discretised(mean):
    """N(mean, 1) on 1200 cells, each mass from the nearer tail."""
    edges = np.linspace(-18, 21, 1201) - mean
    below, above = norm.cdf(edges), norm.sf(edges)
    inner = np.where(edges[1:] < 0, np.diff(below), -np.diff(above))
    return np.array([below[0], *inner, above[-1]])


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0, 3.0])
def test_discretised_normal_distributions_have_their_shift(mu):
    found = GaussianPrivacy().measure([discretised(0.0), discretised(mu)])
    assert found.value == pytest.approx(mu, abs=1e-12)
    assert found.rounding < 1e-11


def test_quantiles_are_as_good_as_claimed():
    small = np.concatenate([np.geomspace(1e-320, 1e-3, 40), np.linspace(1e-3, 0.5, 40), [0.5 - 2.0**-50, 0.5]])
    with ctx.workprec(2300):
        for chance, z in zip(small, quantile(small, 1 - small), strict=True):
            truth = -(arb(2).sqrt() * (1 - 2 * arb(float(chance))).erfinv()) if chance < 0.5 else arb(0)
            assert abs(float(arb(float(z)) - truth)) <= QUANTILE_ERROR * abs(z) + 1e-300
    assert quantile(np.array([5e-324]), np.array([1.0]))[0] > -LARGEST
    assert quantile(np.array([0.75]), np.array([0.25]))[0] == -quantile(np.array([0.25]), np.array([0.75]))[0]


@given(several(count=3, positive=True))
def test_mu_is_the_least_curve_below_all(rows):
    found = GaussianPrivacy().measure(rows)
    assert TradeOffPrivacy(GaussianTradeOff(found.upper)).measure(rows).value < 1e-13
    if found.value > 1e-3:
        assert TradeOffPrivacy(GaussianTradeOff(found.value * 0.999)).measure(rows).value > 0
    for p, q in itertools.permutations(rows, 2):
        curve, grid = TradeOff(p, q), np.linspace(0, 1, 101)
        assert (curve(grid) >= GaussianTradeOff(found.upper)(grid) - 1e-12).all()


@given(several(count=3, positive=True))
def test_witness_is_a_test_that_needs_mu(rows):
    found = GaussianPrivacy().measure(rows)
    if found.value > 1e-9:
        assert found.witness.pair is not None
        (first, second), R = found.witness.pair, found.witness.outputs
        alpha, power = rows[first][R].sum(), rows[second][R].sum()
        assert norm.isf(alpha) - norm.isf(power) == pytest.approx(found.value, abs=1e-12)


@given(several(count=3, positive=True))
def test_mu_is_at_most_that_of_epsilon(rows):
    epsilon = float(MaxDivergence().pairwise(rows).max())
    assert GaussianPrivacy().measure(rows).lower <= GaussianTradeOff.of_epsilon(epsilon).mu * (1 + 1e-12)


@given(several(count=3))
def test_mu_is_infinite_exactly_where_an_output_tells_apart(rows):
    found = GaussianPrivacy().measure(rows)
    same = all(((p > 0) == (q > 0)).all() for p, q in itertools.permutations(rows, 2))
    assert math.isinf(found.value) != same
    if not same:
        assert found.witness.pair is not None
        (first, second), (output,) = found.witness.pair, found.witness.outputs
        assert (rows[first][output] > 0) != (rows[second][output] > 0)
        assert "rules out" in found.sentence


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue_by_the_slow_way(case):
    rows = case.mechanism.matrix
    expected = 0.0
    for p, q in itertools.permutations(rows, 2):
        curve = TradeOff(p, q)
        if curve.betas[0] < 1 - 1e-14 or ((p > 0) & (q == 0)).any():
            expected = math.inf
        elif len(curve.alphas) > 2:
            alphas, rest, betas, powers = (
                values[1:-1] for values in (curve.alphas, curve.confidences, curve.betas, curve.powers)
            )
            expected = max(expected, float((quantile(rest, alphas) - quantile(betas, powers)).max()))
    assert GaussianPrivacy().measure(case.mechanism).value == pytest.approx(expected, abs=1e-12)


def test_relation_and_unused_observable():
    rows = unused(geometric(5, math.log(2)))
    near = GaussianPrivacy(Relation(np.abs(np.subtract.outer(range(5), range(5))) == 1))
    assert near.measure(rows).value < GaussianPrivacy().measure(rows).value
    assert near.measure(rows).value <= GaussianTradeOff.of_epsilon(math.log(2)).mu + 1e-12
    one_way = GaussianPrivacy(Relation(np.tri(5, k=-1, dtype=bool)))
    assert one_way.measure(rows).value == GaussianPrivacy().measure(rows).value
    assert GaussianPrivacy().measure([[0.5, 0.5, 0.0]] * 2).value == 0
    assert GaussianPrivacy().measure(randomised_response(7, 1.0)).witness.pair is not None


def test_far_ratios_are_not_pruned():
    """A quotient of these rows overflows; the limit of the pair must not fall to nothing by that."""
    rows = np.array([[0.5, 0.5], [0.4, 0.6], [1e-310, 1.0]])
    assert GaussianPrivacy().measure(rows).value == pytest.approx(norm.isf(1e-310) - norm.isf(0.5), rel=1e-9)


@given(st.floats(0.01, 6), st.floats(0, 8))
def test_delta_is_the_integral_and_epsilon_its_inverse(mu, epsilon):
    curve = GaussianTradeOff(mu)
    with ctx.workprec(400):
        root = arb(2).sqrt()
        first = ((arb(epsilon) / mu - arb(mu) / 2) / root).erfc() / 2
        second = ((arb(epsilon) / mu + arb(mu) / 2) / root).erfc() / 2
        truth = first - arb(epsilon).exp() * second
    assert arb(curve.delta(epsilon)) >= truth
    assert curve.delta(epsilon) == pytest.approx(float(truth), rel=1e-9, abs=1e-14)
    delta = curve.delta(epsilon)
    if delta > 1e-12:
        assert curve.epsilon(delta) == pytest.approx(epsilon, abs=1e-6)
    assert curve.delta(curve.epsilon(delta)) <= delta


@given(st.floats(0.05, 3), st.floats(0, 3))
def test_curve_and_delta_are_dual(mu, epsilon):
    curve = GaussianTradeOff(mu)
    alphas = norm.sf(np.linspace(-8, 8 + mu, 4001))
    largest = (1 - curve(alphas) - math.exp(epsilon) * alphas).max()
    assert curve.delta(epsilon) == pytest.approx(max(0.0, largest), abs=1e-5)
    assert curve(curve(0.3)) == pytest.approx(0.3)


def test_composition_adds_squares_and_the_ends_are_as_they_should_be():
    assert GaussianTradeOff.compose([GaussianTradeOff(3.0), GaussianTradeOff(4.0)]).mu == 5
    assert GaussianTradeOff.compose([]).mu == 0
    none, all_of_it = GaussianTradeOff(0.0), GaussianTradeOff(math.inf)
    assert (none.delta(0.0), none.epsilon(0.0), all_of_it.delta(5.0), all_of_it.epsilon(0.5)) == (
        0,
        0,
        1,
        math.inf,
    )
    assert GaussianTradeOff(1.0).epsilon(0.0) == math.inf
    assert float(none(0.25)) == pytest.approx(0.75)
    assert float(all_of_it(0.25)) == 0
    assert GaussianTradeOff.of_epsilon(2000.0).mu == pytest.approx(2 * math.sqrt(2 * 2000), rel=0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: GaussianTradeOff(-1.0),
        lambda: GaussianTradeOff(math.nan),
        lambda: GaussianTradeOff.of_epsilon(-1.0),
        lambda: GaussianTradeOff(1.0).delta(-1.0),
        lambda: GaussianTradeOff(1.0).epsilon(2.0),
        lambda: GaussianTradeOff(1.0)(2.0),
        lambda: GaussianPrivacy(Relation.all(3)).measure([[1.0], [1.0]]),
    ],
)
def test_what_means_nothing_is_refused(wrong):
    with pytest.raises(InputError, match="Hint"):
        wrong()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["far", "near"])
def test_each_pair_of_400_secrets_is_compared_once_at_most(kind, monkeypatch):
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(400), 400) if kind == "far" else np.exp(rng.uniform(0, 1, (400, 400)))
    rows /= rows.sum(axis=1, keepdims=True)
    compared = []

    def counted(p, q):
        compared.append(len(p))
        return errors(p, q)

    with monkeypatch.context() as patch:
        patch.setattr(trade_off_privacy, "errors", counted)
        found = GaussianPrivacy().measure(rows)
    assert sum(compared) < 1.05 * 400 * 399 / 2  # and a few pairs more that choose the order
    assert found.witness.pair is not None
    first, second = found.witness.pair
    assert GaussianPrivacy().measure(rows[[first, second]]).value == pytest.approx(found.value, abs=1e-12)
    for s, t in rng.integers(0, 400, (100, 2)):
        assert GaussianPrivacy().measure(rows[[s, t]]).value <= found.value
