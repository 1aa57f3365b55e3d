"""NumberBins of numbers: which bin a number is in, against a plain search, and files that hold them."""

import copy
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.files import MechanismFile
from sfumato.ledgers.fingerprints import fingerprint
from sfumato.releases import positions_in

whole = st.integers(-(10**6), 10**6)


@given(
    whole, st.integers(1, 50), st.integers(1, 40), st.floats(-2e6, 2e6) | st.just(float("nan")) | whole.map(float)
)
def test_a_number_is_in_the_bin_whose_ends_hold_it(first, width, count, value):
    bins = sf.NumberBins(first, width, count)
    held = [place for place in range(count) if first + width * place <= value < first + width * (place + 1)]
    assert bins.positions_of([value]).tolist() == (held or [-1])


def test_labels_and_middles():
    bins = sf.NumberBins(18, 5, 3, "year")
    assert bins.labels == ("18-22", "23-27", "28-32")
    assert np.array_equal(np.asarray(bins.coordinates), [[20], [25], [30]])
    assert bins.metric("absolute").unit == "year"
    assert sf.NumberBins(-2, 1, 3).labels == ("-2", "-1", "0")
    assert np.array_equal(np.asarray(sf.NumberBins(0, 1, 2).coordinates), [[0], [1]])


def test_copies_pickles_and_comparisons():
    bins = sf.NumberBins(18, 5, 3)
    assert pickle.loads(pickle.dumps(bins)) == bins
    assert copy.deepcopy(bins) is bins
    assert bins == sf.NumberBins(18, 5, 3)
    assert hash(bins) == hash(sf.NumberBins(18, 5, 3))
    assert bins != sf.NumberBins(18, 5, 4)
    assert bins != sf.NumberBins(18, 5, 3, "year")
    assert bins != sf.Space(bins.labels, bins.coordinates)


@pytest.mark.parametrize("given", [(0, 0, 3), (0, 1, 0), (0, 1, 10**6), (2**53, 1, 2), (0, 2**52, 4)])
def test_bins_that_cannot_be(given):
    with pytest.raises(InputError):
        sf.NumberBins(*given)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([18, 22, 23, 99, None]),
        pa.array([18.0, 22.999, 23.5, 99, float("nan")]),
        pa.array(["18", " 22 ", "23.5", "99", "x"]),
        pa.array(["18-22", "18-22", "23-27", "33-37", ""]),
        pa.array(["18", "22", "23", "y", None]).dictionary_encode(),
        pa.chunked_array([["18", "22"], ["23", "17", "inf"]]),
        pa.array([18, 22, 23, 2**62, -(2**62)]),
    ],
)
def test_columns_of_numbers_and_of_labels(column):
    assert positions_in(sf.NumberBins(18, 5, 3), column).tolist() == [0, 0, 1, -1, -1]


def test_a_column_without_numbers():
    with pytest.raises(DataError, match="does not hold numbers"):
        positions_in(sf.NumberBins(18, 5, 3), pa.array([[1], [2]]))


def test_a_file_holds_them(tmp_path):
    bins = sf.NumberBins(18, 5, 3, "year")
    mechanism = sf.mechanisms.randomised_response(bins, 1)
    sf.save(mechanism, tmp_path / "m.sfm")
    held: Any = sf.read_mechanism_file(tmp_path / "m.sfm")
    assert isinstance(held.mechanism.secrets, sf.NumberBins)
    assert held.mechanism == mechanism
    assert held.mechanism.secrets.unit == "year"


@given(st.integers(2, 400), st.data())
def test_on_a_circle_distances_go_the_shorter_way_around(period, data):
    """Steps are counted one by one, in both directions."""
    first, count = data.draw(whole), data.draw(st.integers(1, min(period, 12)))
    hours = sf.NumberBins(first, 1, count, "h", period=period)
    steps = [[min((a - b) % period, (b - a) % period) for b in range(count)] for a in range(count)]
    for kind in ("absolute", "euclidean", "manhattan"):
        assert hours.metric(kind).array.tolist() == steps
        assert sf.loss(hours, hours, kind).array.tolist() == steps


