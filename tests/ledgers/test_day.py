"""Days of reports: their guarantee against all paths, their clock, and reports that are drawn once."""

import itertools
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError, UnitError
from sfumato.geo import Projection
from sfumato.ledgers import BudgetError, DayPrivacy, Ledger, TickReport
from sfumato.sequences import MovementModel, PrivateMovementModel


def steep(epsilon, step="1 cm"):
    return sf.mechanisms.planar.CoordinateNoise(epsilon, step, Projection(48.85, 2.35))


NOISE = steep("1000/km")
DAY = sf.Day("3000/km", at=["09:00", "12:00", "18:00"])
START, HOME, WORK, CAFE = (48.80, 2.30), (48.85, 2.35), (48.87, 2.38), (48.88, 2.33)
LINE = sf.Space.numbers([0, 1, 2])


def at(hour, minute=0, day=1):
    return datetime(2026, 12, day, hour, minute, tzinfo=UTC)


def is_near(report, point):
    """Whether a report of the steep noise is of a point: 100 m are 100 times its mean length over 2."""
    return math.hypot(report.lat - point[0], report.lon - point[1]) < 1e-3


@pytest.fixture
def days(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "1000000/km")
    return sf.Blur(NOISE, ledger).day(DAY, start=START)


@pytest.mark.parametrize("seed", range(3))
def test_no_path_of_an_adaptive_day_exceeds_its_bound(seed):
    rng = np.random.default_rng(seed)
    choices: list[Any] = [None, *(sf.mechanisms.geometric(LINE, epsilon) for epsilon in (0.25, 0.5, 1.0))]
    charges = dict(zip(choices, map(Decimal, ("0", "0.25", "0.5", "1.0")), strict=True))
    plan: dict[tuple[float, ...], int] = {}

    def adapt(reports):
        """A random rule of the reports so far, within the day's epsilon."""
        left = Decimal("1.5") - sum((report.epsilon for report in reports), Decimal(0))
        fits = [choice for choice in choices if charges[choice] <= left]
        history = tuple(report.lat for report in reports)
        return fits[plan.setdefault(history, int(rng.integers(1 << 20))) % len(fits)]

    day = sf.Day(1.5, at=["08:00", "12:00", "20:00"], adapt=adapt)
    privacy = day.check(choices[3])
    assert (privacy.epsilon, privacy.ticks) == (Decimal("1.5"), 3)
    paths = {}  # of reports: for each tick the likelihoods of the three values

    def walk(reports, columns):
        if len(reports) == 3:
            paths[tuple(report.lat for report in reports)] = columns
            return
        mechanism: Any = day.mechanism(reports, choices[3])
        if mechanism is None:
            walk([*reports, TickReport(at(8), -1.0, 0.0, Decimal(0))], [*columns, [Fraction(1)] * 3])
            return
        day.check_left(charges[mechanism], reports)
        for observable in range(3):
            column = [Fraction(int(row[observable])) for row in mechanism.weights]
            walk([*reports, TickReport(at(8), float(observable), 0.0, charges[mechanism])], [*columns, column])

    walk([], [])
    factors = [Fraction(privacy.factor(distance)) for distance in range(3)]
    worst = Fraction(0)
    for columns in paths.values():
        for one, other in itertools.product(itertools.product(range(3), repeat=3), repeat=2):
            ratio = Fraction(1)
            for column, s, t in zip(columns, one, other, strict=True):
                ratio *= column[s] / column[t]
            distance = max(abs(s - t) for s, t in zip(one, other, strict=True))
            assert ratio <= factors[distance]
            worst = max(worst, ratio / factors[distance])
    assert worst > Fraction(1, 3)


