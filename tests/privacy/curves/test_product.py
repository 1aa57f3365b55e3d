import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from sfumato.divergences import Profile, hockey_stick
from sfumato.errors import InputError
from sfumato.privacy import GaussianPrivacy, GaussianTradeOff, LossDistribution, TradeOff, power, product
from sfumato.privacy.curves.loss_distribution import Factor, convolve

from ...divergences.pairs import several


def tensor(*rows):
    """The distribution of independent draws, one entry per combination of outputs."""
    joint = np.ones(1)
    for row in rows:
        joint = np.multiply.outer(joint, row).ravel()
    return joint


def response_delta(epsilon, count, at):
    """The profile of ``count`` answers of binary randomised response, from the binomial distribution."""
    truths = np.arange(count + 1)
    losses = epsilon * (2 * truths - count)
    chances = binom.pmf(truths, count, 1 / (1 + math.exp(-epsilon)))
    return float(np.sum(np.where(losses > at, chances * -np.expm1(at - losses), 0.0)))


@given(several(largest=4), several(largest=3), several(largest=3))
def test_product_of_curves_is_the_curve_of_the_product(a, b, c):
    curves = [TradeOff(*rows) for rows in (a, b, c)]
    brute = TradeOff(tensor(a[0], b[0], c[0]), tensor(a[1], b[1], c[1]))
    found = product(curves)
    assert max(found.shortfall(brute)[0], brute.shortfall(found)[0]) < 1e-12
    assert float(found.profile.delta(0.7)) == pytest.approx(
        float(hockey_stick(tensor(a[1], b[1], c[1]), tensor(a[0], b[0], c[0]), 0.7)), abs=1e-12
    )


@given(several(largest=3), st.integers(0, 5))
def test_power_of_a_curve_is_the_curve_of_independent_draws(rows, count):
    brute = TradeOff(tensor(*[rows[0]] * count), tensor(*[rows[1]] * count))
    found = power(TradeOff(*rows), count)
    assert max(found.shortfall(brute)[0], brute.shortfall(found)[0]) < 1e-12


@given(several(count=2, largest=3), several(count=2, largest=3))
def test_composed_mechanisms_keep_the_product_of_their_curves(first, second):
    joint = np.array([tensor(p, q) for p, q in itertools.product(first, second)])
    bound = product([TradeOff.of(first).symmetrisation, TradeOff.of(second).symmetrisation])
    both_change = TradeOff.of(joint[[0, 3]])
    assert both_change.shortfall(bound)[0] < 1e-12


@pytest.mark.parametrize(("epsilon", "count"), [(1.0, 10), (0.1, 100), (2.0, 10), (5.0, 64)])
def test_many_coins_are_binomial(epsilon, count):
    """Composing a trade-off function ten times is where autodp is known to fail."""
    curve = power(TradeOff.of_epsilon(epsilon), count)
    assert len(curve.null) == count + 1
    for at in epsilon * count * np.array([-0.5, 0.0, 0.21, 0.5, 0.83]):
        exact = response_delta(epsilon, count, at)
        assert float(curve.profile.delta(at)) == pytest.approx(exact, rel=1e-9)
    assert np.isfinite(curve.betas).all()


def test_what_a_product_cannot_hold_is_refused():
    rng = np.random.default_rng(0)
    big = TradeOff(*rng.dirichlet(np.ones(3000), 2))
    with pytest.raises(InputError, match="LossDistribution"):
        product([big, big])
    with pytest.raises(InputError, match="count"):
        power(big, -1)
    assert product([]).least_total_error == 1


@pytest.mark.slow
@settings(max_examples=15)
@given(several(largest=4), several(largest=3), st.floats(-1, 3), st.sampled_from([1e-3, 0.0123, 0.2]))
def test_bounds_enclose_the_exact_composition(first, second, epsilon, spacing):
    parts = [(LossDistribution(a, b, spacing), count) for (a, b), count in ((first, 3), (second, 2))]
    found = LossDistribution.compose(parts)
    p, q = tensor(*[first[0]] * 3, *[second[0]] * 2), tensor(*[first[1]] * 3, *[second[1]] * 2)
    exact = float(hockey_stick(p, q, epsilon))
    assert found.delta_lower(epsilon) <= exact + 1e-15
    assert found.delta_upper(epsilon) >= exact - 1e-15
    again = LossDistribution.compose([(LossDistribution.compose([(part, count)]), 1) for part, count in parts])
    assert again.delta_lower(epsilon) <= exact + 1e-15
    assert again.delta_upper(epsilon) >= exact - 1e-15
    assert found.infinite == pytest.approx(p[q == 0].sum(), abs=1e-14)


