"""Degrees of reports: seven decimals, one at a time or many, and nothing of the digits beyond them."""

from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.arrays import round_degrees, round_point
from sfumato.mechanisms.planar import CoordinateNoise

DEGREES = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@given(DEGREES)
def test_texts_have_seven_decimals_and_no_more(place):
    for given_, found in zip(place, round_degrees(np.array(place)).tolist(), strict=True):
        decimal = Decimal(repr(found))
        assert decimal == round(decimal, 7)
        assert abs(decimal - Decimal(given_)) <= Decimal("0.5000001e-7")
        assert not repr(found).startswith("-0.0") or found


@given(DEGREES)
def test_one_is_as_many_and_twice_is_as_once(place):
    once = round_degrees(np.array([place]))
    assert tuple(once[0].tolist()) == round_point(*place)
    assert np.array_equal(round_degrees(once), once)


def test_blurred_points_have_seven_decimals_alone_and_together():
    lattice = sf.Lattice.covering("3 km x 2 km around 48.85,2.35", "1 km")
    mechanism = sf.Mechanism(np.full((len(lattice), len(lattice)), 1 / len(lattice)), lattice)
    noise = CoordinateNoise("2/km", "1 m", sf.geo.Projection(48.85, 2.35))
    for drawn in (mechanism, noise):
        sampler = sf.sampler(drawn)
        reports = np.vstack(
            [sampler.blur([48.85] * 50, [2.35] * 50), *(sampler.blur(48.85, 2.35) for _ in range(50))]
        )
        assert all(len(repr(x).split(".")[1]) <= 7 for x in reports.ravel().tolist())
