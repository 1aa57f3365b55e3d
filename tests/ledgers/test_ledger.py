"""The ledger: exact sums, refusals that change nothing, and a database that is there or is not."""

import os
import pickle
import sys
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import FileError, InfeasibleError, InputError, MissingExtraError, UnitError
from sfumato.ledgers import BudgetError, Charge, Ledger, migrate, new_ledger_key

from .altered import alter, rows


def test_ten_tenths_are_one_and_the_eleventh_is_refused(address):
    ledger = Ledger.create(address, 1.0)
    for _ in range(10):
        ledger.charge("ada", 0.1)
    assert ledger.balance("ada").spent == 1
    with pytest.raises(
        BudgetError, match=r"has spent 1 of 1 in 10 reports; 0 is left, but 0\.1 is needed"
    ) as caught:
        ledger.charge("ada", "0.1")
    assert isinstance(caught.value, InfeasibleError)
    assert (caught.value.user, caught.value.charge, caught.value.left) == ("ada", Fraction(1, 10), Fraction(0))
    assert ledger.balance("ada").reports == 10
    assert ledger.check().sound


def test_users_have_budgets_of_their_own_and_the_ledger_keeps_them(address):
    ledger = Ledger.create(address, "2/km")
    ledger.charge("ada", "0.5/km")
    ledger.charge("Zoë", "1/km")
    assert ledger.charge("ada", "0.001/m").left == Fraction(1, 2)
    again = Ledger(address)
    assert (again.unit, again.limits) == ("km", ("2/km",))
    assert again.users == ("Zoë", "ada")
    assert again.balance("ada").spent == Fraction(3, 2)
    assert again.balance("nobody").left == 2
    with pytest.raises(BudgetError, match=r"0\.5/km is left"):
        again.charge("ada", "0.6/km")
    assert again.charge("ada", "0.1/km", reports=5).left == 0


@pytest.mark.parametrize(
    ("place", "extra"), [("l.db", "ledger"), ("sqlite:///l.db", "ledger"), ("postgresql://ada@host/l", "postgres")]
)
def test_without_sqlalchemy_the_extra_is_named(tmp_path, monkeypatch, place, extra):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for act in (lambda: Ledger.create(place, 1), lambda: Ledger(place), lambda: migrate("old.json", place)):
        with pytest.raises(MissingExtraError, match=rf"a ledger needs .*\n.*--extra {extra};"):
            act()
    assert not list(tmp_path.iterdir())


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(1e-6, 0.5)), max_size=10))
def test_no_sequence_of_charges_exceeds_the_limit(tmp_path_factory, charges):
    ledger = Ledger.create(tmp_path_factory.mktemp("ledger") / "l.db", 1.0)
    sums = {"a": Fraction(0), "b": Fraction(0)}
    for user, epsilon in charges:
        fits = sums[user] + Fraction(repr(epsilon)) <= 1
        if fits:
            sums[user] += Fraction(repr(epsilon))
            ledger.charge(user, epsilon)
        else:
            with pytest.raises(BudgetError):
                ledger.charge(user, epsilon)
        assert ledger.balance(user).spent == sums[user] <= 1
    assert ledger.check().sound


def test_threads_that_charge_at_once_lose_nothing(address):
    shared = Ledger.create(address, 3.0)
    refused = []

    def work(ledger):
        for _ in range(5):
            try:
                ledger.charge("ada", 0.2)
            except BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=work, args=(each,)) for each in (shared, shared, Ledger(address), shared)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.balance("ada").spent == 3
    assert (shared.balance("ada").reports, len(refused)) == (15, 5)
    assert shared.check().sound


