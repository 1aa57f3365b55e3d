"""Clients of one PostgreSQL ledger on several hosts: their clocks and time zones, and crashes of both sides."""

import contextlib
import datetime as dt
import random
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from sfumato.errors import FileError
from sfumato.ledgers import BudgetError, Ledger
from tests.thinned import thinned

from ..releases.forks import PATIENCE_S, SEARCH
from .altered import alter, rows
from .processes import (
    Worker,
    charge_as_host,
    charge_for_ever,
    charge_until_stopped,
    create,
    drawn,
    report_for_ever,
)
from .server import Server

HOSTS = (
    ("Pacific/Kiritimati", 14 * 3600),
    ("America/Adak", -10 * 3600),
    ("Asia/Kathmandu", 400 * 86_400),
    ("UTC", 0),
    ("Europe/London", -400 * 86_400),
    ("Australia/Lord_Howe", 59),
    ("America/St_Johns", -3_600),
    ("Antarctica/Troll", 86_399),
)
CRASHES = ("immediate", "killed", "a part killed")


@pytest.fixture(scope="module")
def server(pgserver: ModuleType) -> Iterator[Server]:
    """A server that may be killed."""
    found = Server(pgserver)
    yield found
    found.remove()


@pytest.fixture
def schema(server: Server) -> str:
    """The name of an empty schema on the server."""
    name = f"t{secrets.token_hex(6)}"
    with server.connection() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    return name


@pytest.fixture
def shared(server: Server, schema: str) -> str:
    """The address of the schema, at which functions of the server can be replaced by others."""
    return f"{server.address}?options=-csearch_path%3D{schema},pg_catalog"


def patient(act, *arguments):
    """Return what a call returns once the server is there again."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            return act(*arguments)
        except FileError:
            time.sleep(0.1)
    return act(*arguments)


@pytest.mark.slow
def test_hosts_with_other_clocks_and_zones_spend_one_budget(shared):
    assert Worker(create, shared, 400 * 86_400).output() == ["made"]  # by a host whose clock is ahead
    ledger = Ledger(shared)
    hosts = [Worker(charge_as_host, shared, zone, ahead) for zone, ahead in HOSTS]
    output = [host.output() for host in hosts]
    assert all(each[-1] == "refused" for each in output), output
    assert sum(each[-2] for each in output) == 50
    balance = ledger.balance("ada")
    assert balance.spent == 5
    assert balance.left == 0
    assert balance.reports == 50
    assert ledger.check().sound
    times = [row["time"] for row in rows(shared, "charges")]
    assert max(abs(each - time.time()) for each in times) < 3600  # the server's clock


def wait_for(shared, charges):
    """Wait until there are so many charges."""
    until = time.monotonic() + PATIENCE_S
    while (made := len(rows(shared, "charges"))) < charges:
        assert time.monotonic() < until, f"{made} of {charges} charges after {PATIENCE_S} seconds"
        time.sleep(0.1)


# A midnight, and that of a Sunday.
@pytest.mark.parametrize("border", thinned(("2027-01-20", "2027-01-18"), 2))
def test_at_the_border_of_a_window_each_side_is_spent_once(shared, schema, border):
    """The server's clock is replaced by one that stands still, and comes to midnight while all are charging."""
    midnight = int(dt.datetime.fromisoformat(border).replace(tzinfo=dt.UTC).timestamp())
    alter(
        shared,
        f"CREATE TABLE clock AS SELECT to_timestamp({midnight - 1}) AS now",
        "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
        f"$$ SELECT now FROM {schema}.clock $$",
    )
    ledger = Ledger.create(shared, ["1 per day", "1.5 per week"])
    hosts = [Worker(charge_until_stopped, shared, zone, ahead) for zone, ahead in HOSTS]
    assert [host.word() for host in hosts] == ["open"] * len(HOSTS)
    monday = border == "2027-01-18"
    expected = {False: 10, True: 10 if monday else 5}
    wait_for(shared, expected[False])
    alter(shared, f"UPDATE clock SET now = to_timestamp({midnight})")
    wait_for(shared, sum(expected.values()))
    for host in hosts:
        host.pipe.send("stop")
    granted = sum(host.output()[-1] for host in hosts)
    days = Counter(row["time"] >= midnight for row in rows(shared, "charges"))
    assert days == expected
    assert granted == days.total()
    assert ledger.check().sound


def test_of_many_that_create_one_does(shared):
    output = [worker.output() for worker in [Worker(create, shared, 0) for _ in range(4)]]
    assert Counter(each for (each,) in output) == {"made": 1, "a ledger exists already": 3}
    assert Ledger(shared).check().sound


