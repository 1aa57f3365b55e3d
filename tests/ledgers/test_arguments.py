"""Values of the wrong type: each is refused in the caller's words, and nobody is charged."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.ledgers import Blur, BudgetError, Charge, Ledger
from sfumato.mechanisms.planar import CoordinateNoise

NOISE = CoordinateNoise.for_visits(sf.Visits([48.84, 48.88], [2.3, 2.4]), "1/km")
EVEN = sf.Mechanism(np.full((3, 3), 1 / 3), sf.Space("abc"))
ONES = sf.MetricPrivacy(1.0, sf.Metric(1.0 - np.eye(3)))
AT = ([48.85], [2.35])


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "l.db", "9/km")


@pytest.fixture
def app(ledger):
    return Blur(NOISE, ledger)


@pytest.fixture
def labels(tmp_path):
    return Blur(EVEN, Ledger.create(tmp_path / "labels.db", 9), ONES)


@pytest.mark.parametrize(
    "limit", [b"1", bytearray(b"1"), memoryview(b"1"), [b"1"], None, {"1/km": 1}, [None], [[1]]]
)
def test_limits_are_texts_or_numbers(tmp_path, limit):
    with pytest.raises(InputError):
        Ledger.create(tmp_path / "l.db", limit)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "call",
    [
        lambda ledger: ledger.charge_many(None),
        lambda ledger: ledger.charge_many(5),
        lambda ledger: ledger.charge_many("ada"),
        lambda ledger: ledger.charge_many(Charge("ada", 1)),
        lambda ledger: ledger.charge_many([], run=5),
        lambda ledger: ledger.charge_many([], run=None),
        lambda ledger: ledger.charge_many([Charge("ada", 1)], run="r", batch="1"),
        lambda ledger: ledger.charge_many([Charge("ada", 1)], run="r", batch=True),
        lambda ledger: ledger.charge_many([Charge("ada", 1)], run="r", batch=-1),
        lambda ledger: ledger.charge_many([Charge("ada", 1, mechanism="ab")]),  # type: ignore[arg-type]
        lambda ledger: ledger.charge_many([Charge("ada", 1, mechanism=None)]),  # type: ignore[arg-type]
        lambda ledger: ledger.charge_many([Charge(5, 1)]),  # type: ignore[arg-type]
        lambda ledger: ledger.afford(None),
        lambda ledger: ledger.charge("ada", None),
        lambda ledger: ledger.charge("ada", 1, "2"),
        lambda ledger: ledger.balance(None),
        lambda ledger: ledger.last_report(5, b"m"),
        lambda ledger: ledger.last_report("ada", "m"),
        lambda ledger: ledger.remembers(["ada"], [5], b"m"),
        lambda ledger: ledger.remembers(["ada"], ["home"], "m"),
        lambda ledger: ledger.remembers(["ada"], [], b"m"),
        lambda ledger: ledger.remembers(None, None, b"m"),
        lambda ledger: ledger.check(head=5),
    ],
)
def test_calls_of_a_ledger(ledger, call):
    with pytest.raises(InputError):
        call(ledger)
    assert not ledger.users


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        (None, "is of type NoneType"),
        ([], "0 reports for 1 visits"),
        ([1, 2], "2 reports for 1 visits"),
        ([1.5], "is not a report"),
        (["1"], "is not a report"),
        ([(1.0, math.nan)], "is not a report"),
        ([True], "is not a report"),
        (5, "is of type int"),
    ],
)
def test_what_is_drawn_must_be_reports(ledger, drawn, message):
    for place in (None, "home"):
        with pytest.raises(InputError, match=message):
            ledger.reports(["ada"], [place], 1, lambda visits: drawn, b"m")
    assert not ledger.users
    assert ledger.reports(["ada"], ["home"], 1, lambda visits: np.array([2]), b"m") == [2]
    with pytest.raises(InputError, match="draw= is of type"):
        ledger.reports(["ada"], ["home"], 1, None, b"m")


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("users", "places"),
    [
        (["ada"], None),
        (None, ["home"]),
        (["ada"], [5]),
        (["ada"], [0]),
        (["ada"], [False]),
        (["ada"], [b"home"]),
        (["ada"], [math.inf]),
        (["ada"], [Decimal(1)]),
        ([5], [None]),
        ([None], [None]),
        ([math.nan], [None]),
        ("a", ["home"]),
        (["ada"], "h"),
        ({"ada"}, ["home"]),
        ({"ada": 1}, ["home"]),
        (["ada"], {"home": 1}),
        (["ada"], np.array([["home"]])),
        (["ada", "bob"], ["home"]),
        (iter(["ada"]), ["home"]),
    ],
)
def test_users_and_places_of_visits(app, labels, users, places):
    for call in (
        lambda: app.report_all(users, *AT, places),
        lambda: app.reports(users, places, lambda visits: [(48.85, 2.35)] * len(visits)),
        lambda: app.remembers(users, places),
        lambda: labels.draw_all(users, np.array([1]), places),
    ):
        with pytest.raises(InputError):
            call()
    assert not app.ledger.users
    assert not labels.ledger.users


@pytest.mark.parametrize("missing", [None, "", math.nan, np.float32("nan"), pd.NA, pd.NaT])
def test_a_missing_place_is_none_and_is_charged_afresh(app, labels, missing):
    for spent in (1, 2):
        app.report_all(["ada"], *AT, [missing])
        assert app.ledger.balance("ada").spent == spent
        labels.draw_all(["ada"], np.array([1]), [missing])
        assert labels.ledger.balance("ada").spent == spent
    assert app.remembers(["ada"], [missing]) == [False]
    assert app.ledger.check().places == 0


def test_columns_of_data_frames_are_lists_of_visits(app):
    frame = pd.DataFrame({"user": ["ada", "bob", "ada"], "place": ["home", None, math.nan]}, index=[7, 8, 9])
    found = app.report_all(frame["user"], [48.85] * 3, [2.35] * 3, frame["place"])
    assert found.shape == (3, 2)
    assert app.remembers(frame["user"].to_numpy(), frame["place"]) == [True, False, False]
    assert [app.ledger.balance(user).reports for user in ("ada", "bob")] == [2, 1]
    assert set(map(type, app.ledger.users)) == {str}


@pytest.mark.parametrize("positions", [[3], [-1], [1.0], ["1"], [True], [None], 1, None, [[1]], [1, 2], [2**70]])
def test_positions_are_those_of_secrets(labels, positions):
    with pytest.raises(InputError, match="positions="):
        labels.draw_all(["ada"], positions, [None])
    assert not labels.ledger.users
    assert labels.draw_all(["ada"], [2], [None])[0] in range(3)
    assert labels.draw_all([], [], []) == []


@pytest.mark.parametrize(
    "arguments", [(5,), (None,), ("ada", 1.5), ("ada", "2"), ("ada", None), ("ada", True)], ids=repr
)
def test_charges_of_an_app(app, arguments):
    with pytest.raises(InputError):
        app.charge_for(*arguments)


def test_a_user_of_numpy_is_the_same_as_one_of_python(app):
    app.ledger.charge_many([Charge(np.str_("ada"), "1/km")], run="r", batch=np.int64(3))
    assert not app.ledger.charge_many([Charge("ada", "1/km")], run="r", batch=3)
    assert app.ledger.users == ("ada",)
    with pytest.raises(BudgetError):
        app.ledger.charge("ada", "9/km")
