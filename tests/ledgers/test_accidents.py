"""Accidents of a ledger: each row of the table in docs/how-to/ledger.md is held by a test."""

import functools
import importlib
import itertools
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import event, exc

from sfumato.errors import FileError
from sfumato.ledgers import BudgetError, Charge, Ledger, migrate

from .altered import alter, rows
from .processes import Worker, act_and_die, create_one, drawn, migrate_one
from .test_migration import DIGEST, SALT, written

TABLES = ("ledger", "accounts", "charges", "places", "batches", "refusals")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ledger.md"
TESTS = {
    "kill -9, or a power cut, during a charge": (
        "test_processes.TestKilled.test_while_charging",
        "test_processes.TestKilled.test_while_remembering",
        "test_processes.TestKilled.test_while_charging_the_batches_of_a_run",
        "test_processes.TestKilled.test_at_every_step",
        "test_processes.TestKilled.test_while_it_holds_the_lock",
        "test_hosts.test_clients_that_are_killed_among_others_lose_and_hold_nothing",
    ),
    "kill -9 of the PostgreSQL server": (
        "test_hosts.test_a_server_that_crashes_forgets_no_charge_and_no_report",
        "test_hosts.test_a_server_that_is_not_there_charges_nothing",
    ),
    "kill -9 during creation or migration": (
        "test_accidents.test_killed_while_it_is_made",
        "test_accidents.test_killed_while_it_is_migrated",
    ),
    "the ledger is missing": (
        "test_ledger.TestAddresses.test_a_ledger_that_is_missing_is_an_error_and_is_not_made",
        "test_check.test_a_file_that_goes_or_is_replaced_while_in_use_is_no_longer_charged",
    ),
    "its log (`-wal`) is deleted, or a copy is made without it": (
        "test_accidents.test_without_its_log_it_is_an_older_copy",
    ),
    "an older copy is restored": (
        "test_check.test_an_old_copy_is_found_with_a_head_that_was_kept_elsewhere",
        "test_check.test_a_file_that_goes_or_is_replaced_while_in_use_is_no_longer_charged",
        "test_accidents.test_an_older_copy_of_the_tables",
    ),
    "an amount, a name or a time in the record is edited, a row is removed or moved": (
        "test_check.test_a_change_is_found",
        "test_check.test_a_change_of_the_terms_or_the_ends_is_found_when_the_ledger_is_opened",
    ),
    "the sum of a user is edited": (
        "test_check.test_a_change_is_found",
        "test_accidents.test_charges_count_from_an_edited_sum_until_it_is_found",
    ),
    "the limits, the unit or the salt are edited": (
        "test_check.test_a_change_of_the_terms_or_the_ends_is_found_when_the_ledger_is_opened",
        "test_check.test_a_change_of_a_ledger_in_which_nobody_was_charged_is_found",
    ),
    "a report of a place is edited or removed": (
        "test_check.test_a_change_is_found",
        "test_blur.test_a_report_that_the_mechanism_cannot_make_is_refused",
        "test_accidents.test_a_report_that_was_removed_is_charged_anew",
    ),
    "the whole record is rewritten": (
        "test_accidents.test_a_record_that_is_written_anew",
        "test_check.test_with_a_key_nobody_else_can_write_the_record_anew",
    ),
    "a duplicated key: two rows of one user, place or batch": (
        "test_accidents.test_a_key_is_not_there_twice",
        "test_names.test_two_spellings_of_one_name_are_one_user",
    ),
    "a trigger, rule or view is added, which could undo each charge": (
        "test_accidents.test_a_trigger_that_undoes_charges_is_found",
    ),
    "the clock is set back": ("test_limits.test_a_clock_that_is_set_back_gives_nothing_back",),
    "the clock is set ahead": ("test_limits.test_a_clock_that_was_ahead_renews_nothing_until_then",),
    "the clock of a PostgreSQL client is wrong": (
        "test_hosts.test_hosts_with_other_clocks_and_zones_spend_one_budget",
        "test_hosts.test_at_the_border_of_a_window_each_side_is_spent_once",
    ),
    "a full or failing disk": (
        "test_processes.TestNoRoom.test_a_full_disk",
        "test_processes.TestNoRoom.test_no_room_for_a_new_ledger",
        "test_accidents.test_a_database_that_is_full",
    ),
    "a folder without permission to write": ("test_processes.TestNoRoom.test_a_folder_where_nobody_may_write",),
    "a symbolic link": ("test_processes.TestAtOnce.test_through_a_path_and_symbolic_links",),
    "a hard link": (
        "test_processes.TestHardLinks.test_a_second_name_is_refused_and_costs_nothing",
        "test_processes.TestHardLinks.test_one_that_appears_meanwhile_overspends_nothing",
    ),
    "a network file system under SQLite": (),  # no test has one: it is what the row says
    "a fork": ("test_processes.TestAtOnce.test_forks_have_connections_of_their_own",),
}


