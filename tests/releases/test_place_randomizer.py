"""A transformer of scikit-learn for places: its law, its promise, its columns, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases.transformers import PlaceRandomizer
from tests.sampling.mechanisms import fix_seeds
from tests.sampling.test_sampler import BY_CHANCE, chance

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
BLUR = sf.Mechanism(0.5 * np.eye(8) + np.full((8, 8), 1 / 16), GRID)
IDENTITY = sf.Mechanism(np.eye(8), GRID)
RNG = np.random.default_rng(4)
OLDER = np.column_stack([RNG.normal(48.85, 0.01, 300), RNG.normal(2.35, 0.01, 300)])


@pytest.fixture(scope="module")
def designed():
    return PlaceRandomizer("1/km", 25, outside="nearest", allow=1).fit(OLDER)


def test_fit_designs_what_loses_little_and_transform_draws_anew(designed):
    assert "Proved from the exact recipe" in designed.promises_[0]
    once, again = designed.transform(OLDER), designed.transform(OLDER)
    assert once.shape == OLDER.shape
    assert not np.array_equal(once, again)
    errors_km = 111 * np.hypot(once[:, 0] - OLDER[:, 0], (once[:, 1] - OLDER[:, 1]) * np.cos(np.radians(48.85)))
    assert 0.2 < errors_km.mean() < 1.9  # planar noise without a remap errs by 2 km


def test_two_points_are_told_apart_by_no_more_than_was_promised(designed):
    points = np.array([[48.845, 2.35], [48.854, 2.35]])  # 1 km apart
    here, there = (designed.transform(np.tile(point, (20_000, 1)))[:, 0] for point in points)
    ends = np.quantile(here, np.linspace(0, 1, 9)[1:-1])
    counts = [np.bincount(np.searchsorted(ends, found), minlength=8) + 1 for found in (here, there)]
    assert np.abs(np.log(counts[0] / counts[1])).max() < 1.0 + 0.2  # by chance: about 1e-14 (eight deviations)
    assert abs(here.mean() - there.mean()) > 0.0005


def test_reports_follow_the_mechanism_that_is_given():
    made = PlaceRandomizer(mechanism=BLUR).fit(GRID.latlon)
    assert made.design_ is None
    reports = made.transform(np.tile(GRID.latlon[5], (50_000, 1)))
    nearest = np.linalg.norm(reports[:, None] - GRID.latlon[None], axis=2).argmin(axis=1)
    assert chance(np.bincount(nearest, minlength=8), BLUR.matrix[5]) > BY_CHANCE


@pytest.mark.parametrize("columns", [["lat", "lon"], ["lon", "lat"], ["Longitude", "Latitude"], ["x", "y"]])
def test_columns_of_frames_are_known_by_their_names(columns):
    latitude_first = columns[0].lower().startswith("lat")
    rows = GRID.latlon if latitude_first else GRID.latlon[:, ::-1]
    frame = pd.DataFrame(rows, columns=columns, index=range(5, 13))
    made = PlaceRandomizer(mechanism=IDENTITY).fit(frame)
    assert list(made.get_feature_names_out()) == columns
    assert np.allclose(made.transform(frame), rows, atol=1e-6)
    found = made.set_output(transform="pandas").transform(frame)
    assert list(found.columns) == columns
    assert found.index.equals(frame.index)
    assert isinstance(made.set_output(transform="polars").transform(pl.DataFrame(frame)), pl.DataFrame)
    with pytest.raises(ValueError, match="feature names"):
        made.transform(frame[columns[::-1]])


def test_a_pipeline_whose_other_columns_are_left_out():
    frame = pd.DataFrame(GRID.latlon, columns=["lat", "lon"]).assign(age=range(8))
    steps = make_pipeline(
        make_column_transformer((PlaceRandomizer(mechanism=IDENTITY), ["lat", "lon"])), FunctionTransformer()
    )
    assert np.allclose(steps.fit(frame).transform(frame), GRID.latlon, atol=1e-6)


def test_copies_and_pickles(designed):
    noise = CoordinateNoise("2/km", "2 m", GRID.projection)
    for made in (PlaceRandomizer(mechanism=BLUR), PlaceRandomizer("2/km", 30), PlaceRandomizer(mechanism=noise)):
        other = clone(made)
        assert repr(other) == repr(made)
        if made.mechanism is not None:
            assert other.fit(GRID.latlon).transform(GRID.latlon).shape == (8, 2)
    again = pickle.loads(pickle.dumps(designed))
    assert again.transform(OLDER).shape == OLDER.shape
    assert again.promises_ == designed.promises_


def test_rows_outside():
    beyond = GRID.latlon + np.array([0.02, 0])
    made = PlaceRandomizer(mechanism=BLUR).fit(GRID.latlon)
    with pytest.raises(DataError, match="8 of 8 rows are not at any"):
        made.transform(beyond)
    near = PlaceRandomizer(mechanism=BLUR, outside="nearest", within="9 km", allow=1).fit(GRID.latlon)
    assert near.transform(beyond).shape == (8, 2)
    with pytest.raises(DataError, match="more than the 50 % that is allowed"):
        near.set_params(allow=0.5).transform(beyond)


@pytest.mark.parametrize(
    ("parameters", "rows", "why"),
    [
        ({"outside": "drop", "mechanism": BLUR}, GRID.latlon, "every row"),
        ({"mechanism": BLUR}, np.ones((4, 3)), "places have two"),
        ({"mechanism": BLUR}, GRID.latlon[:, ::-1] * 40, "not on the Earth"),
        ({"mechanism": sf.Mechanism(np.eye(3), sf.Space("abc"))}, GRID.latlon, "not places on the ground"),
        ({"mechanism": sf.Mechanism(np.eye(8), GRID, sf.Space("abcdefgh"))}, GRID.latlon, "not one place each"),
        ({"mechanism": Tupling(BLUR, 2, np.full(8, 1 / 8))}, GRID.latlon, "not one place each"),
        ({"mechanism": BLUR}, pd.DataFrame(GRID.latlon, columns=["age", "income"]), "no latitude"),
        ({"epsilon": "1"}, OLDER, "unit"),
        ({"n_vertices": 2}, OLDER, "is too small"),
    ],
)
def test_what_is_refused(parameters, rows, why):
    with pytest.raises((InputError, DataError), match=why):
        PlaceRandomizer(**parameters).fit(rows)


def test_the_checks_of_scikit_learn(monkeypatch):
    """Their data are no places: each check that fails does so for this reason, and no other."""
    fix_seeds(monkeypatch)
    found = check_estimator(PlaceRandomizer(mechanism=BLUR), on_fail=None, on_skip=None)
    failed = {each["check_name"]: each["exception"] for each in found if each["status"] == "failed"}
    for name, exception in failed.items():
        said = f"{exception} {exception.__cause__} {exception.__context__}"
        assert "places have two" in said or "not on the Earth" in said, f"{name}: {said}"
    passed = {each["check_name"] for each in found if each["status"] == "passed"}
    assert {
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_get_params_invariance",
        "check_estimator_cloneable",
        "check_estimators_unfitted",
    } <= passed


def test_errors_name_what_a_transformer_has():
    made = PlaceRandomizer(mechanism=BLUR).fit(GRID.latlon)
    with pytest.raises(DataError, match="8 of 8 rows are not at any") as outside:
        made.transform(GRID.latlon + 3)
    assert "outside='drop'" not in outside.value.hint
    assert "outside='nearest'" in outside.value.hint
    assert "leave these rows out of X" in outside.value.hint
    near = PlaceRandomizer(mechanism=BLUR, outside="nearest").fit(GRID.latlon)
    with pytest.raises(DataError, match="more than 1 km outside") as far:
        near.transform(GRID.latlon + 3)
    assert "drop" not in far.value.hint
    labels = PlaceRandomizer(mechanism=sf.Mechanism(np.eye(3), sf.Space("abc")))
    with pytest.raises(InputError, match="not places on the ground") as about:
        labels.fit_transform(GRID.latlon)
    assert "column" not in about.value.hint
    with pytest.raises(InputError, match="within='3 km' does nothing here"):
        PlaceRandomizer(mechanism=BLUR, within="3 km").fit(GRID.latlon)
