"""Limits for a day, for a week and for ever, and clocks that are set back or ahead."""

import datetime as dt
from collections import Counter
from fractions import Fraction

import pytest

from sfumato.errors import InputError, UnitError
from sfumato.ledgers import BudgetError, Charge, Ledger

from .altered import alter, stop_clock

HOUR = 3600
DAY = 24 * HOUR
MONDAY = 1_800_230_400  # 2027-01-18, the first second


@pytest.fixture
def clock(monkeypatch):
    """Set the time, which SQLite ledgers take from this machine."""

    def put(seconds):
        monkeypatch.setattr("time.time", lambda: float(seconds))

    put(MONDAY)
    return put


def test_the_monday_is_one():
    begins = dt.datetime.fromtimestamp(MONDAY, dt.UTC)
    assert (begins.weekday(), begins.hour, begins.minute, begins.second) == (0, 0, 0, 0)


def test_a_day_and_a_week_are_renewed_and_the_whole_is_not(tmp_path, clock):
    ledger = Ledger.create(tmp_path / "l.db", ["10", "2 per day", "5 per week"])
    assert ledger.limits == ("2 per day", "5 per week", "10")
    assert Ledger.create(tmp_path / "m.db", ["10 Ever", "2 per Day"]).limits == ("2 per day", "10")

    def spend(seconds, times):
        clock(seconds)
        for _ in range(times):
            ledger.charge("ada", 1)
        with pytest.raises(BudgetError) as caught:
            ledger.charge("ada", 1)
        return str(caught.value)

    assert "2 of 2 today (UTC); 0 is left" in spend(MONDAY, 2)
    assert "today" in spend(MONDAY + DAY - 1, 0)
    assert "today" in spend(MONDAY + DAY, 2)
    said = spend(MONDAY + 2 * DAY, 1)
    assert "5 of 5 this week (since Monday, UTC)" in said
    assert "wait until Monday" in said
    assert "this week" in spend(MONDAY + 7 * DAY - 1, 0)
    assert "today" in spend(MONDAY + 7 * DAY, 2)
    assert "today" in spend(MONDAY + 9 * DAY, 2)
    assert "10 of 10 in 10 reports" in spend(MONDAY + 10 * DAY, 1)  # the week has nothing left either
    clock(MONDAY + 70 * DAY)
    assert "10 of 10 in 10 reports" in spend(MONDAY + 70 * DAY, 0)
    balance = ledger.balance("ada")
    assert [each.window for each in balance.windows] == ["day", "week", "ever"]
    assert [int(each.spent) for each in balance.windows] == [0, 0, 10]
    assert (int(balance.spent), int(balance.left), balance.reports) == (10, 0, 10)
    assert ledger.check().sound


def test_sums_of_windows_are_those_of_a_plain_count(tmp_path, clock):
    """Against a list of all charges, counted anew each time by Python's own calendar."""
    ledger = Ledger.create(tmp_path / "l.db", ["3 per day", "7 per week"])
    granted: list[dt.date] = []
    for step in range(120):
        now = MONDAY + step * 5 * HOUR + step**2 % 7 * 1000
        clock(now)
        today = dt.datetime.fromtimestamp(now, dt.UTC).date()
        same = sum(each == today for each in granted)
        week = sum(each.isocalendar()[:2] == today.isocalendar()[:2] for each in granted)
        fits = same < 3 and week < 7
        try:
            ledger.charge("ada", 1)
            granted.append(today)
            assert fits
        except BudgetError:
            assert not fits
    assert len(granted) > 20
    assert ledger.check().sound


def test_budgets_count_charges_and_refused_requests_of_each_day(tmp_path, clock):
    """Against a plain count; users have pseudonyms, and a refused request changes no account."""
    ledger = Ledger.create(tmp_path / "l.db", ["2 per day", "5"])
    spent: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for step in range(60):
        now = MONDAY + step * 3 * HOUR
        clock(now)
        day = dt.datetime.fromtimestamp(now, dt.UTC).date().isoformat()
        try:
            ledger.charge(f"user{step % 3}", 1)
            spent[day] += 1
        except BudgetError:
            refused[day] += 1
    facts = ledger.budgets()
    assert {each.day: each.spent for each in facts.days if each.spent} == spent
    assert {each.day: each.refused for each in facts.days if each.refused} == refused
    assert all(each.renewed for each in facts.days)
    assert facts.users == facts.exhausted == 3
    assert not {each.user for each in facts.near} & set(ledger.users)
    assert {each.user for each in ledger.budgets(identities=True).near} == set(ledger.users)
    assert sum(each.spent for each in facts.classes) == sum(spent.values()) == 15
    assert len(ledger.budgets(days=1).days) == 1
    assert ledger.check().sound