def test_numbers_of_a_day():
    privacy = DayPrivacy(Decimal(6), Decimal(1), 6, "km")
    assert privacy.factor("100 m") == pytest.approx(1.822, abs=1e-3)
    assert privacy.factor("1 km") == pytest.approx(403.4, abs=0.1)
    assert privacy.for_days(7).factor(0.1) == pytest.approx(66.7, abs=0.1)
    assert privacy.tick_factor("1 km") == pytest.approx(math.e)
    assert privacy.stay_factor(2, "1 km") == pytest.approx(math.e**2)
    slack = DayPrivacy(Decimal(6), Decimal(1), 6, "km", slack_m=100.0)
    assert slack.tick_factor("1 km") == pytest.approx(math.exp(1.1))
    assert slack.factor(0) == 1  # equal days
    assert slack.factor("200 km") == math.inf
    assert "e^(6/km x (r + 100 m))" in slack.sentence
    assert "for any two periods of 7 days" in slack.for_days(7).sentence.lower()
    for wrong in (lambda: privacy.stay_factor(7, 1), lambda: privacy.for_days(0), lambda: privacy.factor(-1)):
        with pytest.raises(InputError):
            wrong()


def test_the_guarantee_of_a_day_is_proved():
    privacy = DAY.check(NOISE)
    assert privacy.epsilon == 3000
    assert privacy.slack_m == NOISE.promise.slack_m > 0
    assert sf.Day("4000/km", at=["09:00", "12:00", "18:00"]).check(NOISE).epsilon == 3000
    with pytest.raises(InputError, match=r"3 reports of 1000/km spend 3000/km, more than the day's 2999/km"):
        sf.Day("2999/km", at=["09:00", "12:00", "18:00"]).check(NOISE)
    with pytest.raises(UnitError, match="per km"):
        sf.Day(3000, every="8 h").check(NOISE)
    with pytest.raises(InputError, match="claimed"):
        DAY.check(NOISE, sf.CoordinatePrivacy("1/km"))
    with pytest.raises(InputError, match="no guarantee"):
        sf.Day(3, every="8 h").check(sf.Mechanism(np.eye(3), LINE))
    cells = sf.Grid.covering("2 km x 2 km around 48.85,2.35", shape=(2, 2))
    table = sf.Mechanism(np.full((4, 4), 0.25), cells)
    privacy = sf.Day("0.003/m", every="8 h").check(table, sf.MetricPrivacy("1/km", cells.metric()))
    assert "mechanism's values for the positions" in privacy.sentence


@pytest.mark.parametrize(("epsilon", "ticks"), [("6/km", 6), ("1/km", 3), ("0.7/mi", 24), ("1e-9/m", 7)])
def test_reports_share_the_epsilon_rounded_down(epsilon, ticks):
    day = sf.Day(epsilon, at=[time(hour) for hour in range(ticks)])
    share, unit = day.report_epsilon.split("/")
    assert day.epsilon * (1 - Decimal("1e-11")) <= Decimal(share) * ticks <= day.epsilon
    assert unit == day.unit


@pytest.mark.parametrize("zone", ["Europe/Paris", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca"])
def test_days_have_as_many_ticks_where_clocks_change(zone):
    day = sf.Day("48/km", every="30 min", zone=zone, reset="04:00")
    before = datetime.min.replace(tzinfo=UTC)
    for number in range(366):
        ticks = day.ticks(date(2018, 1, 1) + timedelta(days=number))
        assert len({tick.key for tick in ticks}) == len(ticks) == 48
        moments = [before, *(tick.time for tick in ticks)]
        assert moments == sorted(moments)
        before = ticks[-1].time
        local = ticks[0].time.astimezone(ZoneInfo(zone))
        assert (local.hour, local.minute) == (4, 0)


def test_a_skipped_time_is_due_at_the_end_of_the_gap():
    day = sf.Day("4/km", at=["02:15", "02:30", "03:00", "03:30"], zone="Europe/Paris")
    gap, twice = day.ticks(date(2026, 3, 29)), day.ticks(date(2026, 10, 25))
    assert [f"{tick.time:%H:%M}" for tick in gap] == ["01:00", "01:00", "01:00", "01:30"]
    assert [f"{tick.time:%H:%M}" for tick in twice] == ["00:15", "00:30", "02:00", "02:30"]


def test_ticks_are_due_by_the_clock_alone():
    day = sf.Day("3/km", at=["23:30", "01:00", "12:00"], zone="Europe/Paris", reset="05:00")
    due = [tick.key for tick in day.due(datetime(2026, 7, 2, 1, 30, tzinfo=ZoneInfo("Europe/Paris")))]
    assert due == ["tick 2026-07-01T10:00Z", "tick 2026-07-01T21:30Z", "tick 2026-07-01T23:00Z"]
    assert day.due(datetime(2026, 7, 2, 3, 0, tzinfo=UTC)) == ()
    with pytest.raises(InputError, match="no zone"):
        day.due(datetime(2026, 7, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"at": ["09:00", "9:00"]}, "twice"),
        ({"at": []}, "no list"),
        ({"at": "09:00"}, "list"),
        ({"at": ["25:00"]}, "time of day"),
        ({"at": [time(9, tzinfo=UTC)]}, "time of day"),
        ({"every": "7 h"}, "divide"),
        ({"every": "10 s"}, "divide"),
        ({"every": "3"}, "unit"),
        ({}, "neither"),
        ({"at": ["09:00"], "every": "3 h"}, "both"),
        ({"every": "3 h", "zone": "Mars/Olympus"}, "no time zone"),
        ({"every": "3 h", "zone": "localtime"}, "no time zone"),
        ({"every": "3 h", "reset": "noon"}, "time of day"),
    ],
)
def test_unclear_days_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sf.Day("6/km", **arguments)


