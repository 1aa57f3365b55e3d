"""Releasing tables: what is in them, and what never is."""

import csv
import errno
import os
import unicodedata
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import DataError, FileError, InputError, SfumatoError
from sfumato.geo import Grid, Visits
from sfumato.releases import release
from sfumato_papers.invented_city import invented_city
from tests.sampling.test_sampler import BY_CHANCE, chance

GRID = Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
IDENTITY = sf.Mechanism(np.eye(8), GRID)
BLUR = sf.Mechanism(0.5 * np.eye(8) + np.full((8, 8), 1 / 16), GRID)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def visits_csv(tmp_path: Path) -> Path:
    """Sixteen visits, each a little beside a centre, with a user, an attribute and an id."""
    path = tmp_path / "visits.csv"
    with path.open("w") as stream:
        stream.write("lat,lon,user,shop,id\n")
        for number in range(16):
            lat, lon = GRID.latlon[number % 8]
            stream.write(f"{lat + 1e-5},{lon - 1e-5},u{number % 3},Shop {number % 8},{number:03}\n")
    return path


def test_reports_are_places_and_nothing_else(tmp_path: Path, visits_csv: Path) -> None:
    target = tmp_path / "private.csv"
    done = release(IDENTITY, visits_csv, target)
    assert (done.rows, done.dropped, done.moved) == (16, 0, 0)
    rows = rows_of(target)
    assert list(rows[0]) == ["latitude", "longitude", "label"] == list(done.columns)
    assert [row["label"] for row in rows] == [*GRID.labels, *GRID.labels]
    released = np.array([[float(row["latitude"]), float(row["longitude"])] for row in rows])
    assert np.array_equal(released, np.tile(np.round(GRID.latlon, 7), (2, 1)))
    assert all(len(row[name].split(".")[1]) <= 7 for row in rows for name in ("latitude", "longitude"))


def test_true_coordinates_never_reach_the_file(tmp_path: Path, visits_csv: Path) -> None:
    release(BLUR, visits_csv, tmp_path / "private.csv", keep=["id"])
    text = (tmp_path / "private.csv").read_text()
    true = visits_csv.read_text().splitlines()[1:]
    assert not any(part in text for line in true for part in line.split(",")[:2])
    assert "Shop" not in text


def test_only_named_columns_are_kept(tmp_path: Path, visits_csv: Path) -> None:
    release(IDENTITY, visits_csv, tmp_path / "private.parquet", keep=["user", "shop"])
    table = parquet.read_table(tmp_path / "private.parquet")
    assert table.column_names == ["latitude", "longitude", "label", "user", "shop"]
    assert table["user"].to_pylist() == [f"u{number % 3}" for number in range(16)]
    assert table["shop"].to_pylist() == [f"Shop {number % 8}" for number in range(16)]
    with pytest.raises(DataError, match="no column 'age' to keep") as raised:
        release(IDENTITY, visits_csv, tmp_path / "other.csv", keep=["age"])
    assert "shop" in raised.value.hint
    assert not (tmp_path / "other.csv").exists()


def test_the_reports_follow_the_mechanism(tmp_path: Path) -> None:
    lat, lon = np.repeat(GRID.latlon[[5]], 100_000, axis=0).T
    release(BLUR, Visits(lat, lon), tmp_path / "private.parquet")
    labels = parquet.read_table(tmp_path / "private.parquet")["label"].to_pylist()
    counts = np.bincount(GRID.positions(labels), minlength=8)
    assert chance(counts, BLUR.matrix[5]) > BY_CHANCE


def test_each_release_is_drawn_anew(tmp_path: Path) -> None:
    city = invented_city()
    grid = Grid.covering(city, shape=(10, 10))
    uniform = sf.Mechanism(np.full((100, 100), 0.01), grid)
    texts = set()
    for number in range(3):
        done = release(uniform, city, tmp_path / f"{number}.csv")
        assert done.rows == len(city)
        texts.add((tmp_path / f"{number}.csv").read_bytes())
    assert len(texts) == 3


OUTSIDE = Visits([48.85, 48.95, 48.85], [2.351, 2.351, 2.05], user=["a", "b", "c"])


def test_rows_outside_are_refused_by_default(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"2 of 3 rows are not at any .* 8 places .the first is number 2.\."
    ) as raised:
        release(IDENTITY, OUTSIDE, tmp_path / "private.csv")
    assert "outside='nearest'" in raised.value.hint
    assert not os.listdir(tmp_path)


def test_rows_outside_are_dropped_if_asked(tmp_path: Path) -> None:
    done = release(IDENTITY, OUTSIDE, tmp_path / "private.csv", outside="drop", keep=["user"], allow=0.9)
    assert (done.rows, done.dropped, done.moved) == (1, 2, 0)
    assert [row["user"] for row in rows_of(tmp_path / "private.csv")] == ["a"]
    assert "2 rows outside were dropped" in str(done)