@settings(max_examples=12)
@given(several(largest=4), st.integers(1, 4), st.sampled_from([1e-9, 1e-3, 0.05, 0.4]))
def test_bounds_of_epsilon_enclose_the_exact_one(rows, count, delta):
    found = LossDistribution.compose([(LossDistribution(rows[0], rows[1], 1e-3), count)])
    exact = max(0.0, float(Profile(tensor(*[rows[0]] * count), tensor(*[rows[1]] * count)).epsilon(delta)))
    assert found.epsilon_lower(delta) <= exact + 1e-12
    assert found.epsilon_upper(delta) >= exact - 1e-12


@pytest.mark.parametrize("spacing", [1e-2, 1e-3, 1e-4])
def test_gap_of_the_bounds_falls_with_the_square_of_the_spacing(spacing):
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.35, 0.25])
    exact = power(TradeOff(q, p), 30).profile
    found = LossDistribution.compose([(LossDistribution(p, q, spacing), 30)])
    for epsilon in (0.0, 1.03, 2.0, 4.0):
        upper, lower = found.delta_upper(epsilon), found.delta_lower(epsilon)
        assert lower <= float(exact.delta(epsilon)) <= upper
        assert upper - lower < 600 * spacing**2 + 1e-8
    assert found.epsilon_lower(1e-5) <= float(exact.epsilon(1e-5)) <= found.epsilon_upper(1e-5)


def test_losses_on_the_lattice_cost_nothing():
    coin = LossDistribution.of(TradeOff.of_epsilon(1.0), 0.125)
    assert coin.splits == 0
    found = LossDistribution.compose([(coin, 200)])
    for epsilon in (0.0, 20.0, 93.7):
        exact = response_delta(1.0, 200, epsilon)
        assert found.delta_lower(epsilon) <= exact <= found.delta_upper(epsilon)
        assert found.delta_upper(epsilon) - found.delta_lower(epsilon) < 1e-9


def test_thousands_of_small_losses_become_gaussian():
    epsilon, count = 0.02, 2500
    found = LossDistribution.compose([(LossDistribution.of(TradeOff.of_epsilon(epsilon), 0.001), count)])
    gaussian = GaussianTradeOff(epsilon * math.sqrt(count))
    for at in (0.0, 0.5, 2.0):
        assert found.delta_upper(at) == pytest.approx(gaussian.delta(at), abs=1e-4)


def test_composition_of_gaussians_adds_squares():
    edges = np.array([-np.inf, *np.linspace(-9, 10, 120), np.inf])
    p, q = (
        np.where(edges[1:] < 0, np.diff(norm.cdf(edges - mean)), -np.diff(norm.sf(edges - mean)))
        for mean in (0.0, 0.5)
    )
    parts = [GaussianPrivacy().measure([p, q]).value] * 9
    promised = GaussianTradeOff.compose(GaussianTradeOff(mu) for mu in parts)
    found = LossDistribution.compose([(LossDistribution(p, q, 1e-3), 9)])
    for epsilon in (0.0, 1.0, 3.0):
        assert found.delta_lower(epsilon) <= promised.delta(epsilon)
        assert found.delta_upper(epsilon) == pytest.approx(promised.delta(epsilon), abs=2e-3)


