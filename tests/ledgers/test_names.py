"""Names of users and places: one spelling each, and odd ones refused."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.ledgers import BudgetError, Ledger


def test_two_spellings_of_one_name_are_one_user(address):
    ledger = Ledger.create(address, 1)
    ledger.charge("Zoe\u0308", 1)
    for same in ("Zoë", "Zoe\u0308"):
        assert ledger.balance(same).left == 0
        with pytest.raises(BudgetError):
            ledger.charge(same, 1)
    assert ledger.users == ("Zoë",)
    ledger.charge("zoë", 1)
    assert ledger.charge("می‌خواهم", 1).left == 0  # a joiner that the word needs


@pytest.mark.parametrize(
    "odd",
    ["", " ", " ada", "ada ", "ada\n", "\u00a0ada", "a\0b", "a\tb", "a\x1fb", "a\x7f", "ada\u200b",
     "\u202eada", "\ud800", "a\u2028b", "\ufeffada", "a" * 257, "\u0378", "a\u00adb", "é" * 257, "\uffff"],
)  # fmt: skip
def test_odd_names_are_refused(tmp_path, odd):
    ledger = Ledger.create(tmp_path / "l.db", 1)
    for act in (ledger.balance, lambda user: ledger.charge(user, 1)):
        with pytest.raises(InputError, match="the name of the user") as caught:
            act(odd)
        assert caught.value.hint
        assert str(caught.value).isprintable() or "\n" in str(caught.value)
    assert not ledger.users


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_any_text_is_refused_or_kept_in_its_normal_form(tmp_path_factory, name):
    ledger = Ledger.create(tmp_path_factory.mktemp("names") / "l.db", 1)
    try:
        ledger.charge(name, 1)
    except InputError:
        assert not ledger.users
        return
    assert ledger.users == (unicodedata.normalize("NFC", name),)
    for form in ("NFC", "NFD"):
        with pytest.raises((BudgetError, InputError)):
            ledger.charge(unicodedata.normalize(form, name), 1)
    assert ledger.check().sound