def test_each_row_of_the_table_is_held_by_tests():
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("| what happens |") :].split("\n\n")[0]
    cells = re.findall(r"^\| (.*?) \| .* \|$", table, flags=re.MULTILINE)[1:]
    assert cells == list(TESTS)
    for name in itertools.chain(*TESTS.values()):
        module, *rest = name.split(".")
        found: object = importlib.import_module(f"{__package__}.{module}")
        for part in rest:
            found = getattr(found, part)
        assert callable(found)


def remains(path):
    """The files of a ledger that are there."""
    return [each for each in (path, Path(f"{path}-wal"), Path(f"{path}-shm")) if each.exists()]


@pytest.mark.thinned(2)
def test_killed_while_it_is_made(address, tmp_path):
    """At every step: a whole ledger, or what nobody takes for one."""
    _killed_at_every_step(address, tmp_path, create_one)


@pytest.mark.thinned(2)
def test_killed_while_it_is_migrated(address, tmp_path):
    old = written(
        tmp_path / "old.json",
        {f"u{number}": {"spent": "3/2", "reports": 3} for number in range(20)},
        places={"salt": SALT, "reports": {DIGEST: 4}},
    )
    before = old.read_bytes()
    ledger = _killed_at_every_step(address, tmp_path, functools.partial(migrate_one, str(old)))
    assert old.read_bytes() == before
    assert (len(ledger.users), ledger.check().places) == (20, 1)
    assert {ledger.balance(user).spent for user in ledger.users} == {1.5}
    with pytest.raises(FileError, match="exists already"):
        migrate(old, address)


def _killed_at_every_step(address, tmp_path, act):
    for step in itertools.count(1):
        output = Worker(act_and_die, address, act, step).output()
        if output:
            break
        try:
            assert Ledger(address).check().sound  # it was killed after the commit
            break
        except FileError as error:
            said = str(error)
        assert "create" in said
        if "sqlite" in address and remains(tmp_path / "l.db"):
            with pytest.raises(FileError, match="exists already"):
                Ledger.create(address, 1)
            for each in remains(tmp_path / "l.db"):
                each.unlink()
    ledger = Ledger(address)
    assert ledger.check().sound
    return ledger


def test_without_its_log_it_is_an_older_copy(tmp_path):
    path = tmp_path / "l.db"
    ledger = Ledger.create(path, 10)
    ledger.charge("ada", 1)
    ledger.close()  # writes the log into the file
    ledger.charge("ada", 5)
    head = ledger.head
    shutil.copy(path, tmp_path / "copy.db")
    copy = Ledger(tmp_path / "copy.db")
    assert copy.balance("ada").spent == 1
    assert copy.check().sound
    assert "older copy" in copy.check(head=head).problems[0]
    with closing(sqlite3.connect(tmp_path / "backup.db")) as backup, closing(sqlite3.connect(path)) as source:
        source.backup(backup)  # what docs/how-to/ledger.md says to do instead
    assert Ledger(tmp_path / "backup.db").check(head=head).sound


