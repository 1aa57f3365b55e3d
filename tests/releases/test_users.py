"""Users are told apart in one way: where reports are counted, charged and remembered."""

import uuid

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.ledgers import BudgetError
from sfumato.mechanisms import DiscreteLaplace
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import prepare, prepare_frame
from sfumato.releases.promises import People

NOISE = CoordinateNoise.for_visits(sf.Visits([48.84, 48.88], [2.3, 2.4]), "1/km")
COMPOSED, DECOMPOSED = "Zo\u00e9", "Zoe\u0301"
ONE = uuid.UUID("12345678-1234-5678-1234-567812345678")
OTHER = uuid.UUID("87654321-4321-8765-4321-876543218765")


def visits(users, **more):
    return pa.table({"user": users, "lat": [48.85] * len(users), "lon": [2.35] * len(users), **more})


def uuids(*users):
    stored = pa.array([None if user is None else user.bytes for user in users], pa.binary(16))
    return pa.ExtensionArray.from_storage(pa.uuid(), stored)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("users", "most", "count"),
    [
        (["ada", "ada ", "ada"], 3, 1),
        (["ada", "ada ", " ada", "\u00a0ada\t", "bob"], 4, 2),
        ([COMPOSED, DECOMPOSED, "bob"], 2, 2),
        (["ada", "Ada"], 1, 2),
        (["a b", "a  b", "a b"], 2, 2),
        (pa.array(["ada", "ada ", "ada"]).dictionary_encode(), 3, 1),
        (pa.array(["ada", "ada\n", "ada"], pa.large_string()), 3, 1),
        (pa.array(["", " ", None, "ada"], pa.large_string()), 4, 1),
        ([1.0, 1.0, None, 2.0], 3, 2),
        ([None, None], 2, None),
        (uuids(ONE, OTHER, ONE), 2, 2),
        (uuids(ONE, None), 2, 1),
    ],
)
def test_reports_are_counted_as_the_ledger_counts_them(tmp_path, users, most, count):
    table = visits(users)
    pq.write_table(table, tmp_path / "in.parquet")
    for prepared in (
        prepare(NOISE, tmp_path / "in.parquet", tmp_path / "out.parquet", keep=()),
        prepare_frame(NOISE, table),
    ):
        assert (prepared.people.most, prepared.people.users) == (most, count)
        assert f"{most} report{'s' if most > 1 else ''} of one person" in prepared.promises[1]
    if prepared.people.nameless:
        return
    ledger = sf.Ledger.create(tmp_path / "l.db", "9/km")
    charged = prepare(sf.Blur(NOISE, ledger), tmp_path / "in.parquet", tmp_path / "o.parquet")
    assert charged.people.most == most
    charged.run()
    name = table["user"][0].as_py()
    assert ledger.balance(str(name)).reports == most


def test_a_ledger_writes_a_uuid_as_one(tmp_path):
    ledger = sf.Ledger.create(tmp_path / "l.db", "9/km")
    blur = sf.Blur(NOISE, ledger)
    table = visits(uuids(ONE, OTHER, ONE), venue=["home", "home", "home"])
    sf.release(blur, table)
    assert ledger.balance(str(ONE)).reports == 2
    sf.release(blur, table, place_column="venue")
    assert ledger.balance(str(ONE)).reports == 3
    assert ledger.balance(str(OTHER)).reports == 2
    sf.release(blur, visits([str(ONE)], venue=["home"]), place_column="venue")  # the text is the same user
    assert ledger.balance(str(ONE)).reports == 3


def test_a_uuid_names_a_mechanism():
    labels = sf.Space(list("xy"))
    mechanisms = {str(ONE): sf.Mechanism(np.eye(2), labels), str(OTHER): sf.Mechanism(1 - np.eye(2), labels)}
    table = pa.table({"who": uuids(ONE, OTHER, ONE), "n": list("xxy")})
    assert sf.release(mechanisms, table, by="who", column="n")["label"].to_pylist() == ["x", "y", "y"]
    binary = pa.table({"who": pa.array([b"\xff"]), "n": ["x"]})
    with pytest.raises(DataError, match="the column 'who' of binary holds no texts"):
        sf.release(mechanisms, binary, by="who", column="n")