def test_no_setting_of_the_server_makes_charges_fail(server, schema):
    """Not even one under which transactions at the same time would refuse each other."""
    address = (
        f"{server.address}?options=-csearch_path%3D{schema} -cdefault_transaction_isolation%3Dserializable "
        "-csynchronous_commit%3Doff -cDateStyle%3DGerman -cTimeZone%3DAsia/Kathmandu -clock_timeout%3D1"
    )
    ledger = Ledger.create(address, 5)
    output = [host.output() for host in [Worker(charge_as_host, address, "UTC", 0) for _ in range(6)]]
    assert all(each[-1] == "refused" for each in output), output
    assert sum(each[-2] for each in output) == 50
    assert ledger.check().sound


def check_killed_clients(ledger, output):
    """Check what killed clients leave that charged one user at the same time, with the output of each."""
    granted = sum(each[-1] if each else 0 for each in output)
    after = ledger.charge("ada", 1).reports
    assert granted + 1 <= after <= granted + 1 + len(output)
    assert ledger.check().sound


def test_clients_that_are_killed_among_others_lose_and_hold_nothing(shared):
    """Each at another step of one of its charges."""
    ledger = Ledger.create(shared, 10**9)
    hosts = [Worker(charge_for_ever, shared, step) for step in range(8, 64, 7)]
    check_killed_clients(ledger, [host.output() for host in hosts])
    assert all(host.killed for host in hosts)


def check_crash(server, shared, crash, wait):
    """Check what a crash of the server leaves while five clients are at work.

    Args:
        server: The server.
        shared: The address where the ledger will be.
        crash: Which crash.
        wait: Waits for the moment; returns the output of the clients until then.
    """
    ledger = Ledger.create(shared, 10**9)
    head = ledger.head
    hosts = [*(Worker(charge_for_ever, shared, 0) for _ in range(4)), Worker(report_for_ever, shared, "p", 0)]
    first = wait(hosts)
    if crash == "a part killed":
        server.kill_one()
    elif crash == "killed":
        server.kill()
    else:
        server.stop("immediate")
    *charging, reporting = ([*begun, *host.output()] for begun, host in zip(first, hosts, strict=True))
    if crash != "a part killed":
        with contextlib.suppress(FileError):  # it waits, or says so
            ledger.charge("bob", 1)
        server.start()
    after = patient(ledger.charge, "ada", 1).reports
    visits = [place for place, _ in reporting]
    granted = sum(each[-1] for each in charging)
    found = ledger.check(head=head)
    assert found.sound, found.problems
    # The reports of places are charged to the same user; of each client one charge may be unreported.
    assert granted + len(visits) + 1 <= after <= granted + len(visits) + 1 + len(hosts)
    again = ledger.reports(["ada"] * len(visits), visits, 1, drawn, b"m")
    assert again == [report for _, report in reporting]
    assert ledger.balance("ada").reports == after


@pytest.mark.parametrize("words", [1, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("crash", thinned(CRASHES, 3))
def test_a_server_that_crashes_forgets_no_charge_and_no_report(server, shared, crash, words):
    """Once each client has reported so many charges, while all of them go on."""
    check_crash(server, shared, crash, lambda hosts: [[host.word() for _ in range(words)] for host in hosts])


if SEARCH is not None:

    def test_clients_that_are_killed_at_random_moments(shared):
        chance, ledger = random.Random(SEARCH), Ledger.create(shared, 10**9)
        hosts = [Worker(charge_for_ever, shared, 0) for _ in range(8)]
        first = [[host.word()] for host in hosts]
        output = []
        for begun, host in zip(first, hosts, strict=True):
            time.sleep(chance.uniform(0, 0.1))
            output.append([*begun, *host.kill()])
        check_killed_clients(ledger, output)

    @pytest.mark.parametrize("crash", CRASHES)
    @pytest.mark.parametrize("number", range(7))
    def test_a_server_that_crashes_at_random_moments(server, shared, crash, number):
        chance = random.Random(SEARCH + number)

        def wait(hosts: list[Worker]) -> list[list[Any]]:
            first = [[host.word()] for host in hosts]
            time.sleep(chance.uniform(0, 0.3))
            return first

        check_crash(server, shared, crash, wait)


def test_a_server_that_is_not_there_charges_nothing(server, shared):
    ledger = Ledger.create(shared, 10)
    ledger.charge("ada", 1)
    server.stop("immediate")
    try:
        for act in (lambda: ledger.charge("ada", 1), lambda: ledger.balance("ada"), lambda: Ledger(shared)):
            with pytest.raises(FileError, match="cannot be used") as caught:
                act()
            assert "see that the server runs" in caught.value.hint
    finally:
        server.start()
    assert patient(ledger.charge, "ada", 9).left == 0
    with pytest.raises(BudgetError):
        ledger.charge("ada", 1)
