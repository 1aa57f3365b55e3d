"""The proof of planar noise against its maker, against fractions, and against lies."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.proofs import prove_planar_noise

PLANES = st.one_of(st.none(), st.builds(Projection, st.floats(-90, 90), st.floats(-180, 180)))
REACHES = st.sampled_from(["1 km", "30 km", "100 km", "1000 km", "1500 km"])


def proof_of(noise, promise=None):
    return prove_planar_noise(promise or noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)


@given(
    st.floats(1e-4, 1e5),
    st.sampled_from([Fraction(2), Fraction(1, 3), Fraction(0.1), Fraction(50)]),
    PLANES,
    REACHES,
)
def test_every_noise_keeps_its_promise_and_hardly_more(epsilon, step, plane, reach):
    noise = CoordinateNoise(epsilon, step, plane, reach)
    found = proof_of(noise)
    assert found.holds
    assert found.upper <= epsilon == found.promise.epsilon
    assert found.upper > epsilon * (1 - 1e-12)
    assert found.slack_m <= noise.promise.slack_m <= found.slack_m * (1 + 1e-12)


@given(st.floats(1e-3, 1e3), REACHES)
def test_a_little_less_is_not_proved(epsilon, reach):
    noise = CoordinateNoise(epsilon, "2 m", Projection(48.86, 2.34), reach)
    claim = noise.promise
    for lie in (
        sf.CoordinatePrivacy(epsilon * (1 - 1e-9), "km", claim.slack_m),
        sf.CoordinatePrivacy(epsilon, "km", claim.slack_m * (1 - 1e-9)),
        sf.CoordinatePrivacy(epsilon, "km"),
        sf.CoordinatePrivacy(epsilon, "mi", claim.slack_m),
    ):
        assert not proof_of(noise, lie).holds
        assert proof_of(noise, lie).sentence.startswith("NOT PROVED: no report")
    assert proof_of(noise, sf.CoordinatePrivacy(epsilon * 1.6094, "mi", 3.0)).holds
    assert proof_of(noise, sf.CoordinatePrivacy(epsilon, "km", claim.slack_m + 1)).holds


@pytest.mark.parametrize("reach", ["30.0004 km", "100.123 km", "123.4567899 km", "1499.9999 km"])
def test_no_wider_region_is_named_than_the_proved_one(reach):
    noise = CoordinateNoise("1/km", "2 m", Projection(48.86, 2.34), reach)
    for text in (proof_of(noise).sentence, noise.describe()[1]):
        named = re.search(r"within ([0-9.,]+) km of (?:its|the) centre", text)
        assert named is not None
        assert noise.reach_m * (1 - 1e-4) <= float(named[1].replace(",", "")) * 1000 <= noise.reach_m


def test_the_stretch_is_that_of_the_sphere_of_the_polar_axis():
    """By a power series: c / sin c = 1 + c**2 / 6 + 7 c**4 / 360 + ..."""
    c = 1e6 / 6_356_752.3
    found = prove_planar_noise(sf.CoordinatePrivacy("1/km", slack_m=3.0), Fraction(1, 1000), Fraction(2), 1e6)
    series = 1 + c**2 / 6 + 7 * c**4 / 360 + 31 * c**6 / 15120
    assert found.upper == pytest.approx(0.5 * series, rel=1e-6)
    assert found.holds
    assert not prove_planar_noise(
        sf.CoordinatePrivacy("0.5/km", slack_m=3.0), Fraction(1, 1000), Fraction(2), 1e6
    ).holds


def test_factors_are_bounds():
    found = prove_planar_noise(sf.CoordinatePrivacy("1/km", slack_m=2.83), Fraction(1, 500), Fraction(2))
    apart = np.array([0.0, 3.7, 500.0, 1e9])
    with ctx.workprec(200):
        for distance, factor in zip(apart[:3], found.factor(apart), strict=False):
            assert arb(factor) >= (arb(1) / 1000 * (arb(float(distance)) + 2 * arb(2).sqrt())).exp()
    assert found.factor(1e9) == math.inf
    assert found.factor(500.0) == pytest.approx(math.exp(0.50283), rel=1e-5)
    assert "e^(1/km x (distance + 2.83 m))" in found.sentence
    assert "for any two points of the plane" in found.sentence
    for bad in (-1.0, math.nan):
        with pytest.raises(InputError, match="a distance is negative or not a number"):
            found.factor(bad)


def test_recipes_that_are_none():
    claim = sf.CoordinatePrivacy("1/km", slack_m=3.0)
    for rate, step in ((0, 1), (-1, 1), (1, 0), (1, -2)):
        with pytest.raises(InputError, match="cannot be drawn"):
            prove_planar_noise(claim, Fraction(rate), Fraction(step))
    for reach in (0.0, -1.0, 1.6e6, math.nan):
        with pytest.raises(InputError, match="a reach of"):
            prove_planar_noise(claim, Fraction(1), Fraction(1), reach)


def test_what_is_said_of_the_promise():
    promise = sf.CoordinatePrivacy("0.6/km", slack_m="2 m")
    assert str(promise) == "epsilon 0.6/km between any two points, with 2 m of slack"
    assert promise.slack_m == 2.0
    for bad in (-1.0, math.inf):
        with pytest.raises(InputError, match=r"slack|finite"):
            sf.CoordinatePrivacy("0.6/km", slack_m=bad)
    city = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "1 km")
    with pytest.raises(InputError, match="leave the slack out"):
        sf.proofs.VertexPrivacy(promise, city)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 1e30])
@pytest.mark.parametrize("step", ["1 mm", "2 m", "100 km"])
@pytest.mark.parametrize("reach", [5e-324, 1e-310, 1e-9, 1.0])
def test_a_small_reach_is_proved_too(epsilon, step, reach):
    """Its angle may vanish as a float, and the rate may need no rounding: the sphere is still round."""
    noise = CoordinateNoise(epsilon, step, Projection(48.86, 2.34), reach)
    proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
    assert proof.holds
    assert proof.factor([1.0, 1e300, 1.7e308, math.inf])[1:].tolist() == [math.inf] * 3