def test_a_ledger_without_a_count_of_refusals_refuses_all_the_same(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", 1)
    alter(f"sqlite:///{tmp_path / 'l.db'}", "DROP TABLE sfumato_refusals")
    ledger.charge("ada", 1)
    with pytest.raises(BudgetError):
        ledger.charge("ada", 1)


def test_a_clock_that_is_set_back_gives_nothing_back(tmp_path, clock):
    ledger = Ledger.create(tmp_path / "l.db", "1 per day")
    clock(MONDAY + DAY)
    ledger.charge("ada", 1)
    for back in (DAY, 2 * DAY, 400 * DAY):
        clock(MONDAY + DAY - back)
        with pytest.raises(BudgetError, match="today"):
            ledger.charge("ada", 1)
        assert ledger.balance("ada").left == 0
        ledger.charge(f"bob{back}", 1)
        with pytest.raises(BudgetError):
            ledger.charge(f"bob{back}", 1)
    found = ledger.check()
    assert found.sound
    assert "seconds behind the latest charge" in found.notes[-1]
    clock(MONDAY + 2 * DAY)
    assert ledger.charge("ada", 1).left == 0


def test_a_clock_that_was_ahead_renews_nothing_until_then(tmp_path, clock):
    ledger = Ledger.create(tmp_path / "l.db", ["1 per day", "2"])
    clock(MONDAY + 30 * DAY)
    ledger.charge("ada", 1)
    clock(MONDAY + DAY)
    with pytest.raises(BudgetError, match="today"):
        ledger.charge("ada", 1)
    clock(MONDAY + 31 * DAY)
    ledger.charge("ada", 1)
    clock(MONDAY + 32 * DAY)
    with pytest.raises(BudgetError, match="2 of 2 in 2 reports"):
        ledger.charge("ada", 1)


def test_windows_in_postgresql_follow_the_servers_clock(database):
    ledger = Ledger.create(database, ["1 per day", "2 per week"])
    stop_clock(database)  # no midnight comes between the charges
    ledger.charge_many([Charge("ada", 1), Charge("bob", "0.5")])
    with pytest.raises(BudgetError, match="today"):
        ledger.charge("ada", 1)
    for _ in range(2):  # what the ledger does at a later time, which it takes the latest charge's for
        alter(database, f"UPDATE sfumato_ledger SET time = time + {7 * DAY}")
        assert ledger.charge("ada", 1).left == 0
    assert ledger.balance("ada").spent == 3


@pytest.mark.parametrize(
    ("given", "unit", "limits", "found"),
    [
        ("5/km per day", None, ("5/km per day",), "km"),
        ("5/km a week", None, ("5/km per week",), "km"),
        ("5 per km", None, ("5/km",), "km"),
        ("5 per km each day", None, ("5/km per day",), "km"),
        ("0.005/m per day", "km", ("5/km per day",), "km"),
        ("5/km ever", None, ("5/km",), "km"),
        (5, None, ("5",), ""),
        (5, "metres", ("5/m",), "m"),
        (["1 per day", 3], None, ("1 per day", "3"), ""),
        ("2/hop per week", None, ("2/hop per week",), "hop"),
        ("2/day", "day", ("2/day",), "day"),
    ],
)
def test_limits_are_read(tmp_path, given, unit, limits, found):
    ledger = Ledger.create(tmp_path / "l.db", given, unit=unit)
    assert (ledger.limits, ledger.unit) == (limits, found)
    assert Ledger(tmp_path / "l.db").limits == limits
    assert ledger.balance("ada").left > Fraction(0)


@pytest.mark.parametrize(
    "given", ["", "per day", "5 per year", "5/day", "5/Day", "1 per week per day", [], ["1", "2"],
              ["1/km", "1/m per day", 3], ["1 per day", "2 per day"], "5/h", "-1 per day",
              "0", ["1/km", "2 per day"], "5 km per day"],
)  # fmt: skip
def test_what_is_no_limit_is_refused(tmp_path, given):
    with pytest.raises((InputError, UnitError)):
        Ledger.create(tmp_path / "l.db", given)
    assert list(tmp_path.iterdir()) == []


def test_an_amount_that_never_fits_is_not_for_tomorrow(tmp_path, clock):
    ledger = Ledger.create(tmp_path / "l.db", ["20/km per day", "100/km"])
    with pytest.raises(BudgetError) as caught:
        ledger.charge("ada", "77/km")
    said = str(caught.value)
    assert "20/km is left, but 77/km is needed. This is more than the whole limit of 20/km per day." in said
    assert "tomorrow" not in said
    assert "fewer reports of one person" in said
    ledger.charge("ada", "15/km")
    with pytest.raises(BudgetError, match="wait until tomorrow"):
        ledger.charge("ada", "20/km")


def test_nobody_waits_for_a_day_that_the_whole_does_not_allow(tmp_path, clock):
    ledger = Ledger.create(tmp_path / "l.db", ["4 per day", "5 per week", "6"])
    ledger.charge("ada", 4)
    with pytest.raises(BudgetError, match="wait until Monday"):
        ledger.charge("ada", 2)
    with pytest.raises(BudgetError, match="4 of 6 in 1 report; 2 of it is left, but 3 is needed") as caught:
        ledger.charge("ada", 3)
    assert caught.value.left == ledger.balance("ada").left == 0  # today's
    assert "wait" not in str(caught.value)


@pytest.mark.parametrize(
    "budget",
    ["20/km per fortnight", "20 per fortnight", "20/km/day", "20/km a month", "20/km daily", "20/km per 2 weeks"],
)
def test_a_time_that_is_not_counted_is_no_unit(tmp_path, budget):
    with pytest.raises(
        InputError, match="for an unknown period: a limit is per day, per week or for all time"
    ) as caught:
        Ledger.create(tmp_path / "l.db", budget)
    assert "'20/km per day' or '20/km per week'" in caught.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("budget", ["20/km", "20 per km", "5 a day", "1e3/mi each week", "7/hops ever"])
def test_limits_that_were_read_before_still_are(tmp_path, budget):
    assert Ledger.create(tmp_path / "l.db", budget).limits
