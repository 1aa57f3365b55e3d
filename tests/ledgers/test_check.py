"""The check of the record: what is changed behind the ledger's back is found."""

import shutil
import sqlite3

import pytest

from sfumato.errors import FileError, InputError
from sfumato.ledgers import Charge, Ledger, LedgerCheck, new_ledger_key

from .altered import alter, rows


def draw(visits):
    return [7 + number for number in visits]


@pytest.fixture
def ledger(address):
    """A ledger with charges of each kind."""
    made = Ledger.create(address, ["9 per day", "20"])
    made.charge("ada", 1)
    made.charge_many([Charge("ada", 2), Charge("bob", 0.5, 3)], run="r", batch=4)
    made.reports(["ada", "cy", "cy"], ["home", "work", None], 1, draw, b"m")
    made.reports(["bob"], [None], 1, draw, b"m", repeatable=True)
    return made


def test_a_sound_record(ledger, address):
    found = ledger.check()
    assert isinstance(found, LedgerCheck)
    assert found.sound
    assert (found.charges, found.users, found.places, found.problems) == (6, 3, 2, ())
    assert found.head == ledger.head
    told = str(found).splitlines()
    assert told[0] == "The record is sound: 6 charges to 3 users, 2 places kept."
    assert told[1:] == [
        "No head of an earlier time was given: an older copy in its place, or a record that was rewritten as a "
        "whole, would not be found."
    ]
    assert ledger.check(head=found.head).notes == ()
    assert Ledger(address).check(head=found.head).sound
    ledger.charge("dee", 1)
    assert ledger.check(head=found.head).sound


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE sfumato_charges SET amount = '0.1' WHERE number = 3", "Charge 3, to 'bob', or a row before it"),
        ("UPDATE sfumato_charges SET amount = '-1' WHERE number = 3", "Charge 3 is damaged"),
        ("UPDATE sfumato_charges SET name = 'eve' WHERE number = 2", "Charge 2, to 'eve'"),
        ("UPDATE sfumato_charges SET reports = 1 WHERE number = 3", "Charge 3"),
        ("UPDATE sfumato_charges SET time = time + 86400 WHERE number = 2", "Charge 2"),
        ("UPDATE sfumato_charges SET mechanism = '' WHERE number = 4", "Charge 4"),
        ("UPDATE sfumato_charges SET report = '8' WHERE number = 6", "Charge 6"),
        ("UPDATE sfumato_charges SET hash = 'x' WHERE number = 2", "Charge 2"),
        ("DELETE FROM sfumato_charges WHERE number = 3", "Charge 3 are missing|Charges 3 to 3 are missing"),
        ("DELETE FROM sfumato_charges WHERE number = 6", "ends with charge 5, but its head names charge 6"),
        ("UPDATE sfumato_charges SET number = 9 WHERE number = 6", "Charges 6 to 8 are missing"),
        ("UPDATE sfumato_ledger SET number = 5", "ends with charge 6, but its head names charge 5"),
        ("UPDATE sfumato_ledger SET time = time + 86400", "The time of the ledger is not that of its last charge"),
        ("UPDATE sfumato_accounts SET spent = '0' WHERE name = 'ada'", "account of 'ada' is not what the record"),
        ("UPDATE sfumato_accounts SET spent = 'x' WHERE name = 'ada'", "account of 'ada' is damaged"),
        ("UPDATE sfumato_accounts SET day_spent = '0' WHERE name = 'ada'", "account of 'ada'"),
        ("UPDATE sfumato_accounts SET reports = 0 WHERE name = 'bob'", "account of 'bob'"),
        ("DELETE FROM sfumato_accounts WHERE name = 'bob'", "account of 'bob' is missing"),
        ("INSERT INTO sfumato_accounts SELECT 'eve', spent, reports, day, day_spent, week, week_spent "
         "FROM sfumato_accounts WHERE name = 'bob'", "account of 'eve'"),
        ("UPDATE sfumato_places SET report = '1'", "places that were kept with charge 4 were changed"),
        ("UPDATE sfumato_places SET report = 'x'", "is damaged"),
        ("UPDATE sfumato_places SET charge = 99", "A place was kept with charge 99, which is not in the record"),
        ("DELETE FROM sfumato_places", "places that were kept with charge 4 were changed"),
        ("DELETE FROM sfumato_batches", "Batch 4 of the run 'r' is missing"),
        ("UPDATE sfumato_batches SET batch = 5", "Batch 5 of the run 'r' is not what the record says"),
    ],
)  # fmt: skip
def test_a_change_is_found(ledger, address, change, problem):
    alter(address, change)
    found = ledger.check()
    assert not found.sound
    assert any(part in " ".join(found.problems) for part in problem.split("|")), found.problems
    assert str(found).startswith("The record is damaged")


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "change",
    [
        'UPDATE sfumato_ledger SET limits = \'{"ever": "1000"}\'',
        "UPDATE sfumato_ledger SET unit = 'km'",
        "UPDATE sfumato_ledger SET salt = identity",
        "DELETE FROM sfumato_charges",
        "DELETE FROM sfumato_charges WHERE number = 6",
        "UPDATE sfumato_ledger SET number = 0",
        "UPDATE sfumato_charges SET amount = '0.1' WHERE number = 1",
        "UPDATE sfumato_charges SET amount = '0.1' WHERE number = 6",
        "UPDATE sfumato_charges SET name = 'eve' WHERE number = 6",
        "UPDATE sfumato_charges SET hash = 'x' WHERE number = 5",
        "UPDATE sfumato_ledger SET hash = 'x'",
    ],
)
def test_a_change_of_the_terms_or_the_ends_is_found_when_the_ledger_is_opened(ledger, address, change):
    alter(address, change)
    with pytest.raises(FileError, match="not a sound ledger"):
        Ledger(address)
    assert not ledger.check().sound


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "change", ['limits = \'{"ever": "1000"}\'', "salt = identity", "hash = 'x'", "number = 1"]
)
def test_a_change_of_a_ledger_in_which_nobody_was_charged_is_found(address, change):
    Ledger.create(address, 1)
    alter(address, f"UPDATE sfumato_ledger SET {change}")
    with pytest.raises(FileError, match="not a sound ledger"):
        Ledger(address)


