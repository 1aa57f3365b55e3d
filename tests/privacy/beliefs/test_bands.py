"""Prior-to-posterior bands: the published figure, and what mechanisms and random priors do in them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Prior, Space
from sfumato.errors import InputError
from sfumato.privacy import (
    DeltaOfAdversarialPrivacy,
    Events,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    NoiselessPrivacy,
    PositiveMembershipPrivacy,
    Priors,
    attained_band,
    band,
)

from ...catalogue import CASES, Case
from ..bayes import channels, facts, few, known, posteriors

PRIORS = np.array([0.10, 0.25, 0.50, 0.75, 0.90])

# Figure 2.8 at epsilon = ln 3, delta = 0.05.
FIGURE = {
    ("differential-privacy", 0.0): ([0.0357, 0.1, 0.25, 0.5, 0.75], [0.25, 0.5, 0.75, 0.9, 0.9643]),
    ("positive-membership", 0.0): ([0.0] * 5, [0.3, 0.75, 0.8333, 0.9167, 0.9667]),
    ("adversarial", 0.05): ([0.0] * 5, [0.35, 0.8, 1.0, 1.0, 1.0]),
    ("aposteriori-noiseless", 0.0): ([0.0333, 0.0833, 0.1667, 0.25, 0.7], [0.3, 0.75, 0.8333, 0.9167, 0.9667]),
}


@pytest.mark.parametrize(("key", "delta"), FIGURE)
def test_published_figure(key, delta):
    lower, upper = FIGURE[key, delta]
    found = band(key, math.log(3), delta=delta)
    assert found.lower(PRIORS) == pytest.approx(np.array(lower), abs=5e-5)
    assert found.upper(PRIORS) == pytest.approx(np.array(upper), abs=5e-5)


def test_kink_of_positive_membership_and_the_mirror_image():
    epsilon = 0.7
    positive, negative = band("positive-membership", epsilon), band("negative-membership", epsilon)
    kink = 1 / (1 + math.exp(epsilon))
    assert math.exp(epsilon) * kink == pytest.approx(1 - math.exp(-epsilon) * (1 - kink))
    assert float(positive.upper(kink)) == pytest.approx(1 - kink)
    p = np.linspace(0, 1, 101)
    assert negative.lower(p) == pytest.approx(1 - positive.upper(1 - p), abs=1e-14)
    assert (negative.upper(p) == 1).all()
    both = band("membership", epsilon)
    assert (both.lower(p) == negative.lower(p)).all()
    assert (both.upper(p) == positive.upper(p)).all()


@few
@given(known())
def test_posteriors_of_a_mechanism_lie_in_the_bands_of_what_it_satisfies(case):
    matrix, prior = case
    masks = facts(len(matrix))
    events, priors = Events(masks), Priors.of(prior)
    measured = {
        "positive-membership": PositiveMembershipPrivacy(priors, events).measure(matrix).upper,
        "negative-membership": NegativeMembershipPrivacy(priors, events).measure(matrix).upper,
        "membership": MembershipPrivacy(priors, events).measure(matrix).upper,
        "noiseless": NoiselessPrivacy(priors, events).measure(matrix).upper,
    }
    bands = [band(key, value) for key, value in measured.items() if value <= 700]
    delta = DeltaOfAdversarialPrivacy(priors, 0.3, events).measure(matrix).upper
    bands += [band("adversarial", 0.3, delta=min(1.0, delta)), attained_band(matrix, priors, events)]
    for mask in masks:
        for p, q, after, _ in posteriors(matrix, prior.probabilities, mask):
            if p > 0 and q > 0:
                for each in bands:
                    assert float(each.lower(p)) <= after + 1e-12
                    assert after <= float(each.upper(p)) + 1e-12


@given(channels(positive=True), st.floats(0.001, 0.999))
def test_band_of_a_mechanism_is_touched_from_inside(matrix, p):
    mask = facts(len(matrix))[:1]
    found = attained_band(matrix, Priors.all(), Events(mask))
    after = [
        t
        for s in np.flatnonzero(mask[0])
        for u in np.flatnonzero(~mask[0])
        for t in p * matrix[s] / (p * matrix[s] + (1 - p) * matrix[u])
    ]
    assert max(after) == pytest.approx(float(found.upper(p)), abs=1e-12)
    assert min(after) == pytest.approx(float(found.lower(p)), abs=1e-12)
    assert max(after) <= float(found.upper(p)) + 1e-15


@pytest.mark.parametrize("case", CASES, ids=str)
def test_catalogue(case: Case):
    p = np.linspace(0, 1, 11)
    every = attained_band(case.mechanism, Priors.all())
    own = attained_band(case.mechanism, Priors.of_range(0, 1, case.prior))
    assert (every.lower(p) <= own.lower(p) + 1e-12).all()
    assert (own.upper(p) <= every.upper(p) + 1e-12).all()
    assert (every.lower(p) <= p + 1e-12).all()
    assert (p <= every.upper(p) + 1e-12).all()
    if case.name == "truth":
        assert (every.upper(p) == 1).all()
        assert (every.lower(p) == 0).all()


def test_band_of_randomised_response_is_that_of_differential_privacy():
    matrix = np.array([[0.75, 0.25], [0.25, 0.75]])
    attained = attained_band(matrix, Priors.of(Prior.uniform(Space(range(2)))))
    promised = band("noiseless", math.log(3))
    assert math.log(3) < attained.high < math.log(3) + 1e-13
    assert -math.log(3) - 1e-13 < attained.low < -math.log(3)
    assert attained.lower(PRIORS) == pytest.approx(promised.lower(PRIORS), abs=1e-13)
    assert attained.upper(PRIORS) == pytest.approx(promised.upper(PRIORS), abs=1e-13)
    assert attained.upper(PRIORS.reshape(5, 1)).shape == (5, 1)


@given(st.floats(0, 5), st.floats(0, 1))
def test_order_of_the_bands(epsilon, p):
    """Likelihood ratios are the sharpest; then factors; then a line."""
    ratio, factors = band("differential-privacy", epsilon), band("membership", epsilon)
    line = band("adversarial", epsilon)
    assert float(factors.lower(p)) <= float(ratio.lower(p)) + 1e-12
    assert float(ratio.upper(p)) <= float(factors.upper(p)) + 1e-12
    assert float(factors.upper(p)) <= float(line.upper(p)) + 1e-12


def test_refusals():
    with pytest.raises(InputError, match="no band is known of 'semantic'"):
        band("semantic", 1.0)
    with pytest.raises(InputError, match="from 0 to 700"):
        band("membership", -1.0)
    with pytest.raises(InputError, match="only adversarial"):
        band("membership", 1.0, delta=0.1)
    with pytest.raises(InputError, match="not between 0 and 1"):
        band("membership", 1.0).upper([0.5, 1.5])