def test_a_schedule_in_words():
    assert sf.Day.parse("6/km every 3 h", zone="Europe/Paris").at == sf.Day("6/km", every="3 h").at
    assert sf.Day.parse("3/km at 09:00, 18:30").at == (time(9), time(18, 30))
    for text in ("6/km", "every 3 h", "6/km hourly", "x/km every 3 h"):
        with pytest.raises(InputError):
            sf.Day.parse(text)


def test_each_tick_is_drawn_once_for_the_last_position(days):
    assert days.answer("ada", now=at(8)) == ()
    (first,) = days.answer("ada", now=at(9, 1))
    assert is_near(first, START)  # no fix yet
    assert days.answer("ada", HOME, now=at(9, 2)) == (first,)
    later = days.answer("ada", WORK, now=at(19))
    assert later[0] == first
    assert [is_near(later[1], HOME), is_near(later[2], WORK)] == [True, True]
    assert days.answer("ada", CAFE, now=at(23)) == later
    without_fix = days.answer("ada", (math.nan, 2.0), now=at(10, day=2))
    assert is_near(without_fix[0], CAFE)
    assert days.ledger.balance("ada").spent == 4000
    assert [is_near(report, START) for report in days.answer("bob", now=at(13))] == [True, True]


def test_two_devices_and_restarted_apps_give_one_report(tmp_path, days):
    first = days.answer("ada", HOME, now=at(12, 30))
    with Ledger(tmp_path / "l.db") as ledger:
        other = sf.Blur(NOISE, ledger).day(DAY, start=START)
        assert other.answer("ada", WORK, now=at(13)) == first
        assert ledger.check().sound
    assert (
        sf.Blur(steep("900/km"), days.ledger).day(DAY, start=START).answer("ada", CAFE, now=at(14))[0][:3]
        == first[0][:3]
    )


def test_ticks_without_budget_repeat_the_last_report(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "1500/km")
    days = sf.Blur(NOISE, ledger).day(DAY, start=START)
    first, second, third = days.answer("ada", HOME, now=at(20))
    assert [report.epsilon for report in (first, second, third)] == [1000, 0, 0]
    assert first[1:3] == second[1:3] == third[1:3]
    with pytest.raises(BudgetError):
        ledger.charge("ada", "1000/km")
    poor = sf.Blur(NOISE, Ledger.create(tmp_path / "m.db", "1/km")).day(DAY, start=START)
    assert poor.answer("ada", HOME, now=at(10)) == (TickReport(at(9), *START, Decimal(0)),)