def test_a_limit_that_was_exceeded_is_found(address):
    """Somebody who can write the whole record anew without a key leaves a sound one, but for this."""
    Ledger.create(address, 1).charge("ada", 1)
    alter(address, "DELETE FROM sfumato_accounts")
    ledger = Ledger(address)
    ledger.charge("ada", 0.5)
    assert "more than the limit of 1" in " ".join(ledger.check().problems)


def test_an_old_copy_is_found_with_a_head_that_was_kept_elsewhere(tmp_path):
    path = tmp_path / "l.db"
    ledger = Ledger.create(path, 10)
    ledger.charge("ada", 1)
    ledger.close()
    old = path.read_bytes()
    ledger.charge("ada", 5)
    head = ledger.head
    ledger.close()
    for each in tmp_path.iterdir():
        each.unlink()
    path.write_bytes(old)
    restored = Ledger(path)
    assert restored.check().sound
    found = restored.check(head=head)
    assert "older copy or another ledger" in found.problems[0]
    restored.charge("ada", 1)  # also once it has gone on
    assert not restored.check(head=head).sound
    with pytest.raises(InputError, match="head of a record"):
        restored.check(head="12")


def test_a_ledger_made_anew_does_not_have_the_head(address):
    first = Ledger.create(address, 10)
    empty, _ = first.head, first.charge("ada", 1)
    later = first.head
    for table in ("charges", "accounts", "ledger", "places", "batches", "refusals"):
        alter(address, f"DROP TABLE sfumato_{table}")
    if "sqlite" in address:
        return
    second = Ledger.create(address, 10)
    assert not second.check(head=empty).sound
    assert not second.check(head=later).sound


def test_with_a_key_nobody_else_can_write_the_record_anew(tmp_path):
    """A record with the right terms, but hashes of another key."""
    key = new_ledger_key()
    path, forged = tmp_path / "l.db", tmp_path / "forged.db"
    ledger = Ledger.create(path, 10, key=key)
    ledger.charge("ada", 5)
    assert "rewritten" not in str(ledger.check())
    Ledger.create(forged, 10, key=new_ledger_key()).charge("ada", 1)
    (terms,), (other,) = rows(f"sqlite:///{path}", "ledger"), rows(f"sqlite:///{forged}", "ledger")
    for column in ("identity", "salt", "keyed", "created"):
        assert terms[column] != other[column] or column == "created"
        alter(f"sqlite:///{forged}", f"UPDATE sfumato_ledger SET {column} = '{terms[column]}'")
    with pytest.raises(FileError, match="not a sound ledger"):
        Ledger(forged, key=key)


def test_a_damaged_page_is_found(tmp_path):
    path = tmp_path / "l.db"
    ledger = Ledger.create(path, 10_000)
    ledger.charge_many([Charge(f"u{number}", 1) for number in range(3000)])
    ledger.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(path.read_bytes())
    for at in range(len(content) // 2, len(content) // 2 + 4096, 64):
        content[at : at + 32] = b"\xff" * 32
    path.write_bytes(content)
    try:
        found = Ledger(path).check()
    except FileError:
        return
    assert not found.sound


def test_a_file_that_goes_or_is_replaced_while_in_use_is_no_longer_charged(tmp_path):
    path, other = tmp_path / "l.db", tmp_path / "m.db"
    ledger = Ledger.create(path, 10)
    ledger.charge("ada", 1)
    ledger.close()
    Ledger.create(other, 10).close()
    shutil.move(path, tmp_path / "away.db")
    with pytest.raises(FileError, match="was removed while it was in use"):
        ledger.charge("ada", 1)
    shutil.move(other, path)
    with pytest.raises(FileError, match="was replaced by another file"):
        ledger.charge("ada", 1)
    assert Ledger(tmp_path / "away.db").balance("ada").spent == 1
