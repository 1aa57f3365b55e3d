"""Tables in memory: whatever speaks Arrow's PyCapsule interface, and clear words for what does not."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError


class Frame:
    """A table of a library that is known by the interface alone."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Broken:
    def __arrow_c_stream__(self, requested_schema=None):
        raise ValueError("geometry columns cannot be exported\nmore")


TABLE = pa.table(
    {
        "Latitude": [48.85, 48.86, None, 48.86],
        "lng": pa.array([2.34, 2.35, 2.36, 2.37], pa.float32()),
        "user_id": pa.array(["ann", "bob", "bob", "cy"], pa.string_view()),
        "timestamp": pa.array([1_700_000_000 + k for k in range(4)]),
        "shop": pa.array(["a", "b", "b", "c"]).dictionary_encode(),
    }
)


@pytest.mark.parametrize("wrapped", [TABLE, Frame(TABLE), Frame(TABLE.to_reader()), TABLE.to_batches()[0]])
def test_a_table_is_read_as_its_file_is(wrapped, tmp_path):
    plain = TABLE.set_column(2, "user_id", TABLE["user_id"].cast(pa.string()))
    pa.csv.write_csv(plain, tmp_path / "v.csv")
    from_file = sf.read_visits(tmp_path / "v.csv")
    found = sf.read_visits(wrapped)
    assert np.allclose(found.lat, from_file.lat)
    assert np.allclose(found.lon, from_file.lon, atol=1e-6)
    assert found.user is not None
    assert from_file.user is not None
    assert found.user.tolist() == from_file.user.tolist() == ["ann", "bob", "cy"]
    assert np.array_equal(np.asarray(found.time), np.asarray(from_file.time))
    assert found.attributes["shop"].tolist() == ["a", "b", "c"]
    assert len(found.notes) == len(from_file.notes) == 1


def test_columns_are_named_as_for_files():
    renamed = TABLE.rename_columns(["a", "b", "who", "when", "shop"])
    with pytest.raises(DataError, match="the table"):
        sf.read_visits(Frame(renamed))
    found = sf.read_visits(Frame(renamed), lat="a", lon="b", user="who", attributes=[])
    assert len(found) == 3
    assert not found.attributes


def test_the_index_of_a_data_frame_is_left_out():
    indexed = TABLE.append_column("__index_level_0__", pa.array([7, 8, 9, 10]))
    assert "__index_level_0__" not in sf.read_visits(Frame(indexed)).attributes


def test_what_is_no_table():
    others: list[Any] = [None, 3, [1.0, 2.0], {"lat": [1]}, np.zeros((2, 2)), object(), pa.Table]
    for given in others:
        with pytest.raises(InputError, match=r"path= is .* table is needed|visits cannot be read from") as raised:
            sf.read_visits(given)
        assert "pandas" in raised.value.hint
    with pytest.raises(DataError, match="Broken could not be read as an Arrow table") as refused:
        sf.read_visits(Broken())
    assert "geometry columns" in refused.value.render(values=True)
    with pytest.raises(InputError, match="was given with a table"):
        sf.read_visits(Frame(TABLE), format="csv")
    twice = pa.Table.from_arrays([TABLE["lng"], TABLE["lng"]], names=["lat", "lat"])
    with pytest.raises(DataError, match="more than one column 'lat'"):
        sf.read_visits(Frame(twice))


def test_a_table_is_released(tmp_path):
    grid = sf.Grid.covering("4 km x 4 km around 48.855,2.355", shape=(2, 2))
    keep = sf.Mechanism(np.eye(4), grid)
    done = sf.release(keep, Frame(TABLE), tmp_path / "out.csv", keep=["shop"], outside="drop", allow=0.25)
    assert done.rows == 3
    words = sf.Mechanism(np.eye(3), sf.Space("abc"))
    done = sf.release(words, Frame(TABLE), tmp_path / "out.parquet", column="shop", keep=["user_id"])
    assert done.rows == 4
    with pytest.raises(DataError, match="no column 'age'"):
        sf.release(words, Frame(TABLE), tmp_path / "out.parquet", column="age")
    with pytest.raises(InputError, match="table is needed"):
        sf.release(keep, 3, tmp_path / "out.csv")  # type: ignore[call-overload]
