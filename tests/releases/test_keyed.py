"""Batches drawn with words of each row's own: one report per key and secret, whatever the batches."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.mechanisms import DiscreteLaplace, LocalHashing, SubsetSelection, UnaryEncoding
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import Kernel, ReleaseOptions
from sfumato.releases.spark.tasks import KeyedDraw, row_names
from tests.releases.test_kernel import CITY, mechanism, places
from tests.sampling.test_sampler import FALSE_ALARM, p_value

SECRET, OTHER = bytes(range(32)), bytes(32)
SPACE = sf.Space([f"s{number}" for number in range(8)])
ANSWERS = pa.record_batch({"id": np.arange(300), "answer": [f"s{row % 8}" for row in range(300)]})
COUNTS = pa.record_batch({"id": np.arange(60), "answer": np.arange(60) % 8})
PLACES = places(300, 0.01)

TRIPS = PLACES.append_column("end_lat", PLACES["lat"]).append_column(
    "end_lng", PLACES["lon"].take(pa.array(range(299, -1, -1)))
)
BOTH = {"also": (("end_lat", "end_lng"),)}

CASES = {
    "lattice": (mechanism(CITY), PLACES, {"outside": "drop"}),
    "moved": (mechanism(CITY), PLACES, {"outside": "nearest", "within": "9000 km"}),
    "cells": (mechanism(sf.Grid.covering("6 km x 6 km around 48.85,2.35", "1 km")), PLACES, {"outside": "drop"}),
    "tupling": (
        Tupling(mechanism(CITY), 2, np.full(len(CITY), 1 / len(CITY))),
        PLACES.slice(0, 50),
        {"outside": "drop"},
    ),
    "trips": (mechanism(CITY), TRIPS, {"outside": "drop", **BOTH}),
    "trips moved": (mechanism(CITY), TRIPS, {"outside": "nearest", "within": "9000 km", **BOTH}),
    "trips of noise": (CoordinateNoise("1/km", "5 m", CITY.projection), TRIPS.slice(0, 50), BOTH),
    "noise": (CoordinateNoise("1/km", "5 m", CITY.projection), PLACES.slice(0, 50), {}),
    "labels": (mechanism(SPACE), ANSWERS, {"column": "answer"}),
    "columns": (
        {"answer": mechanism(SPACE), "second": mechanism(SPACE, 2)},
        ANSWERS.append_column("second", pa.array([f"s{row % 5}" for row in range(300)])),
        {"column": ("answer", "second")},
    ),
    "columns row by row": (
        {"answer": mechanism(SPACE), "second": SubsetSelection(SPACE, 1.0)},
        ANSWERS.append_column("second", pa.array([f"s{row % 5}" for row in range(300)])).slice(0, 60),
        {"column": ("answer", "second")},
    ),
    "unary": (UnaryEncoding(SPACE, 1.0, "optimised"), ANSWERS, {"column": "answer"}),
    "hashing": (LocalHashing(SPACE, 1.0), ANSWERS.slice(0, 60), {"column": "answer"}),
    "subset": (SubsetSelection(SPACE, 1.0), ANSWERS.slice(0, 60), {"column": "answer"}),
    "integers": (DiscreteLaplace(1.0), COUNTS, {"column": "answer"}),
}


def drawn(drawable, batch, wishes, secret=SECRET):
    kernel = Kernel(drawable, batch.schema, ReleaseOptions(**wishes, keep=("id",)))
    return KeyedDraw(kernel, secret, ("id",)).release(batch).batch


@pytest.mark.thinned(3)
@pytest.mark.parametrize("case", CASES)
def test_a_row_has_one_report_however_it_is_batched(case):
    drawable, batch, wishes = CASES[case]
    whole = drawn(drawable, batch, wishes).to_pylist()
    order = np.random.default_rng(1).permutation(batch.num_rows)
    mixed = batch.take(pa.array(order))
    sizes = [0, 1, 2, 20, batch.num_rows]
    parts = [mixed.slice(start, end - start) for start, end in itertools.pairwise(sizes)]
    again = sorted(
        (row for part in parts for row in drawn(drawable, part, wishes).to_pylist()), key=lambda r: r["id"]
    )
    assert again == whole
    assert drawn(drawable, batch, wishes, OTHER).to_pylist() != whole


def test_several_mechanisms_keep_the_order_of_rows():
    two = {"a": mechanism(SPACE, 1), "b": mechanism(SPACE, 2)}
    batch = ANSWERS.append_column("who", pa.array(["a", "b", "b"] * 100))
    found = drawn(two, batch, {"column": "answer", "by": "who"})
    assert found["id"].to_pylist() == list(range(300))
    alone = drawn(two["b"], batch.filter(pa.array([False, True, True] * 100)), {"column": "answer"})
    assert alone.num_rows == 200
    with pytest.raises(DataError, match="row 3 names a mechanism which is not among"):
        drawn(
            two, ANSWERS.append_column("who", pa.array(["a", "b", "c"] * 100)), {"column": "answer", "by": "who"}
        )


def test_reports_follow_the_integers_though_keys_count_up():
    blur = mechanism(SPACE, 3)
    batch = pa.record_batch({"id": np.arange(40_000), "answer": ["s5"] * 40_000})
    labels = drawn(blur, batch, {"column": "answer"})["label"]
    counts = np.bincount([int(label[1:]) for label in labels.to_pylist()], minlength=8)
    assert p_value(blur, 5, counts) > FALSE_ALARM


def test_a_key_that_comes_with_another_value_is_given_independent_words():
    """The same words for two values would tell more than two reports; here reports of both are independent."""
    keep = sf.Mechanism(np.full((8, 8), 1 / 8), SPACE)
    batch = pa.record_batch({"id": np.arange(8000), "answer": ["s1"] * 8000})
    other = pa.record_batch({"id": np.arange(8000), "answer": ["s2"] * 8000})
    first, second = (drawn(keep, each, {"column": "answer"})["label"].to_pylist() for each in (batch, other))
    same = sum(one == two for one, two in zip(first, second, strict=True))
    assert abs(same - 1000) < 6 * np.sqrt(1000 * 7 / 8)


def test_rows_with_one_key_are_refused_and_empty_batches_stay_empty():
    with pytest.raises(DataError, match="two rows have the same key"):
        drawn(mechanism(SPACE), pa.record_batch({"id": [1, 1], "answer": ["s1", "s2"]}), {"column": "answer"})
    assert drawn(mechanism(SPACE), ANSWERS.slice(0, 0), {"column": "answer"}).num_rows == 0
    dropped = pa.record_batch({"id": [1, 2], "answer": ["x", "y"]})
    assert drawn(mechanism(SPACE), dropped, {"column": "answer", "outside": "drop"}).num_rows == 0


def test_names_of_rows_do_not_run_into_each_other():
    columns = [pa.array(["a", "ab", None, ""]), pa.array(["bc", "c", "", None])]
    assert len(set(row_names(columns))) == 4
    numbers = [pa.array([1, 2, None]), pa.array([0.0, -0.0, float("nan")])]
    assert len(set(row_names(numbers))) == 3
    assert row_names([pa.array(["x"]).dictionary_encode()]) == row_names([pa.array(["x"])])
    with pytest.raises(DataError, match="does not name rows"):
        row_names([pa.array([[1]])])
