"""Data frames of pandas: reports keep their own types, kept columns those of the source; and the index."""

import datetime
import pickle
import traceback

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.releases import prepare

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
IDENTITY = sf.Mechanism(np.eye(8), GRID)
NUMBERS = sf.Mechanism(np.eye(300), sf.Space(range(300)))


def visits(**columns):
    lat, lon = GRID.latlon[:3].T
    return pd.DataFrame({"lat": lat, "lon": lon, **columns})


def test_reports_do_not_take_the_types_of_columns_with_their_names():
    frame = pd.DataFrame({"label": np.array([1, 2], dtype="int8"), "answer": [250, 299]})
    found = sf.release(NUMBERS, frame, column="answer")
    assert found["label"].tolist() == [250, 299]
    single = visits().rename(columns={"lat": "latitude", "lon": "longitude"}).astype("float32")
    assert sf.release(IDENTITY, single).dtypes["latitude"] == np.float64
    named = visits(uid=np.array([1, 2, 3], dtype="int8"), user=[1000, 1001, 1002])
    found = sf.release(IDENTITY, named, user="uid", keep=["user"])
    assert found["user"].tolist() == [1000, 1001, 1002]


@pytest.mark.parametrize("name", ["label", "latitude"])
def test_an_index_with_the_name_of_a_released_column_is_refused(name):
    frame = visits().set_axis(pd.Index(["home", "clinic", "work"], name=name))
    with pytest.raises(InputError, match=r"has the name of a released column[\s\S]*rename_axis"):
        sf.release(IDENTITY, frame)
    assert "label" in sf.release(IDENTITY, frame.rename_axis("place"), keep=["place"])


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([datetime.date(2024, 3, 1)] * 3),
        pd.Index([datetime.time(8, 30)] * 3),
        pd.Index([datetime.datetime(2024, 3, 1, tzinfo=datetime.UTC)] * 3, dtype=object),
        pd.CategoricalIndex(pd.date_range("2024-03-01", periods=3)),
        pd.to_timedelta([1, 2, 3], unit="min"),
        pd.date_range("2024-03-01", periods=3, tz="Europe/Paris"),
    ],
    ids=["dates", "hours", "objects", "categories", "spans", "zones"],
)
def test_an_index_of_times_of_any_type_is_refused(index):
    for name in (None, "when"):
        with pytest.raises(InputError, match="would stay next to the reports"):
            sf.release(IDENTITY, visits().set_axis(index.rename(name)))


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "values",
    [
        pd.Categorical(["large", "small", None], categories=["small", "large"], ordered=True),
        pd.Categorical(["b", "a", "b"], categories=["b", "a"]),
        pd.Categorical([3, 1, None]),
        pd.Categorical([None, None, None]),
        pd.cut([1, 5, 9], [0, 4, 8, 12]),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype=pd.StringDtype("pyarrow")),
        pd.array([2**60 + 1, None, 3], dtype="Int64"),
        pd.array([1.5, None, 3], dtype="Float32"),
        pd.array([1, None, 3], dtype="int16[pyarrow]"),
        np.array([2**63, 1, 2], dtype="uint64"),
        pd.date_range("2024-03-30", periods=3, tz="Europe/Paris"),
        pd.period_range("2024-01", periods=3, freq="M"),
        pd.interval_range(0, 3),
        pd.to_timedelta([1, 2, None], unit="s"),
        [datetime.date(2024, 1, 1)] * 3,
        [b"a", None, b"b"],
        [[1], [2, 3], None],
        [{"a": 1}, {"a": 2}, None],
    ],
    ids=lambda values: str(getattr(values, "dtype", type(values[0]).__name__)),
)
def test_columns_that_are_kept_keep_their_type(values):
    frame = visits(kept=values)
    found = sf.release(IDENTITY, frame, keep=["kept"])
    pd.testing.assert_series_equal(found["kept"], frame["kept"], check_categorical=False)
    assert str(found["kept"].dtype).partition("(")[0] == str(frame["kept"].dtype).partition("(")[0]
    if hasattr(frame["kept"], "cat"):
        assert found["kept"].cat.ordered == frame["kept"].cat.ordered


def test_categories_of_other_rows_go_and_so_does_the_order_of_those_without_one():
    frame = visits(kept=pd.Categorical(["work", "clinic", "home"], categories=["gym", "clinic", "home", "work"]))
    frame.loc[1, "lat"] = 10.0  # outside
    found = sf.release(IDENTITY, frame, keep=["kept"], outside="drop", allow=0.5)
    assert list(found["kept"].cat.categories) == ["work", "home"]  # as they come
    assert b"clinic" not in pickle.dumps(found)
    assert b"gym" not in pickle.dumps(found)
    ordered = frame.assign(kept=frame["kept"].cat.as_ordered())
    found = sf.release(IDENTITY, ordered, keep=["kept"], outside="drop", allow=0.5)
    assert list(found["kept"].cat.categories) == ["home", "work"]