def test_other_extension_types_are_unwrapped_or_refused():
    packed = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 1], pa.int8()))
    assert prepare_frame(NOISE, visits(packed)).people.most == 2
    tensor = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((2, 3)))
    with pytest.raises(DataError, match=r"the column 'user' of .* which holds no names"):
        prepare_frame(NOISE, visits(tensor))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"allow": "5%"}, "allow= is of type str, but a number"),
        ({"allow": None}, "allow= is of type NoneType, but a number"),
        ({"keep": None}, "keep= is of type NoneType, but a list"),
        ({"keep": "venue"}, r"keep= is of type str[\s\S]*keep=\['venue'\]"),
        ({"column": 3}, "column= is of type int, but a text, list or None"),
        ({"lat": 3}, "lat= is of type int, but a text or None"),
        ({"lon": 3}, "lon= is of type int"),
        ({"user": 3}, "user= is of type int"),
        ({"time": 3}, "time= is of type int"),
        ({"by": 3}, "by= is of type int"),
        ({"within": None}, "within= is of type NoneType, but a number or text"),
        ({"outside": 5}, "outside= is of type int, but a text or None"),
        ({"place_column": 3}, "place_column= is of type int"),
        ({"foo": 1}, "a release has no argument 'foo'"),
    ],
)
def test_arguments_of_a_wrong_kind_are_refused_in_words(tmp_path, given, words):
    table = visits(["ada"])
    with pytest.raises(InputError, match=words):
        prepare_frame(NOISE, table, **given)
    with pytest.raises(InputError, match=words):
        prepare(NOISE, table, tmp_path / "out.parquet", **given)
    if "foo" not in given:  # Python's own error
        with pytest.raises(InputError, match=words):
            sf.release(NOISE, table, **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"batch_rows": "3"}, "batch_rows= is of type str, but an integer or None"),
        ({"batch_rows": 2.5}, "batch_rows= is of type float"),
        ({"resume": 1}, "resume= is of type int, but a truth value"),
        ({"again": "no"}, "again= is of type str"),
    ],
)
def test_arguments_of_files_are_checked_too(tmp_path, given, words):
    with pytest.raises(InputError, match=words):
        prepare(NOISE, visits(["ada"]), tmp_path / "out.parquet", **given)


def test_whole_numbers_are_charged_without_a_fraction(tmp_path):
    ledger = sf.Ledger.create(tmp_path / "l.db", "9/km")
    for users in ([1.0, 2.5], [1, 2], ["1.0", "1.00", "v1.0"]):
        sf.release(sf.Blur(NOISE, ledger), visits(users))
    assert [ledger.balance(name).reports for name in ("1", "1.0", "2.5", "v1.0")] == [4, 4, 1, 1]
    with pytest.raises(BudgetError):
        sf.Blur(NOISE, ledger).report_all(["1.0"] * 6, [48.85] * 6, [2.35] * 6, [None] * 6)


def test_files_that_write_users_in_two_ways_are_counted_together(tmp_path):
    (tmp_path / "in").mkdir()
    for name, users in (("a", "12"), ("b", ("1.0", "3.0", "1"))):
        rows = "".join(f"{user},48.85,2.35\n" for user in users)
        (tmp_path / "in" / f"{name}.csv").write_text(f"user,lat,lon\n{rows}")
    prepared = prepare(NOISE, tmp_path / "in", tmp_path / "out.csv")
    assert (prepared.people.most, prepared.people.users) == (3, 3)


def bare(size=3):
    return visits([0] * size).drop_columns("user")


