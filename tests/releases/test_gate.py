"""Limits on what a release asks of one person: refused before anything is drawn, written or charged."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError, UnitError
from sfumato.geo import Projection
from sfumato.mechanisms import DiscreteGaussian, randomised_response
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import PreparedRelease, prepare, prepare_frame

NOISE = CoordinateNoise("10/km", "2 m", Projection(48.85, 2.35), "3 km")
PEOPLE = {"ada": 7, "bob": 5, "cy": 1, "dee": 1}
USERS = [name for name, rows in PEOPLE.items() for _ in range(rows)]
LABELS = sf.Space(list("xyz"))
ANSWERS = randomised_response(LABELS, 0.1)


def places(users=USERS, **more):
    rows = len(users)
    lat = 48.85 + np.arange(rows) / 1e4
    return pa.table({"lat": lat, "lon": np.full(rows, 2.35), **({"user": users} if users else {}), **more})


def as_csv(path, table):
    path.write_text(table.to_pandas().to_csv(index=False))
    return path


@pytest.mark.parametrize("limit", range(1, 9))
def test_as_many_people_exceed_a_limit_as_a_count_by_hand_says(limit):
    over = sum(rows > limit for rows in Counter(USERS).values())
    for limits in ({"max_reports_per_person": limit}, {"max_epsilon_per_person": f"{10 * limit}/km"}):
        if not over:
            assert len(sf.release(NOISE, places(), **limits)) == len(USERS)
            continue
        with pytest.raises(DataError, match=rf"^{over} of 4 people would exceed {next(iter(limits))}=") as refused:
            sf.release(NOISE, places(), **limits)
        assert "7" in refused.value.problem
        assert not any(name in str(refused.value) for name in PEOPLE)


def test_a_total_of_epsilon_is_compared_in_decimals_and_in_any_unit_of_length():
    with pytest.raises(DataError, match="largest epsilon is 70/km, of 7 reports"):
        prepare_frame(NOISE, places(), max_epsilon_per_person="0.069/m")
    prepare_frame(NOISE, places(), max_epsilon_per_person="0.07/m")
    prepare_frame(NOISE, places(), max_epsilon_per_person=70)
    tenth = CoordinateNoise("0.1/km", "2 m", Projection(48.85, 2.35), "3 km")
    assert 7 * Fraction(0.1) > Fraction("0.7")
    prepare_frame(tenth, places(), max_epsilon_per_person="0.7/km")
    with pytest.raises(
        DataError,
        match=r"1 of 4 people would exceed .*0\.69/km.*: the largest epsilon is 0\.70*1?/km, of 7 reports",
    ):
        prepare_frame(tenth, places(), max_epsilon_per_person="0.69/km")


def test_nothing_is_written_and_what_is_there_stays(tmp_path):
    source, target = as_csv(tmp_path / "visits.csv", places()), tmp_path / "private.csv"
    target.write_text("old")
    before = sorted(path.name for path in tmp_path.iterdir())
    for limits in ({"max_reports_per_person": 6}, {"max_epsilon_per_person": "69/km"}):
        with pytest.raises(DataError, match="Nothing was drawn"):
            sf.release(NOISE, source, target, **limits)
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        assert target.read_text() == "old"
    assert sf.release(NOISE, source, target, max_reports_per_person=7, max_epsilon_per_person="70/km").rows == 14


def test_a_ledger_is_not_charged(tmp_path):
    ledger = sf.Ledger.create(tmp_path / "ledger.db", "1000/km")
    blur = sf.Blur(NOISE, ledger)
    with pytest.raises(DataError, match=r"1 of 4 people would exceed"):
        sf.release(blur, places(), max_reports_per_person=6)
    assert not ledger.users
    sf.release(blur, places(), max_reports_per_person=7)
    assert list(ledger.users) == sorted(PEOPLE)


@pytest.mark.parametrize(
    ("users", "why"),
    [
        ([*USERS[:-1], None], "1 row names no user"),
        ([*USERS[:-2], "", "  "], "2 rows name no user"),
    ],
)
def test_people_who_cannot_be_counted_are_not_passed(users, why):
    table = places(users)
    for limits in ({"max_reports_per_person": 10**9}, {"max_epsilon_per_person": "1e9/km"}):
        with pytest.raises(DataError, match=f"{next(iter(limits))}= cannot be checked, because {why}"):
            sf.release(NOISE, table, **limits)


def test_rows_of_places_without_users_are_one_person_s():
    table = places().drop_columns("user")
    sf.release(NOISE, table, max_reports_per_person=len(table))
    with pytest.raises(
        DataError, match=f"1 of 1 person would exceed .*: the largest number is {len(table)}"
    ) as refused:
        sf.release(NOISE, table, max_reports_per_person=len(table) - 1)
    assert "column" in str(refused.value)


def test_values_without_users_cannot_be_counted():
    space = sf.Space(["yes", "no"])
    coin = sf.mechanisms.randomised_response(space, 1.0)
    with pytest.raises(DataError, match="cannot be checked, because no column names the users"):
        sf.release(coin, pa.table({"answer": ["yes", "no"]}), column="answer", max_reports_per_person=1)


def test_a_place_that_is_reported_once_counts_once():
    table = places(venue=[f"v{k % 3}" for k in range(len(USERS))])
    with pytest.raises(DataError, match=r"2 of 4 people would exceed .* the largest number is 3"):
        sf.release(NOISE, table, place_column="venue", max_reports_per_person=2)
    sf.release(NOISE, table, place_column="venue", max_reports_per_person=3)


def test_rows_that_may_be_dropped_count():
    table = places()
    far = pa.concat_tables([table, pa.table({"lat": [10.0], "lon": [2.35], "user": ["ada"]})])
    with pytest.raises(DataError, match=r"^up to 1 of 4 people .* is 8, where every row that may have a report"):
        sf.release(NOISE, far, outside="drop", allow=0.5, max_reports_per_person=7)


def test_earlier_releases_of_the_source_count(tmp_path):
    source = as_csv(tmp_path / "visits.csv", places())
    sf.release(NOISE, source, tmp_path / "a.csv", max_reports_per_person=7)
    for limits in ({"max_reports_per_person": 13}, {"max_epsilon_per_person": "139/km"}):
        with pytest.raises(DataError, match=r"1 of 4 people .* over 2 releases of this source"):
            sf.release(NOISE, source, tmp_path / "b.csv", again=True, **limits)
    made = prepare(
        NOISE, source, tmp_path / "b.csv", again=True, max_reports_per_person=14, max_epsilon_per_person="140/km"
    )
    made.run()
    with pytest.raises(DataError, match="21 over 3 releases of this source"):
        made.run()
    other = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35), "3 km")
    with pytest.raises(InputError, match="released before with another mechanism"):
        sf.release(other, source, tmp_path / "c.csv", again=True, max_epsilon_per_person="1000/km")


def test_a_release_that_goes_on_is_checked_as_a_whole(tmp_path):
    source, target = as_csv(tmp_path / "visits.csv", places()), tmp_path / "private.csv"
    made = prepare(NOISE, source, target, batch_rows=4, max_reports_per_person=7)
    with pytest.raises(KeyboardInterrupt):
        made.run(_interrupt)
    with pytest.raises(DataError, match=r"1 of 4 people"):
        prepare(NOISE, source, target, batch_rows=4, max_reports_per_person=6, resume=True)
    assert isinstance(made, PreparedRelease)
    assert made.is_resumable
    prepare(NOISE, source, target, batch_rows=4, max_reports_per_person=7, resume=True).run()
    assert target.exists()


def _interrupt(done):
    raise KeyboardInterrupt


def test_an_epsilon_that_nothing_bounds_or_of_another_unit_is_refused():
    answers = pa.table({"user": ["ada"] * 2, "n": list("xy")})
    bare = sf.Mechanism(np.eye(3), LABELS)
    with pytest.raises(InputError, match="no epsilon is proved for every report"):
        prepare_frame(bare, answers, column="n", user="user", max_epsilon_per_person="3")
    gaussian = DiscreteGaussian(1.0, sensitivity=1)
    numbers = pa.table({"user": ["ada"], "n": [1]})
    with pytest.raises(InputError, match="no epsilon is proved for every report"):
        prepare_frame(gaussian, numbers, column="n", user="user", max_epsilon_per_person="3")
    for wrong in ("50/h", "50", "50 km", "lots"):
        with pytest.raises(UnitError):
            prepare_frame(NOISE, places(), max_epsilon_per_person=wrong)
    with pytest.raises(UnitError):
        prepare_frame(ANSWERS, answers, column="n", user="user", max_epsilon_per_person="3/km")


@pytest.mark.parametrize(
    "limits",
    [
        {"max_reports_per_person": 0},
        {"max_reports_per_person": -3},
        {"max_reports_per_person": True},
        {"max_reports_per_person": 2.5},
        {"max_epsilon_per_person": "0/km"},
        {"max_epsilon_per_person": "-1/km"},
        {"max_epsilon_per_person": float("nan")},
        {"max_epsilon_per_person": True},
    ],
)
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(InputError, match=next(iter(limits))):
        sf.release(NOISE, places(), **limits)


def test_the_largest_epsilon_of_several_mechanisms_counts_and_columns_of_one_row_add_up():
    several = {"a": randomised_response(LABELS, 0.5), "b": randomised_response(LABELS, 1.5)}
    rows = pa.table({"user": ["ada"] * 3, "n": list("xyz"), "m": list("zyx"), "which": list("aab")})
    with pytest.raises(DataError, match=r"largest epsilon is 4\.5, of 3 reports"):
        prepare_frame(several, rows, column="n", by="which", user="user", max_epsilon_per_person="4.4")
    both = {"n": several["a"], "m": several["b"]}
    with pytest.raises(DataError, match="largest epsilon is 6, of 3 reports"):
        prepare_frame(both, rows, column=["n", "m"], user="user", max_epsilon_per_person="5.9")
    prepare_frame(both, rows, column=["n", "m"], user="user", max_epsilon_per_person="6")