def test_the_hour_before_midnight_is_next_to_midnight():
    hours = sf.NumberBins(0, 1, 24, "hour", period=24)
    assert hours.metric("absolute").array[23, 0] == 1
    assert sf.NumberBins(0, 1, 24, "hour").metric("absolute").array[23, 0] == 23
    assert hours.positions_of([0, 23.5, 24, 25, -1, np.nan]).tolist() == [0, 23, 0, -1, -1, -1]
    late = sf.NumberBins(6, 1, 24, "hour", period=24)
    assert late.positions_of([6, 23, 24, 0, 3, 29, 30, 31]).tolist() == [0, 17, 18, 18, 21, 23, 0, -1]
    quarters = sf.NumberBins(0, 6, 4, period=24)
    assert quarters.metric("absolute").array[0].tolist() == [0, 6, 12, 6]
    bearings = sf.Space.numbers([10.0, 350.0, 180.0], "degree", period=360)
    assert bearings.metric("absolute").array[0].tolist() == [0, 20, 170]
    assert "circle of 360" in repr(bearings)
    for space in (hours, bearings):
        assert pickle.loads(pickle.dumps(space)) == space
        with pytest.raises(InputError, match="do not have"):
            space.group_labels([[space.labels[0]]])
    assert hours != sf.NumberBins(0, 1, 24, "hour")
    with pytest.raises(InputError, match="circles of"):
        sf.loss(hours, sf.NumberBins(0, 1, 24, "hour"), "absolute")


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: sf.NumberBins(0, 1, 25, period=24), "more than once around"),
        (lambda: sf.NumberBins(0, 5, 5, period=24), "more than once around"),
        (lambda: sf.Space.numbers([0, 360], period=360), "more than once around"),
        (lambda: sf.Space.numbers([0, 1], period=0), "not positive"),
        (lambda: sf.Space.numbers([0, 1], period=float("nan")), "not positive"),
        (lambda: sf.Space("ab", period=2), "is for numbers"),
        (lambda: sf.Space("ab", [[0, 0], [1, 1]], period=2), "is for numbers"),
    ],
)
def test_circles_that_make_no_sense(build, problem):
    with pytest.raises(InputError, match=problem):
        build()


def circular(space):
    promise = sf.MetricPrivacy("1/hour", space.metric("absolute"))
    return sf.design(sf.Prior.uniform(space), loss=promise.metric, guarantees=promise)


@pytest.mark.parametrize(
    "space",
    [sf.NumberBins(0, 1, 6, "hour", period=6), sf.Space.numbers(range(6), "hour", period=6.5)],
    ids=["bins", "numbers"],
)
def test_files_hold_the_circle_and_confirm_its_distances(tmp_path, space):
    found: Any = circular(space)
    sf.save(found, tmp_path / "h.sfm")
    held: Any = sf.read_mechanism_file(tmp_path / "h.sfm")
    assert held.mechanism.secrets == space
    assert [one.confirmed_by(held.mechanism.secrets) for one in held.guarantees] == [True]
    assert held.mechanism.secrets.metric("absolute").array[5, 0] == space.period - 5
    worst = max(
        np.log(row / other).max() / space.metric("absolute").array[i, j]
        for i, row in enumerate(found.mechanism.matrix)
        for j, other in enumerate(found.mechanism.matrix)
        if i != j
    )
    assert worst == pytest.approx(1, abs=1e-9)


def test_a_circle_is_not_believed(tmp_path):
    """Distances of a circle that the space does not have, or of a line where it has one, are refused."""
    line, circle = sf.NumberBins(0, 1, 6, "hour"), sf.NumberBins(0, 1, 6, "hour", period=6)
    for space, other in ((line, circle), (circle, line)):
        stated = sf.MetricPrivacy("1/hour", sf.Metric(other.metric("absolute").array, "hour", name="absolute"))
        assert not stated.confirmed_by(space)
        mechanism = sf.Mechanism(np.full((6, 6), 1 / 6), space)
        with pytest.raises(InputError, match="are called 'absolute'"):
            sf.save(MechanismFile(mechanism, guarantees=(stated,)), tmp_path / "h.sfm")


def test_fingerprints_tell_circles_apart():
    marks = {
        fingerprint(sf.Mechanism(np.full((6, 6), 1 / 6), space))
        for period in (None, 6, 24)
        for space in (sf.NumberBins(0, 1, 6, period=period), sf.Space.numbers(range(6), period=period))
    }
    assert len(marks) == 6
