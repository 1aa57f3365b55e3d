"""Golden values: closed forms, notions, attacks, tuples and noise, each by a public call."""

import math

import numpy as np
import pytest

import sfumato as sf

from .designs import EVEN, LINE, STEPS

HALF = sf.Prior.uniform(sf.Space(range(2)))


def response(odds: float) -> np.ndarray:
    """Return randomised response on two values, with the truth told at these odds."""
    return np.array([[odds, 1.0], [1.0, odds]]) / (1 + odds)


@pytest.fixture(scope="module")
def coin():
    """The audit of randomised response on two values of epsilon 1, with a report that is never made."""
    mechanism = sf.Mechanism(np.column_stack([response(math.e), [0.0, 0.0]]))
    return sf.audit(mechanism, prior=sf.Prior.uniform(mechanism.secrets), also=["membership(prior=every)"])


@pytest.mark.parametrize(
    ("key", "value", "digits"),
    [
        ("differential-privacy", 1.0, 1e-9),
        ("gaussian", 1.232035385344901, 1e-9),
        ("divergence-privacy(of=total-variation)", 0.462117, 1e-6),
        ("bounded-range", 2.0, 1e-9),
        ("semantic", 0.2449186624037092, 1e-9),  # tanh(1/4): a default has ratio 1 to itself
        ("positive-membership", math.log((1 + math.e) / 2), 1e-9),
        ("membership(prior=every)", 1.0, 1e-9),
        ("noiseless", 1.0, 1e-9),
    ],
)
def test_an_audit_shows_the_golden_values_of_a_coin(coin, key, value, digits):
    """To the 62 bits of the integers, which are all that separates the coin from its formula."""
    entry = next(entry for entry in coin if entry.name == key)
    assert entry.value == pytest.approx(value, abs=digits)
    assert entry.bracket.lower <= value + digits
    assert value - digits <= entry.bracket.upper <= value + 2 * digits


def test_gaussian_privacy():
    curve = sf.privacy.GaussianTradeOff(1.0)
    deltas = [curve.delta(epsilon) for epsilon in (0.0, 0.5, 1.0, 2.0)]
    assert deltas == pytest.approx([0.382925, 0.238422, 0.126937, 0.020924], abs=1e-6)
    assert sf.privacy.GaussianPrivacy().measure(response(math.e)).value == pytest.approx(
        1.232035385344901, abs=1e-14
    )
    assert sf.privacy.GaussianTradeOff.of_epsilon(1.0).mu == pytest.approx(1.232035385344901, abs=1e-14)


def test_little_variation_with_an_infinite_ratio():
    p, q = np.array([0.98, 0.02, 0.0]), np.array([0.98, 0.0, 0.02])
    assert sf.divergences.TOTAL_VARIATION(p, q) == pytest.approx(0.02)
    assert sf.divergences.max_divergence(p, q).value == math.inf


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_total_variation_is_a_hyperbolic_tangent(epsilon):
    p, q = response(math.exp(epsilon))
    assert sf.divergences.TOTAL_VARIATION(p, q) == pytest.approx(math.tanh(epsilon / 2), abs=1e-12)


@pytest.mark.parametrize(
    ("odds", "epsilon", "delta"), [(5, 0.5, 0.2265963), (3, 0.2, 0.1964892), (10, 1, 0.2545392)]
)
def test_adversarial_privacy_under_every_prior(odds, epsilon, delta):
    notion = sf.privacy.DeltaOfAdversarialPrivacy(sf.privacy.Priors.all(), epsilon)
    assert notion.measure(response(odds)).value == pytest.approx(delta, abs=1e-7)


@pytest.mark.parametrize(("odds", "epsilon"), [(3, 0.693147), (2, 0.405465), (10, 1.704748)])
def test_positive_membership_at_one_half(odds, epsilon):
    notion = sf.privacy.PositiveMembershipPrivacy(sf.privacy.Priors.of(HALF))
    assert notion.measure(response(odds)).value == pytest.approx(epsilon, abs=1e-6)


def test_semantic_privacy_of_a_set_that_single_reports_hide():
    matrix = np.array([[0.4, 0.1, 0.5], [0.04, 0.01, 0.95], [0.2, 0.2, 0.6], [0.02, 0.02, 0.96]])
    defaults = np.array([[2, 3, -1, -1]])
    assert sf.privacy.SemanticPrivacy(defaults, sets=False).measure(matrix).value == pytest.approx(
        0.0429, abs=5e-5
    )
    assert sf.privacy.SemanticPrivacy(defaults).measure(matrix).value == pytest.approx(0.0667, abs=5e-5)