def test_rows_without_users_are_of_one_person(tmp_path):
    prepared = prepare_frame(NOISE, bare())
    assert prepared.people == People(3, 3, 1, assumed=True)
    said = " ".join(prepared.promises)
    assert "asks for 3 reports of one person: 3 times epsilon, 3/km" in said
    assert "It is not stated whose the rows are: all 3 rows are counted as one person's." in said
    for table in (bare(), visits(["ada", "bob", None])):
        stated = prepare_frame(NOISE, table, people="one")
        assert stated.people == People(3, 3, 1)
        assert "Nothing says" not in " ".join(stated.promises)
    for people, problem in (("file", "is one table"), ("column", "has no column of users")):
        with pytest.raises((DataError, InputError), match=problem):
            prepare_frame(NOISE, bare(), people=people)
    blur = sf.Blur(NOISE, sf.Ledger.create(tmp_path / "l.db", "9/km"))
    for table in (bare(), visits(["ada", "bob", "ada"])):
        with pytest.raises(DataError, match="budgets belong to users"):
            prepare_frame(blur, table, people="one")


def test_answers_without_users_are_counted_only_where_the_caller_says_whose_they_are():
    table = pa.table({"n": [1, 2, 3]})
    assert prepare_frame(DiscreteLaplace(1), table, column="n").people == People(3)
    assert prepare_frame(DiscreteLaplace(1), table, column="n", people="one").people == People(3, 3, 1)


def rides(folder, *names):
    points = "".join(f'<trkpt lat="{48.84 + i / 1000}" lon="2.35"/>' for i in range(4))
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"<gpx><trk><trkseg>{points}</trkseg></trk></gpx>")
    return folder


@pytest.mark.parametrize(
    ("people", "most", "count"), [(None, 8, 1), ("one", 8, 1), ("file", 4, 2), ("folder", 8, 1)]
)
def test_people_of_files_are_those_that_the_caller_states(tmp_path, people, most, count):
    source = rides(tmp_path / "rides", "monday.gpx", "tuesday.gpx")
    prepared = prepare(NOISE, source, tmp_path / "out.parquet", people=people)
    assert prepared.people == People(8, most, count, assumed=people is None)
    assert f"asks for {most} reports of one person: {most} times epsilon, {most}/km" in " ".join(prepared.promises)


def test_damaged_files_that_are_left_out_are_named_in_outcome_and_receipt(tmp_path):
    source = rides(tmp_path / "rides", "monday.gpx", "tuesday.gpx")
    (source / "wednesday.gpx").write_text("<gpx><trk>")
    with pytest.raises(DataError, match="wednesday"):
        sf.release(NOISE, source, tmp_path / "out.parquet")
    outcome = sf.release(NOISE, source, tmp_path / "out.parquet", skip_damaged=True, receipt=tmp_path / "r.json")
    said = "1 of 3 files in 'rides' was damaged and left out: wednesday.gpx"
    assert said in str(outcome)
    assert said in (tmp_path / "r.json").read_text()
    assert outcome.rows == 8
    table = pa.table({"lat": [48.85], "lon": [2.35]})
    for target in (tmp_path / "x.parquet", None):
        with pytest.raises(InputError, match="skip_damaged"):
            sf.release(NOISE, table, target, skip_damaged=True)
    for one in (source / "monday.gpx",):
        with pytest.raises(InputError, match="skip_damaged"):
            sf.release(NOISE, one, tmp_path / "x.parquet", skip_damaged=True)


def test_a_ledger_charges_the_people_that_are_stated(tmp_path):
    source = rides(tmp_path / "rides", "monday.gpx", "tuesday.gpx")
    blur = sf.Blur(NOISE, ledger := sf.Ledger.create(tmp_path / "l.db", "7/km"))
    with pytest.raises(DataError, match="no column names the users"):
        prepare(blur, source, tmp_path / "out.parquet")
    for people in ("one", "folder"):
        with pytest.raises(BudgetError) as refused:
            prepare(blur, source, tmp_path / "out.parquet", people=people)
        assert "rides" in refused.value.render(values=True)
    sf.release(blur, source, tmp_path / "out.parquet", people="file")
    assert [ledger.balance(name).reports for name in ("monday", "tuesday")] == [4, 4]


def test_a_single_ride_is_one_person(tmp_path):
    source = rides(tmp_path, "monday.gpx") / "monday.gpx"
    prepared = prepare(NOISE, source, tmp_path / "out.parquet")
    assert prepared.people == People(4, 4, 1, assumed=True)
    with pytest.raises(DataError, match="has no column of users"):
        prepare(NOISE, source, tmp_path / "out.parquet", people="column")