def test_an_adaptive_day_spends_no_more_than_it_has(tmp_path):
    noises = {epsilon: steep(f"{epsilon}/km") for epsilon in (500, 1000)}

    def adapt(reports):
        return [noises[1000], None, noises[500]][len(reports)]

    day = sf.Day("1500/km", at=["09:00", "12:00", "18:00"], adapt=adapt)
    ledger = Ledger.create(tmp_path / "l.db", "100000/km")
    days = sf.Blur(noises[500], ledger).day(day, start=START)
    reports = days.answer("ada", HOME, now=at(20))
    assert [report.epsilon for report in reports] == [1000, 0, 500]
    assert reports[1][1:3] == reports[0][1:3]
    assert days.answer("ada", WORK, now=at(21)) == reports
    assert ledger.balance("ada").spent == 1500
    greedy = sf.Day("1500/km", at=["09:00", "12:00"], adapt=lambda _: noises[1000])
    with pytest.raises(InputError, match="500/km is left of the day's 1500/km"):
        sf.Blur(noises[500], ledger).day(greedy, start=START).answer("bob", HOME, now=at(13))
    loose = sf.Day("1500/km", at=["09:00"], adapt=lambda _: steep("1/km", "2 m"))
    with pytest.raises(InputError, match="slack"):
        sf.Blur(noises[500], ledger).day(loose, start=START).answer("cy", HOME, now=at(13))


def test_lattices_and_cells_answer_too(tmp_path):
    city = sf.geo.Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")
    uniform = sf.Mechanism(np.full((len(city), len(city)), 1 / len(city)), city)
    ledger = Ledger.create(tmp_path / "l.db", "100/km")
    days = sf.Blur(uniform, ledger, sf.CoordinatePrivacy("1/km")).day(
        sf.Day("3/km", every="8 h"), start=(0.0, 0.0)
    )
    reports = days.answer("ada", (48.85, 2.35), now=at(12))
    known = sf.Blur(uniform, ledger, sf.CoordinatePrivacy("1/km")).report("bob", 48.85, 2.35)
    assert len(reports) == 2
    assert all(abs(report.lat - known[0]) < 0.1 for report in reports)


def test_wrong_positions_and_ledgers_are_refused(tmp_path, days):
    for fix in ((91.0, 0.0), (48.0,), "here"):
        with pytest.raises((InputError, TypeError)):
            days.answer("ada", fix, now=at(12))
    assert days.ledger.balance("ada").spent == 0
    line = sf.mechanisms.geometric(LINE, 1.0)
    with pytest.raises(InputError, match="places"):
        sf.Blur(line, Ledger.create(tmp_path / "n.db", 10)).day(sf.Day(3, every="8 h"), start=START)
    with pytest.raises(InputError, match="position"):
        sf.Blur(NOISE, days.ledger).day(DAY, start=(math.nan, 2.0))
    days.answer("ada", HOME, now=at(9, 30))
    import sqlite3

    with sqlite3.connect(tmp_path / "l.db") as database:
        database.execute("UPDATE sfumato_places SET report = '3'")
    with pytest.raises(FileError, match="no position"):
        days.answer("ada", HOME, now=at(9, 40))


def test_an_estimate_follows_the_reports(days):
    rng = np.random.default_rng(5)
    places = np.array([HOME, WORK, CAFE])
    walk = places[rng.integers(0, 3, 400)]
    times = np.datetime64("2026-01-01T01:00", "us") + np.arange(400) * np.timedelta64(3, "h")
    others = sf.Visits(walk[:, 0], walk[:, 1], ["x"] * 400, times)
    model = MovementModel.of_visits(others, places, DAY.slots, DAY.zone)
    days.answer("ada", HOME, now=at(9, 5))
    at_tick = days.estimate("ada", model, now=at(9, 10))
    assert (at_tick.lat, at_tick.lon) == pytest.approx(HOME, abs=1e-5)
    assert at_tick.as_of == 540
    assert days.estimate("ada", model, now=at(11, 50)).error_m > at_tick.error_m
    assert days.estimate("new", model, now=at(5)).as_of is None
    private = PrivateMovementModel.of_days(others, places, DAY.slots, DAY.zone)
    with pytest.raises(InputError, match="MovementModel"):
        days.estimate("ada", private, now=at(10))
    other = MovementModel.of_visits(others, places, [540, 720], "UTC")
    with pytest.raises(InputError, match="not for the ticks"):
        days.estimate("ada", other, now=at(10))


def test_slots_follow_the_reset():
    day = sf.Day("3/km", at=["23:30", "01:00", "12:00"], reset="05:00")
    assert day.slots == (720, 1410, 1500)