def test_infinite_losses_are_kept_apart():
    p, q = np.array([1e-12, 0.5, 0.5 - 1e-12]), np.array([0.0, 0.25, 0.75])
    found = LossDistribution.compose([(LossDistribution(p, q, 1e-3), 1000)])
    assert found.infinite == pytest.approx(1e-9, rel=1e-9)
    assert found.epsilon_upper(1e-10) == math.inf
    told = LossDistribution([1.0, 0.0], [0.0, 1.0])
    both = LossDistribution.compose([(told, 3), (LossDistribution(p, q), 1)])
    assert both.delta_upper(50.0) == 1
    assert both.delta_lower(50.0) == pytest.approx(1, abs=1e-12)
    assert both.epsilon_lower(0.5) == both.epsilon_upper(0.5) == math.inf


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_transform_is_the_convolution_within_its_bound(first, second):
    a, b = np.array(first), np.array(second)
    a, b = a / max(1.0, a.sum()), b / max(1.0, b.sum())
    direct = np.convolve(np.convolve(a, a), b)
    found, error = convolve([Factor(a, -4, 2), Factor(b, 3, 1)], -5, len(direct))
    assert np.abs(found - direct).sum() <= error < 1e-11
    # On a window that is too short what is outside is added or missing: nothing else.
    size = max(1, len(direct) // 2)
    part, error = convolve([Factor(a, -4, 2), Factor(b, 3, 1)], -5, size)
    assert (part >= direct[:size] - error).all()
    assert part.sum() <= direct.sum() + error


def dots(p, q, spacing, library):
    """dp-accounting's pessimistic loss distribution through the exact profile at the points of a lattice."""
    losses = np.log(p / q)
    points = np.arange(math.floor(losses.min() / spacing), math.ceil(losses.max() / spacing) + 1)
    deltas = hockey_stick(p, q, spacing * points)
    return library.create_pmf_pessimistic_connect_dots(spacing, points, deltas)


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_dp_accounting_over_30_compositions(seed):
    from dp_accounting.pld import pld_pmf as library

    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(3 * np.ones(6), 2)
    p = 0.25 * p + 0.75 * q
    theirs = dots(p, q, 1e-4, library).self_compose(30)
    ours = LossDistribution.compose([(LossDistribution(p, q, 1e-4), 30)])
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        upper, lower = ours.delta_upper(epsilon), ours.delta_lower(epsilon)
        assert theirs.get_delta_for_epsilon(epsilon) == pytest.approx(upper, abs=1e-7)
        assert lower <= theirs.get_delta_for_epsilon(epsilon)
        assert upper - lower < 1e-5


@pytest.mark.parametrize("seed", range(2))
def test_lies_between_the_two_estimates_of_dp_accounting(seed):
    from dp_accounting.pld import privacy_loss_distribution as library

    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(3 * np.ones(5), 4)
    rows = 0.3 * rows + 0.7 * rows.mean(axis=0)
    ours, above, below = [], library.identity(1e-3), library.identity(1e-3, False)
    for k in range(0, 4, 2):
        p, q = rows[k], rows[k + 1]
        ours.append((LossDistribution(p, q, 1e-3), 15))
        masses = [dict(enumerate(np.log(row))) for row in (q, p)]
        above = above.compose(library.from_two_probability_mass_functions(*masses, True, 1e-3).self_compose(15))
        below = below.compose(library.from_two_probability_mass_functions(*masses, False, 1e-3).self_compose(15))
    found = LossDistribution.compose(ours)
    for epsilon in (0.0, 0.5, 2.0):
        upper, lower = found.delta_upper(epsilon), found.delta_lower(epsilon)
        assert below.get_delta_for_epsilon(epsilon) - 1e-9 <= upper
        assert lower <= above.get_delta_for_epsilon(epsilon) + 1e-9
        assert upper - lower < 0.1 * (above.get_delta_for_epsilon(epsilon) - below.get_delta_for_epsilon(epsilon))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: LossDistribution([0.5, 0.5], [0.5, 0.5], 0.0),
        lambda: LossDistribution([0.5, 0.5], [1e-40, 1.0], 1e-7),
        lambda: LossDistribution.compose([]),
        lambda: LossDistribution.compose([(LossDistribution([0.5, 0.5], [0.4, 0.6]), 0)]),
        lambda: LossDistribution.compose([(LossDistribution([1.0], [1.0], h), 1) for h in (0.1, 0.2)]),
        lambda: LossDistribution.compose([(LossDistribution([0.5, 0.5], [0.1, 0.9], 1e-6), 10**7)]),
        lambda: LossDistribution([1.0], [1.0]).epsilon_upper(2.0),
        lambda: LossDistribution([1.0], [1.0]).epsilon_lower(-1.0),
    ],
)
def test_what_cannot_be_composed_is_refused(wrong):
    with pytest.raises(InputError, match="Hint"):
        wrong()