class TestMany:
    def test_all_are_charged_or_none(self, address):
        ledger = Ledger.create(address, 1)
        charges = [Charge("ada", 0.25, 2), Charge("bob", 1), Charge("ada", 0.5, 1, b"m")]
        ledger.afford(charges)
        assert not ledger.users
        assert ledger.charge_many(charges)
        assert [ledger.balance(user).spent for user in ("ada", "bob")] == [1, 1]
        assert ledger.balance("ada").reports == 3
        for refuse in (ledger.afford, ledger.charge_many):
            with pytest.raises(BudgetError, match="a user has") as refused:
                refuse([Charge("cy", 1), Charge("bob", 0.1)])
            assert refused.value.user == "bob"
        with pytest.raises(BudgetError, match="a user has") as refused:
            ledger.charge_many([Charge("dee", 0.6), Charge("dee", 0.6)])
        assert refused.value.user == "dee"
        assert ledger.users == ("ada", "bob")
        assert ledger.check().charges == 3

    def test_a_batch_of_a_run_is_charged_once(self, address):
        ledger = Ledger.create(address, 10)
        charges = [Charge("ada", 1), Charge("bob", 2)]
        assert ledger.charge_many(charges, run="r1", batch=0)
        assert not Ledger(address).charge_many(charges, run="r1", batch=0)
        assert ledger.charge_many(charges, run="r1", batch=1)
        assert ledger.charge_many(charges, run="r2", batch=0)
        assert ledger.charge_many(charges)
        assert ledger.charge_many(charges)
        assert ledger.balance("ada").spent == 5
        with pytest.raises(InputError, match="with other contents"):
            ledger.charge_many(charges[:1], run="r1", batch=0)
        assert ledger.check().sound

    @pytest.mark.thinned(2)
    def test_many_users_at_once(self, address):
        ledger = Ledger.create(address, 1)
        for _ in range(2):
            ledger.charge_many([Charge(f"u{i}", 0.5) for i in range(6_000)])
        assert ledger.balance("u5999").left == 0
        with pytest.raises(BudgetError, match="a user has") as refused:
            ledger.charge_many([Charge(f"v{i}", 0.5) for i in range(6_000)] + [Charge("u3000", 0.1)])
        assert refused.value.user == "u3000"
        assert ledger.check().users == 6_000

    @pytest.mark.parametrize(
        "wrong",
        [
            ("ada", 1),
            Charge("ada", 0),
            Charge("ada", float("nan")),
            Charge("ada", True),
            Charge("ada", 1, 0),
            Charge("ada", 1, -1),
            Charge("ada", 1, True),
            Charge("", 1),
            Charge(None, 1),  # type: ignore[arg-type]
            Charge("ada", [1]),  # type: ignore[arg-type]
            None,
        ],
    )
    def test_what_is_no_charge_is_refused(self, tmp_path, wrong: Any):
        ledger = Ledger.create(tmp_path / "l.db", 10)
        for act in (ledger.charge_many, ledger.afford):
            with pytest.raises((InputError, UnitError)):
                act([Charge("bob", 1), wrong])
        assert not ledger.users

    @pytest.mark.parametrize(("run", "batch"), [("a\n", 0), ("r", -1), ("r", 1.0), ("r", True), ("r", 2**60)])
    def test_keys_of_runs_are_texts_and_numbers(self, tmp_path, run, batch):
        ledger = Ledger.create(tmp_path / "l.db", 10)
        with pytest.raises(InputError):
            ledger.charge_many([Charge("bob", 1)], run=run, batch=batch)


class TestAddresses:
    def test_a_ledger_that_is_missing_is_an_error_and_is_not_made(self, address, tmp_path):
        for _ in range(2):
            with pytest.raises(FileError, match=r"no ledger|does not exist"):
                Ledger(address)
        assert list(tmp_path.iterdir()) == []

    def test_a_ledger_is_made_once(self, address):
        Ledger.create(address, 1).charge("ada", 1)
        with pytest.raises(FileError, match="exists already"):
            Ledger.create(address, 2)
        assert Ledger(address).balance("ada").left == 0

    def test_what_is_something_else_is_refused_and_kept(self, tmp_path):
        path = tmp_path / "l.db"
        for content in (b"", b"not a database " * 500, b"SQLite format 3\0" + bytes(4096)):
            path.write_bytes(content)
            with pytest.raises(FileError):
                Ledger(path)
            with pytest.raises(FileError, match="exists already"):
                Ledger.create(path, 1)
            assert path.read_bytes() == content
        with pytest.raises(FileError):
            Ledger(tmp_path)
        with pytest.raises(FileError):
            Ledger.create(tmp_path / "none" / "l.db", 1)

    @pytest.mark.parametrize(
        "wrong",
        ["sqlite://", "sqlite:///:memory:", ":memory:", "", "mysql://host/l", "://", "x://", "http://a:b:c"],
    )
    def test_other_addresses_are_refused(self, wrong):
        for act in (Ledger, lambda at: Ledger.create(at, 1)):
            with pytest.raises(InputError):
                act(wrong)

    def test_the_file_is_its_owners(self, tmp_path):
        Ledger.create(tmp_path / "l.db", 1).charge("ada", 1)
        if os.name == "posix":
            assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}

    def test_passwords_are_not_shown(self):
        with pytest.raises(FileError) as caught:
            Ledger("postgresql://ada:secret@127.0.0.1:1/none")
        assert "secret" not in str(caught.value)
        assert "ada:***@127.0.0.1" in str(caught.value)

    def test_a_ledger_that_cannot_be_made_leaves_nothing(self, tmp_path):
        with pytest.raises(InputError):
            Ledger.create(tmp_path / "l.db", -1)
        assert list(tmp_path.iterdir()) == []

    def test_a_ledger_travels_as_its_address(self, address):
        key = new_ledger_key()
        Ledger.create(address, 2, key=key).charge("ada", 1)
        sent = pickle.loads(pickle.dumps(Ledger(address, key=key)))
        assert sent.charge("ada", 1).left == 0


