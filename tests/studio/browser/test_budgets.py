"""The page of budgets, from a ledger."""

import pytest
from playwright.sync_api import expect

import sfumato as sf

from .visitor import LONGEST

pytestmark = pytest.mark.slow


@pytest.fixture
def ledger(tmp_path):
    """Return the address of a ledger in which ada has spent nearly all of today's budget, and bob little."""
    address = f"sqlite:///{tmp_path / 'people.db'}"
    ledger = sf.Ledger.create(address, ["5/km per day", "100/km"])
    for user, epsilon in (("ada", "4.8/km"), ("bob", "1/km")):
        ledger.charge(user, epsilon)
    return address


@pytest.mark.parametrize(("dark", "phone"), [(False, False), (True, True)])
def test_budgets_are_shown_without_identities(visit, start, ledger, dark, phone):
    with start("--ledger", ledger) as own:
        visitor = visit(at=own, dark=dark, phone=phone)
        visitor.turn("Budgets")
        visitor.read("Privacy budgets")
        visitor.read("Near the limit", timeout=LONGEST)
        text = visitor.page.locator("main").inner_text()
        assert "ada" not in text
        assert "bob" not in text
        near = visitor.page.get_by_role("table", name="Near the limit", exact=True).locator("tbody tr")
        expect(near).to_have_count(1)
        expect(near).to_contain_text("4.8")
        visitor.page.locator("figure svg").wait_for()
        visitor.meets_no_barrier()
        visitor.page.reload()
        visitor.read("Privacy budgets")
        visitor.page.goto("about:blank")


def test_without_a_ledger_there_is_no_page_of_budgets(visit):
    visitor = visit()
    assert visitor.page.get_by_role("button", name="Budgets").count() == 0