def test_rows_outside_are_moved_if_asked(tmp_path: Path) -> None:
    done = release(IDENTITY, OUTSIDE, tmp_path / "private.csv", outside="nearest", within="30 km", allow=0.7)
    assert (done.rows, done.dropped, done.moved) == (3, 0, 2)
    labels = [row["label"] for row in rows_of(tmp_path / "private.csv")]
    # North of the grid: the upper row of the same column; west of it: the first column.
    assert labels[1] == labels[0][:3] + "r01"
    assert labels[2].startswith("c00")
    assert "moved" in str(done)


def test_all_rows_outside(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no row is at any"):
        release(IDENTITY, Visits([10.0], [10.0]), tmp_path / "private.csv", outside="drop", allow=1)
    assert not os.listdir(tmp_path)


def test_rows_without_a_position(tmp_path: Path) -> None:
    lat, lon = GRID.latlon[0]
    (tmp_path / "v.csv").write_text(f"lat,lon\n{lat},{lon}\n,\n")
    with pytest.raises(DataError, match=r"1 of 2 rows has no position .the first is number 2.\.") as raised:
        release(IDENTITY, tmp_path / "v.csv", tmp_path / "p.csv")
    assert "cannot be moved" in raised.value.hint
    assert "nearest" not in raised.value.hint
    (tmp_path / "w.csv").write_text(f"lat,lon\n{lat},{lon}\n,\n{lat + 1},{lon}\n")
    with pytest.raises(DataError, match=r"2 of 3 rows .*the first is number 2.; 1 of these have no position\."):
        release(IDENTITY, tmp_path / "w.csv", tmp_path / "p.csv")
    done = release(IDENTITY, tmp_path / "v.csv", tmp_path / "p.csv", outside="drop", allow=0.5)
    assert (done.rows, done.dropped) == (1, 1)


def test_positions_that_are_not_in_degrees(tmp_path: Path) -> None:
    lat, lon = GRID.latlon[0]
    (tmp_path / "v.csv").write_text(f"lat,lon\n{lat},{lon}\n1905721.7,1167334.3\n,\n")
    for outside in ("error", "nearest"):
        with pytest.raises(
            DataError, match=r"2 of 3 rows .* The latitude and longitude of number 2 are no degrees"
        ) as raised:
            release(IDENTITY, tmp_path / "v.csv", tmp_path / "p.csv", outside=outside)
        assert "to degrees of WGS84" in raised.value.hint
        assert "1905721" not in str(raised.value)  # messages are kept in logs, and this is where somebody truly is


def test_columns_of_the_users_own_names(tmp_path: Path) -> None:
    lat, lon = GRID.latlon[3]
    (tmp_path / "v.csv").write_text(f"north,east,who\n{lat},{lon},ann\n")
    release(IDENTITY, tmp_path / "v.csv", tmp_path / "p.csv", lat="north", lon="east", user="who", keep=["user"])
    assert rows_of(tmp_path / "p.csv")[0]["label"] == GRID.labels[3]
    assert rows_of(tmp_path / "p.csv")[0]["user"] == "ann"


def test_groups_of_cells_have_a_place_too(tmp_path: Path) -> None:
    halves = GRID.group_labels([GRID.labels[:4], GRID.labels[4:]])
    mechanism = sf.Mechanism(np.repeat(np.eye(2), 4, axis=0), GRID, halves)
    lat, lon = GRID.latlon[6]
    release(mechanism, Visits([lat], [lon]), tmp_path / "p.csv")
    (row,) = rows_of(tmp_path / "p.csv")
    assert row["label"] == "{c00r01, c01r01, c02r01, c03r01}"
    middle = GRID.latlon[4:].mean(axis=0)
    assert np.allclose([float(row["latitude"]), float(row["longitude"])], middle, atol=1e-6)


AGES = sf.Mechanism(np.eye(3), sf.Space.numbers([18, 19, 20], "year"))


def test_labels_that_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("age,id\n20,007\n18,8\n")
    done = release(AGES, tmp_path / "ages.csv", tmp_path / "p.csv", column="age", keep=["id"])
    assert done.columns == ("label", "id")
    assert rows_of(tmp_path / "p.csv") == [{"label": "20", "id": "007"}, {"label": "18", "id": "8"}]


def test_labels_that_are_texts_of_digits(tmp_path: Path) -> None:
    codes = sf.Mechanism(np.eye(2), sf.Space(["01234", "98765"]))
    (tmp_path / "zip.csv").write_text("zip\n98765\n01234\n")
    release(codes, tmp_path / "zip.csv", tmp_path / "p.csv", column="zip")
    assert [row["label"] for row in rows_of(tmp_path / "p.csv")] == ["98765", "01234"]


def test_labels_from_parquet_and_unknown_ones(tmp_path: Path) -> None:
    places = sf.Mechanism(np.eye(3), sf.Space(["home", "work", ("far", 1)]))
    table = pa.table({"at": pa.array(["work", None, "moon", "(far, 1)"]).dictionary_encode(), "n": [1, 2, 3, 4]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"2 of 4 rows .* number 2"):
        release(places, tmp_path / "t.parquet", tmp_path / "p.parquet", column="at")
    done = release(
        places,
        tmp_path / "t.parquet",
        tmp_path / "p.parquet",
        column="at",
        outside="drop",
        keep=["n"],
        allow=0.5,
        again=True,
    )
    assert (done.rows, done.dropped) == (2, 2)
    released = parquet.read_table(tmp_path / "p.parquet")
    assert released["label"].to_pylist() == ["work", "(far, 1)"]
    assert released["n"].to_pylist() == [1, 4]


def test_truth_values_and_columns_without_labels(tmp_path: Path) -> None:
    answers = sf.Mechanism(np.eye(2), sf.Space([False, True]))
    table = pa.table({"yes": [True, False, True], "list": [[1], [2], [3]]})
    parquet.write_table(table, tmp_path / "t.parquet")
    release(answers, tmp_path / "t.parquet", tmp_path / "p.csv", column="yes")
    assert [row["label"] for row in rows_of(tmp_path / "p.csv")] == ["true", "false", "true"]
    with pytest.raises(DataError, match="holds no labels"):
        release(answers, tmp_path / "t.parquet", tmp_path / "p.csv", column="list", again=True)


def test_spaces_in_degrees_give_places(tmp_path: Path) -> None:
    stops = sf.Space(["a", "b"], [[48.8, 2.3], [48.9, 2.4]], crs="EPSG:4326")
    (tmp_path / "t.csv").write_text("stop\nb\n")
    release(sf.Mechanism(np.eye(2), stops), tmp_path / "t.csv", tmp_path / "p.csv", column="stop")
    assert rows_of(tmp_path / "p.csv") == [{"latitude": "48.9", "longitude": "2.4", "label": "b"}]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"outside": "clip"}, "outside='clip' is unknown"),
        ({"column": "age", "outside": "nearest"}, "a label that is not among"),
        ({"column": "age", "lat": "y"}, "leave out lat="),
        ({"column": "weight"}, "has no column 'weight'"),
        ({"column": "age", "keep": ["weight"]}, "no column 'weight' to keep"),
        ({"column": "age", "keep": ["label"]}, "'label' cannot be kept"),
        ({}, "not cells on the ground"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    (tmp_path / "t.csv").write_text("age,label\n18,x\n")
    with pytest.raises((InputError, DataError), match=words):
        release(AGES, tmp_path / "t.csv", tmp_path / "p.csv", **options)
    assert os.listdir(tmp_path) == ["t.csv"]


def test_sources_and_targets_that_do_not_fit(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("age\n18\n")
    for problem, given, target, words in (
        (InputError, source, source, "replace its own source"),
        (FileError, source, tmp_path / "p.xlsx", "names no kind of table"),
        (DataError, tmp_path / "none.csv", tmp_path / "p.csv", "there is no file"),
        (FileError, source, tmp_path / "none" / "p.csv", "create it first"),
        (DataError, tmp_path / "t.txt", tmp_path / "p.csv", "there is no file"),
        (InputError, OUTSIDE, tmp_path / "p.csv", "have no column of labels"),
    ):
        with pytest.raises(problem, match=words):
            release(AGES, given, target, column="age")
    (tmp_path / "t.parquet").write_text("age\n18\n")
    with pytest.raises(DataError, match="does not begin like one"):
        release(AGES, tmp_path / "t.parquet", tmp_path / "p.csv", column="age")
    with pytest.raises(InputError, match="leave out lat="):
        release(IDENTITY, OUTSIDE, tmp_path / "p.csv", lat="lat")
    assert sorted(os.listdir(tmp_path)) == ["t.csv", "t.parquet"]


def test_labels_of_the_same_text(tmp_path: Path) -> None:
    twins = sf.Mechanism(np.eye(2), sf.Space(["1", 1]))
    (tmp_path / "t.csv").write_text("n\n1\n")
    with pytest.raises(InputError, match="the same text"):
        release(twins, tmp_path / "t.csv", tmp_path / "p.csv", column="n")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    def full(*_: Any, **__: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    target = tmp_path / f"p.{suffix}"
    target.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match="free some space"):
        release(IDENTITY, OUTSIDE, target, outside="drop", allow=0.9)
    assert os.listdir(tmp_path) == [target.name]
    assert target.read_text() == "old"


def test_every_error_is_the_packages_own(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'a,b\n1,2,3\n"\xff\n')
    with pytest.raises(SfumatoError):
        release(AGES, tmp_path / "t.csv", tmp_path / "p.csv", column="a")
    assert os.listdir(tmp_path) == ["t.csv"]


@pytest.mark.parametrize(("near", "offered"), [(None, True), ("300 m", False)])
def test_moving_rows_is_offered_only_where_it_keeps_the_promise(tmp_path, near, offered):
    bent = sf.Visits([48.80, 48.82, 48.84, 48.80, 48.80], [2.30, 2.30, 2.30, 2.33, 2.36])
    lattice = sf.Lattice.covering(bent, "500 m", near=near)
    assert (lattice.convex_part is not None) == offered
    mechanism = sf.Mechanism(np.full((len(lattice), 2), 0.5), lattice)
    with pytest.raises(DataError) as caught:
        sf.release(mechanism, sf.Visits([48.7], [2.1]), tmp_path / "out.csv", outside="error")
    assert ("nearest" in str(caught.value)) == offered
    assert "drop" in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "words", "way"),
    [
        ({"within": "2 km"}, "within='2 km' does nothing here: rows outside are refused", "outside='nearest'"),
        (
            {"within": "2 km", "outside": "drop"},
            "rows outside are left out, and none is moved",
            "leave out within=",
        ),
        ({"allow": 0.2}, "allow=0.2 does nothing here: rows outside are refused", "outside='drop'"),
        ({"allow": 0.0, "outside": "error"}, "allow=0.0 does nothing here", "leave out allow="),
        ({"keep": "user"}, "keep= is of type str, but a list is needed", "keep=['user']"),
        ({"user": "usr"}, "has no column 'usr'. Its columns are: lat, lon, user", "with user='user'"),
    ],
)
def test_options_that_would_do_nothing_and_names_that_are_not_there(
    tmp_path: Path, visits_csv: Path, options: dict[str, Any], words: str, way: str
) -> None:
    with pytest.raises((InputError, DataError)) as caught:
        release(IDENTITY, visits_csv, tmp_path / "p.csv", **options)
    assert words in caught.value.problem
    assert way in caught.value.hint
    assert os.listdir(tmp_path) == ["visits.csv"]