class TestKeys:
    def test_only_who_has_the_key_opens_it(self, address):
        key = new_ledger_key()
        Ledger.create(address, 2, key=key).charge("ada", 1)
        assert Ledger(address, key=key).balance("ada").left == 1
        with pytest.raises(InputError, match="has a key"):
            Ledger(address)
        with pytest.raises(InputError, match="not that of the ledger"):
            Ledger(address, key=new_ledger_key())
        assert key.hex() not in str(rows(address, "ledger"))

    def test_a_ledger_without_a_key_takes_none(self, tmp_path):
        Ledger.create(tmp_path / "l.db", 2)
        with pytest.raises(InputError, match="without a key"):
            Ledger(tmp_path / "l.db", key=new_ledger_key())
        with pytest.raises(InputError, match="not 32"):
            Ledger.create(tmp_path / "m.db", 2, key=b"short")


def test_sums_stay_exact_where_floats_do_not(address):
    ledger = Ledger.create(address, 1.0)
    for epsilon in (0.1, 0.2, 0.7):
        ledger.charge("ada", epsilon)
    assert ledger.balance("ada").left == 0
    assert rows(address, "accounts")[0]["spent"] == "1"


def test_tiny_and_huge_amounts_add_up(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", 1e30)
    amounts = [1e-30, 1e29 / 3, float(np.nextafter(0.1, 1)), 1e-17]
    for epsilon in amounts:
        ledger.charge("ada", epsilon)
    assert ledger.balance("ada").spent == sum(Fraction(repr(each)) for each in amounts)
    assert ledger.check().sound
    for beyond in (1e-31, 1e31):
        with pytest.raises(InputError, match="cannot be counted"):
            ledger.charge("ada", beyond)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), 10**400, "1 km", "none"])
def test_what_is_no_epsilon_is_not_charged(tmp_path, epsilon):
    ledger = Ledger.create(tmp_path / "l.db", 1.0, unit="km")
    with pytest.raises((InputError, UnitError)):
        ledger.charge("ada", epsilon)
    with pytest.raises(InputError):
        Ledger.create(tmp_path / "k.db", epsilon, unit="km")
    assert not ledger.users


def test_damaged_terms_and_accounts_are_refused(address):
    ledger = Ledger.create(address, 1)
    ledger.charge("ada", 0.5)
    for value in ("x", "1e400", "-1", "NaN", "0.50", "Infinity", "1/2"):
        alter(address, f"UPDATE sfumato_accounts SET spent = '{value}'")
        with pytest.raises(FileError, match="account of 'ada' is damaged"):
            ledger.charge("ada", 0.1)
    for change in ("version = 2", "version = 3", "rule = 'none'", "limits = '[]'", "limits = '{\"year\": 1}'"):
        alter(address, f"UPDATE sfumato_ledger SET {change}")
        with pytest.raises(FileError, match="not a sound ledger"):
            Ledger(address)
    alter(address, "UPDATE sfumato_ledger SET identity = 'other'")
    with pytest.raises(FileError, match="another ledger"):
        ledger.charge("bob", 0.1)
