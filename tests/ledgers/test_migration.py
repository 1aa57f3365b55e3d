"""Migration: what JSON ledgers of the first version said is kept."""

import json
from fractions import Fraction

import pytest

from sfumato.errors import FileError, InputError
from sfumato.ledgers import BudgetError, migrate

from .altered import rows

DIGEST = "a" * 64
SALT = "0" * 32


def written(path, users, limit="3/2", places=None, **more):
    content = {"format": "sfumato ledger", "version": 1, "limit": limit, "unit": "km", "users": users, **more}
    path.write_text(json.dumps(content | ({} if places is None else {"places": places})), encoding="utf-8")
    return path


def test_sums_places_and_limits_are_kept(tmp_path, address):
    users = {"ada": {"spent": "3/2", "reports": 3}, "Zoë": {"spent": "1/10", "reports": 1}}
    places = {"salt": SALT, "reports": {DIGEST: 4, "b" * 64: [48.5, 2.25]}}
    old = written(tmp_path / "old.json", users, places=places)
    before = old.read_bytes()
    ledger = migrate(old, address)
    assert (ledger.limits, ledger.unit, ledger.users) == (("1.5/km",), "km", ("Zoë", "ada"))
    assert ledger.balance("Zoë").left == Fraction(7, 5)
    assert ledger.balance("ada").reports == 3
    with pytest.raises(BudgetError):
        ledger.charge("ada", 0.1)
    assert ledger.check().sound
    assert {(row["key"], row["report"]) for row in rows(address, "places")} == {
        (DIGEST, "4"),
        ("b" * 64, "[48.5, 2.25]"),
    }
    assert rows(address, "ledger")[0]["salt"] == SALT
    assert old.read_bytes() == before
    with pytest.raises(FileError, match="exists already"):
        migrate(old, address)


def test_a_place_of_the_old_ledger_is_repeated(tmp_path):
    """Its hash, made here as the old ledger made it."""
    import hashlib

    parts = (b"mechanism", b"ada", "café".encode())
    message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    digest = hashlib.blake2b(message, key=bytes.fromhex(SALT), digest_size=32).hexdigest()
    places = {"salt": SALT, "reports": {digest: 5}}
    old = written(tmp_path / "old.json", {"ada": {"spent": "1", "reports": 1}}, places=places)
    ledger = migrate(old, tmp_path / "l.db")
    assert ledger.reports(["ada"], ["cafe\u0301"], 1, lambda visits: [9] * len(visits), b"mechanism") == [5]
    assert ledger.balance("ada").spent == 1


def test_sums_of_many_digits_are_kept_exactly(tmp_path):
    """More digits than Python's decimals keep by default; the first version kept fractions."""
    spent = sum((Fraction(repr(each)) for each in (1e29 / 3, 1e-17, 0.1, 1e-30)), start=Fraction(0))
    users = {"ada": {"spent": f"{spent.numerator}/{spent.denominator}", "reports": 4}}
    ledger = migrate(written(tmp_path / "l.json", users, limit=str(10**30)), tmp_path / "l.db")
    balance = ledger.balance("ada")
    assert (balance.spent, balance.left) == (spent, 10**30 - spent)
    assert ledger.charge("ada", 1e-30).spent == spent + Fraction("1e-30")
    assert ledger.check().sound


def test_two_spellings_become_one_user_and_an_empty_ledger_is_one(tmp_path):
    users = {"Zoë": {"spent": "1", "reports": 2}, "Zoe\u0308": {"spent": "1/2", "reports": 1}}
    assert migrate(written(tmp_path / "a.json", users), tmp_path / "a.db").balance("Zoë").left == 0
    assert migrate(written(tmp_path / "b.json", {}), tmp_path / "b.db").users == ()


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "[" * 100_000,
        "[]",
        '{"format": "sfumato ledger", "version": 2}',
        '{"format": "sfumato ledger", "version": 1, "limit": "1", "unit": ""}',
    ],
)
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content):
    (tmp_path / "l.json").write_text(content, encoding="utf-8")
    with pytest.raises(FileError, match="not a ledger"):
        migrate(tmp_path / "l.json", tmp_path / "l.db")
    assert not (tmp_path / "l.db").exists()


ADA = {"ada": {"spent": "1", "reports": 1}}


@pytest.mark.parametrize(
    ("users", "more"),
    [
        (ADA, {"limit": "1/0"}),
        (ADA, {"limit": "-1"}),
        (ADA, {"limit": 1.5}),
        (ADA, {"limit": f"1/{10**51}"}),
        (ADA, {"limit": "1" * 5_000}),
        (ADA, {"limit": "1e999999999"}),
        (ADA, {"unit": 3}),
        ([], {}),
        ({"ada": {"spent": "-1", "reports": 1}}, {}),
        ({"ada": {"spent": "1/3", "reports": 1}}, {}),
        ({"ada": {"spent": "2", "reports": 1}}, {}),
        ({"ada": {"spent": "1"}}, {}),
        ({"ada": {"spent": "1", "reports": 0}}, {}),
        ({"ada": {"spent": "1", "reports": True}}, {}),
        ({"ada": 3}, {}),
        (ADA, {"places": "x"}),
        (ADA, {"places": {"salt": "00", "reports": {DIGEST: 1}}}),
        (ADA, {"places": {"salt": SALT, "reports": []}}),
        (ADA, {"places": {"salt": SALT, "reports": {"home": 1}}}),
        (ADA, {"places": {"salt": SALT, "reports": {DIGEST: -1}}}),
        (ADA, {"places": {"salt": SALT, "reports": {DIGEST: True}}}),
        (ADA, {"places": {"salt": SALT, "reports": {DIGEST: 2**70}}}),
        (ADA, {"places": {"salt": SALT, "reports": {DIGEST: [1.0]}}}),
        ({}, {"places": {"salt": SALT, "reports": {DIGEST: 1}}}),
    ],
)
def test_damaged_ledgers_are_refused(tmp_path, users, more):
    old = written(tmp_path / "l.json", users, **more)
    with pytest.raises(FileError, match="not a ledger"):
        migrate(old, tmp_path / "l.db")
    assert not (tmp_path / "l.db").exists()


def test_names_that_are_not_accepted_any_more_are_said(tmp_path):
    old = written(tmp_path / "l.json", {"ada\n": {"spent": "1", "reports": 1}})
    with pytest.raises(InputError, match="begins or ends with a blank"):
        migrate(old, tmp_path / "l.db")
    with pytest.raises(FileError, match="cannot be read"):
        migrate(tmp_path / "none.json", tmp_path / "l.db")
