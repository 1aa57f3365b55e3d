"""An app's calls: the last one of a day, many at once from everywhere, and values that no app should pass."""

import asyncio
import math
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.ledgers import Blur, BudgetError, Ledger
from sfumato.mechanisms.planar import CoordinateNoise

from ..tasks import run_tasks
from .processes import Worker, blur_places

NOISE = CoordinateNoise("0.1/km", "2 m", Projection(48.86, 2.34), "30 km")
HOME = 48.851, 2.3512
DAY = 86_400
BEGIN = 1_800_230_400


@pytest.mark.parametrize("spent", ["refuse", "repeat"])
def test_the_fiftieth_call_of_a_day(tmp_path, monkeypatch, spent):
    """Forty-nine times 0.1 are 4.9, exactly."""
    now = [BEGIN]
    monkeypatch.setattr("time.time", lambda: float(now[0]))
    app = Blur(NOISE, Ledger.create(tmp_path / "l.db", ["4.9/km per day", "9.8/km"]), fallback=spent)
    for day in range(2):
        now[0] = BEGIN + day * DAY
        reports = [tuple(app.report("ada", *HOME)) for _ in range(49)]
        assert (
            len(set(reports)) >= 46
        )  # a pair is one with a probability of 2e-9: no three of 1,176, but once in 1e16
        now[0] += DAY - 1
        if spent == "repeat":
            assert tuple(app.report("ada", 48.9, 2.4)) == reports[-1]
        else:
            barred = r"9\.8/km of 9\.8/km in 98 reports" if day else r"4\.9/km of 4\.9/km today \(UTC\)"
            with pytest.raises(BudgetError, match=barred):  # the limit that bars it longest
                app.report("ada", *HOME)
    now[0] += 1
    if spent == "repeat":
        assert tuple(app.report("ada", *HOME)) == reports[-1]
    else:
        with pytest.raises(BudgetError, match=r"9\.8/km of 9\.8/km in 98 reports"):
            app.report("ada", *HOME)
    assert app.ledger.balance("ada").reports == 98
    assert app.ledger.check().sound


def test_threads_share_one_app(address):
    app = Blur(NOISE, Ledger.create(address, "100/km"))
    found: list[tuple[float, ...]] = []
    threads = [
        threading.Thread(target=lambda: found.append(tuple(app.report("ada", *HOME, place="home"))))
        for _ in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    assert len(set(found)) == 1
    assert app.ledger.balance("ada").reports == 1


def test_tasks_share_one_app(address):
    app = Blur(NOISE, Ledger.create(address, "100/km"))

    async def ask(place):
        return tuple(await asyncio.to_thread(app.report, "ada", *HOME, place=place))

    async def all_at_once():
        return await asyncio.gather(*(ask(place) for place in ("home", None) * 20))

    found = run_tasks(all_at_once)
    assert len(set(found[::2])) == 1
    assert len(set(found[1::2])) == 20
    assert app.ledger.balance("ada").reports == 21
    assert app.ledger.check().sound


@pytest.mark.thinned(2)
def test_processes_agree_on_each_place(address):
    ledger = Ledger.create(address, "100/km")
    output = [each for (each,) in (worker.output() for worker in [Worker(blur_places, address) for _ in range(4)])]
    assert all(each == output[0] for each in output)
    assert len(set(output[0])) == 10
    assert ledger.balance("ada").reports == ledger.check().places == 10


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """An app that grants everything."""
    return Blur(NOISE, Ledger.create(tmp_path_factory.mktemp("app") / "l.db", "1000000/km"))


@pytest.mark.parametrize(
    "lat", [math.nan, math.inf, -math.inf, 90.1, -91, 10**400, "48.85", None, True, 1j, [48.85], b"1"]
)
@pytest.mark.parametrize("outside", ["error", "nearest"])
def test_what_is_no_latitude_costs_nothing(app, lat: Any, outside: Any):
    before = app.ledger.head
    for point in ((lat, 2.35), (48.85, 1e999 if lat is None else lat)):
        if point == (48.85, 90.1) or point == (48.85, -91):
            continue  # a longitude
        with pytest.raises(InputError):
            app.report("ada", *point, outside=outside)
    assert app.ledger.head == before


@pytest.mark.parametrize(
    "user",
    [
        "",
        " ",
        "ada ",
        "a\0b",
        "a\nb",
        "\u202eada",
        "\u2066a\u2069",
        "\u200e",
        "a" * 257,
        5,
        None,
        b"a",
        True,
        1.5,
        ("a",),
    ],
)
def test_what_is_no_name_costs_nothing(app, user: Any):
    before = app.ledger.head
    with pytest.raises(InputError):
        app.report(user, *HOME)
    if user not in ("", None):
        with pytest.raises(InputError):
            app.report("ada", *HOME, place=user)
    assert app.ledger.head == before


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20), st.floats(), st.floats(), st.one_of(st.none(), st.text(max_size=20)))
def test_any_call_is_refused_free_or_charged_once(app, user, lat, lon, place):
    before = app.ledger.check().charges
    try:
        report = app.report(user, lat, lon, place=place)
    except InputError:
        assert app.ledger.check().charges == before
        return
    assert np.isfinite(report).all()
    assert app.ledger.check().charges <= before + 1
