"""NumberBins of numbers: which bin a number is in, against a plain search, and files that hold them."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, InputError
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
    held = sf.read_mechanism_file(tmp_path / "m.sfm")
    assert isinstance(held.mechanism.secrets, sf.NumberBins)
    assert held.mechanism == mechanism
    assert held.mechanism.secrets.unit == "year"