@pytest.mark.parametrize(
    "options",
    [
        {"within": 1000.0, "allow": 0.01},
        {"outside": "drop", "allow": 0.2},
        {"outside": "nearest", "within": "2 km"},
    ],
)
def test_a_limit_that_acts_or_is_the_usual_one_is_taken(
    tmp_path: Path, visits_csv: Path, options: dict[str, Any]
) -> None:
    assert release(IDENTITY, visits_csv, tmp_path / "p.csv", **options).rows == 16


def test_the_nearest_column_is_named(tmp_path: Path, visits_csv: Path) -> None:
    several: dict[str, Any] = {"u0": IDENTITY, "u1": IDENTITY, "u2": IDENTITY}
    with pytest.raises(DataError, match="has no column 'usr'") as by:
        release(several, visits_csv, tmp_path / "p.csv", by="usr")
    assert "by='user'" in by.value.hint
    (tmp_path / "t.csv").write_text("who,Age\n1,18\n")
    with pytest.raises(DataError, match="has no column 'agee'") as column:
        release(AGES, tmp_path / "t.csv", tmp_path / "p.csv", column="agee")
    assert "column='Age'" in column.value.hint
    with pytest.raises(DataError, match="has no column 'xyz'") as none:
        release(AGES, tmp_path / "t.csv", tmp_path / "p.csv", column="xyz")
    assert "column='column'" in none.value.hint


def test_labels_that_differ_in_form_alone_are_told_from_others(tmp_path):
    answers = sf.Space(["jamais", "régulièrement"])
    coin = sf.mechanisms.randomised_response(answers, 1.0)
    alike = unicodedata.normalize("NFD", "régulièrement")
    for label in (alike, "Jamais", "jamais "):
        with pytest.raises(DataError, match="1 of 2 rows is not at any of the mechanism's 2 labels") as caught:
            sf.release(coin, pa.table({"answer": ["jamais", label]}), column="answer")
        assert caught.value.hint.startswith("correct the label: one differs only in its capitals, blanks or")
        assert "gulièrement" not in caught.value.hint
    with pytest.raises(DataError) as caught:
        sf.release(coin, pa.table({"answer": ["jamais", "souvent"]}), column="answer")
    assert caught.value.hint.startswith("correct the label, or give missing answers")