@pytest.mark.filterwarnings("error")
def test_attributes_of_the_source_go_and_unreadable_ones_do_not_disturb():
    frame = visits(kept=[1, 2, 3])
    frame.attrs = {"clinic": "here", "thing": object()}
    found = sf.release(IDENTITY, frame.rename(columns={"kept": 7}), keep=["7"])
    assert set(found.attrs) == {"sfumato"}
    assert found["7"].tolist() == [1, 2, 3]
    assert set(frame.attrs) == {"clinic", "thing"}


@pytest.mark.parametrize(
    "values",
    [[object()] * 3, ["a", 1, None], [1 + 2j] * 3, pd.arrays.SparseArray([0, 0, 1])],
    ids=["objects", "mixed", "complex", "sparse"],
)
def test_a_column_that_cannot_be_read_matters_only_where_it_is_used(values, tmp_path):
    frame = visits(odd=values).set_axis(pd.Index([1, 2, 3], name="number"))
    assert len(sf.release(IDENTITY, frame, keep=["number"])) == 3
    for options in ({"keep": ["odd"]}, {"user": "odd"}):
        with pytest.raises(DataError, match=r"the column 'odd' of type .* cannot be read"):
            sf.release(IDENTITY, frame, **options)
        with pytest.raises(DataError, match=r"the column 'odd' of type .* cannot be read"):
            prepare(IDENTITY, frame, tmp_path / "private.parquet", **options)


def test_an_index_that_cannot_be_read_is_refused_in_words():
    frame = visits(odd=[object()] * 3).set_axis(pd.Index([1, "a", None], name="mixed"))
    with pytest.raises(
        DataError, match=r"the column 'mixed' of type object, with values of int, str, cannot be read"
    ):
        sf.release(IDENTITY, frame, keep=["mixed"])
    with pytest.raises(InputError, match="'mixed' would stay"):
        sf.release(IDENTITY, frame)
    assert len(sf.release(IDENTITY, frame.reset_index(drop=True))) == 3


def test_the_types_of_a_mixed_column_of_users_are_named_but_no_value():
    frame = visits(user=["olga", 7, None])
    with pytest.raises(
        DataError, match="'user' of type object, with values of int, str, cannot be read"
    ) as refused:
        sf.release(IDENTITY, frame)
    assert "all its values as texts" in refused.value.hint
    with pytest.raises(DataError, match="'user' holds values of several types") as unread:
        sf.read_visits(frame)
    for error in (refused.value, unread.value):
        shown = "".join(traceback.format_exception(error)) + error.render(values=True)
        assert "olga" not in shown.replace('["olga"', "")
    assert len(sf.release(IDENTITY, frame.assign(user=frame["user"].astype("string")), user="user")) == 3


def test_an_index_with_the_name_of_a_column_or_of_another_level_is_refused():
    frame = visits(venue=["x", "x", "x"])
    for index in (
        pd.Index(["home", "clinic", "work"], name="venue"),
        pd.MultiIndex.from_arrays([[1, 2, 3], [4, 5, 6]], names=["n", "n"]),
    ):
        with pytest.raises(InputError, match=r"the name of a column, or of another level[\s\S]*rename_axis"):
            sf.release(IDENTITY, frame.set_axis(index), keep=["venue"])


def test_columns_of_one_name_are_refused():
    twice = pd.DataFrame([[48.85, 2.35, 1, 2]], columns=["lat", "lon", "n", "n"])
    with pytest.raises(DataError, match="more than one column 'n'"):
        sf.release(IDENTITY, twice)
    mixed = pd.DataFrame([[48.85, 2.35, 1, 2]], columns=["lat", "lon", 1, "1"])
    with pytest.raises(DataError, match="more than one column '1'"):
        sf.release(IDENTITY, mixed)


def test_a_frame_that_is_changed_after_it_was_prepared_is_released_as_it_was():
    frame = visits(kept=[1, 2, 3])
    prepared = sf.releases.prepare_frame(IDENTITY, frame, keep=["kept"])
    frame["kept"] = "other"
    frame.index = pd.Index(list("xyz"))
    found = prepared.run().frame
    assert found["kept"].tolist() == [1, 2, 3]
    assert list(found.index) == [0, 1, 2]