def test_an_older_copy_of_the_tables(address):
    ledger = Ledger.create(address, 10)
    ledger.charge("ada", 1)
    alter(address, *(f"CREATE TABLE old_{name} AS SELECT * FROM sfumato_{name}" for name in TABLES))
    ledger.charge("ada", 5)
    head = ledger.head
    for name in TABLES:
        alter(address, f"DELETE FROM sfumato_{name}", f"INSERT INTO sfumato_{name} SELECT * FROM old_{name}")
    assert ledger.check().sound
    assert "older copy" in ledger.check(head=head).problems[0]
    ledger.charge("ada", 1)
    assert not ledger.check(head=head).sound


def test_charges_count_from_an_edited_sum_until_it_is_found(address):
    ledger = Ledger.create(address, 10)
    ledger.charge("ada", 9)
    alter(address, "UPDATE sfumato_accounts SET spent = '2'")
    assert ledger.charge("ada", 8).left == 0
    problems = " ".join(ledger.check().problems)
    assert "'ada' has spent 17, more than the limit of 10" in problems
    assert "account of 'ada' is not what the record says" in problems


def test_a_report_that_was_removed_is_charged_anew(address):
    ledger = Ledger.create(address, 10)
    ledger.reports(["ada"], ["home"], 1, drawn, b"m")
    alter(address, "DELETE FROM sfumato_places")
    ledger.reports(["ada"], ["home"], 1, drawn, b"m")
    assert ledger.balance("ada").spent == 2
    assert not ledger.check().sound


def test_a_record_that_is_written_anew(address, tmp_path):
    ledger = Ledger.create(address, 10)
    ledger.charge("ada", 5)
    head = ledger.head
    ledger.close()
    for each in remains(tmp_path / "l.db"):
        each.unlink()
    if "postgresql" in address:
        alter(address, *(f"DROP TABLE sfumato_{name}" for name in TABLES))
    anew = Ledger.create(address, 10)
    anew.charge("ada", 1)
    assert anew.check().sound
    assert not anew.check(head=head).sound
    with pytest.raises(FileError, match=r"replaced|another ledger"):
        ledger.charge("ada", 1)


def test_a_key_is_not_there_twice(address):
    ledger = Ledger.create(address, 10)
    ledger.charge_many([Charge("ada", 1)], run="r")
    ledger.reports(["ada"], ["home"], 1, drawn, b"m")
    with pytest.raises(BudgetError):
        ledger.charge("ada", 10)
    for name in TABLES:
        assert len(rows(address, name)) in (1, 2)
        with pytest.raises(exc.IntegrityError):
            alter(address, f"INSERT INTO sfumato_{name} SELECT * FROM sfumato_{name}")
    assert ledger.check().sound


def test_a_database_that_is_full(tmp_path):
    """SQLite takes no more pages than it may, which is what it says on a full disk."""
    ledger = Ledger.create(tmp_path / "l.db", 5)

    def small(connection, record):
        del record
        connection.execute("PRAGMA max_page_count = 40")

    ledger.close()
    event.listen(sqlalchemy.pool.Pool, "connect", small)
    try:
        small_one = Ledger(tmp_path / "l.db")
        granted, said = 0, ""
        while not said:
            try:
                small_one.reports([f"u{granted}"], ["home"], 1, drawn, b"m")
                granted += 1
            except FileError as error:
                said = str(error)
        assert "is full" in said
        assert "nothing was charged" in said
    finally:
        event.remove(sqlalchemy.pool.Pool, "connect", small)
    found = ledger.check()
    assert found.sound
    assert found.charges == found.places == granted > 10
    with pytest.raises(BudgetError):
        ledger.charge("u0", 5)
    assert os.path.getsize(tmp_path / "l.db") <= 40 * 4096


def test_a_trigger_that_undoes_charges_is_found(address):
    """Each charge would be gone as if it had never been, and the record be sound."""
    ledger = Ledger.create(address, 9)
    ledger.charge("ada", 1)
    assert ledger.check().sound
    if address.startswith("postgresql"):
        alter(
            address,
            "CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER t BEFORE INSERT ON sfumato_charges FOR EACH ROW EXECUTE FUNCTION undo()",
        )
    else:
        alter(address, "CREATE TRIGGER t AFTER INSERT ON sfumato_charges BEGIN DELETE FROM sfumato_places; END")
    found = ledger.check()
    assert not found.sound
    assert "t was added, which may undo charges." in found.problems[0]