@pytest.mark.parametrize(("epsilon", "cost"), [(math.log(2), 0.816666667), (1.0, 0.583505631)])
def test_closed_forms_on_the_line(epsilon, cost):
    for mechanism in (
        sf.mechanisms.geometric(LINE, epsilon),
        sf.mechanisms.tight_constraints(LINE, STEPS, epsilon),
    ):
        assert mechanism.expected_loss(EVEN, STEPS) == pytest.approx(cost, abs=1e-9)
        assert sf.attacks.optimal(mechanism, EVEN, STEPS).error == pytest.approx(cost, abs=1e-9)
        if epsilon == 1.0:
            known = [0.731059, 0.462117, 0.462117, 0.462117, 0.731059]
            assert np.diagonal(mechanism.matrix) == pytest.approx(known, abs=1e-6)


def test_the_exponential_mechanism_uses_less_than_its_epsilon():
    mechanism = sf.mechanisms.exponential(LINE, STEPS, 1.0)
    assert mechanism.expected_loss(EVEN, STEPS) == pytest.approx(0.993311918, abs=1e-9)
    audited = sf.audit(mechanism, prior=EVEN, metric=STEPS)
    entry = next(entry for entry in audited if entry.name == "metric-privacy")
    assert entry.value == pytest.approx(0.683970616, abs=1e-9)


@pytest.mark.parametrize(
    ("slope", "loss", "bits"), [(0.5, 1.085839, 0.074116), (1.0, 0.618127, 0.581181), (2.0, 0.213114, 1.398022)]
)
def test_least_information_at_a_loss(slope, loss, bits):
    found = sf.mechanisms.rate_distortion(EVEN, STEPS, slope)
    assert found.loss == pytest.approx(loss, abs=1e-6)
    assert found.information_bits.value == pytest.approx(bits, abs=1e-6)
    assert sf.attacks.optimal(found.mechanism, EVEN, STEPS).error == pytest.approx(found.loss, abs=1e-7)


def test_published_bounds_of_tuples():
    bounds = [sf.mechanisms.PublishedBound(20, 4, 0.4, alpha) for alpha in (1.5, 3.0)]
    assert [round(bound.epsilon, 3) for bound in bounds] == [0.679, 1.435]
    assert [round(bound.delta, 6) for bound in bounds] == pytest.approx([0.4901, 0.007213], abs=5e-5)
    pair = sf.mechanisms.PairAccountant([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25] * 4, 20)
    assert pair.delta(bounds[0].epsilon).upper == pytest.approx(2.01e-5, abs=5e-8)


def test_planar_laplace():
    noise = sf.mechanisms.PlanarLaplace(math.log(2) / 100)
    assert noise.median == pytest.approx(242.1342879, abs=1e-6)
    assert float(noise.quantile(0.95)) == pytest.approx(684.3949815, abs=1e-6)
    quantiles = sf.mechanisms.PlanarLaplace(1.0).quantile([0.5, 0.95, 0.99])
    assert quantiles == pytest.approx([1.6783, 4.7439, 6.6384], abs=1e-4)
    means = [sf.mechanisms.PlanarLaplace(math.log(2) / m).absolute for m in (100, 60, 400, 180)]
    assert means == pytest.approx([288.5390082, 173.1234049, 1154.156033, 519.3702147], abs=1e-6)


@pytest.mark.parametrize("bound_m", [100, 173, 212.1, 215])
def test_four_points_hidden_at_a_loss(bound_m):
    """The least error of a guess among four corners: .75 of the share of the loss at which nothing is told."""
    corners = np.array([(x, y) for x in (-150, 150) for y in (-150, 150)], dtype=float)
    reports = np.array([(50.0 * x, 50.0 * y) for x in range(-6, 7) for y in range(-6, 7)])
    distances = np.linalg.norm(corners[:, None] - reports, axis=2)
    found = sf.optimal.least_vulnerability(
        np.eye(4) / 4, sf.Space(range(4)), distances, bound_m, observables=sf.Space(range(len(reports)))
    )
    assert found.bayes_error == pytest.approx(0.75 * min(1.0, bound_m / math.hypot(150, 150)), abs=1e-6)
