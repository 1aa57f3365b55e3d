"""The page of budgets: the facts of a ledger, counted again from its charges, and no names."""

import contextlib
from fractions import Fraction

import httpx
import pytest

from sfumato.errors import DataError
from sfumato.ledgers import BudgetError, Ledger
from sfumato_studio import serving
from sfumato_studio.app import describe
from sfumato_studio.state import Studio

from ..tasks import run_tasks

CHARGES = {"amy": [0.5, 0.5], "bob": [0.95], "cyd": [0.1], "zoe": [0.6]}


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.db", ["1/km per day", "20/km"])
    for user, epsilons in CHARGES.items():
        for epsilon in epsilons:
            ledger.charge(user, epsilon)
    with pytest.raises(BudgetError):
        ledger.charge("bob", 0.1)
    return ledger


async def asked(folder, ledger):
    app = describe()
    app.state.studio = studio = Studio(folder, ledger)
    with contextlib.closing(studio):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://studio") as client:
            return [await client.get(path) for path in ("/api/ledger", "/api/about")]


def answers(folder, ledger):
    return run_tasks(lambda: asked(folder, ledger))


def test_the_page_counts_what_was_charged(tmp_path, ledger):
    page, about = answers(tmp_path / "studio", ledger)
    budgets = page.json()
    assert about.json()["ledger"] is True
    assert budgets["limits"] == ["1/km per day", "20/km"]
    total = sum(Fraction(str(epsilon)) for epsilons in CHARGES.values() for epsilon in epsilons)
    assert sum(Fraction(str(day["spent"])) for day in budgets["days"]) == total
    assert sum(day["reports"] for day in budgets["days"]) == 5
    assert all(day["renewed"] for day in budgets["days"])
    assert sum(day["refused"] for day in budgets["days"]) == 1
    assert [each["users"] for each in budgets["classes"]] == [1, 1, 1, 1]
    assert sum(each["share"] for each in budgets["classes"]) == pytest.approx(1)
    assert [each["share"] for each in budgets["near"]] == [1.0, pytest.approx(0.95)]
    assert [each["left_text"] for each in budgets["near"]] == ["0/km", "0.05/km"]
    assert budgets["exhausted"] == 3  # whose last report does not fit any more: amy, bob and zoe
    assert not any(user in page.text for user in CHARGES)


def test_names_are_given_only_on_request(ledger):
    assert [each.user for each in ledger.budgets(identities=True).near] == ["amy", "bob"]
    hidden = [each.user for each in ledger.budgets().near]
    assert hidden == [each.user for each in ledger.budgets().near]
    assert len(set(hidden)) == 2
    assert not set(hidden) & set(CHARGES)


def test_without_a_ledger_there_is_no_page(tmp_path):
    page, about = answers(tmp_path / "studio", None)
    assert page.status_code == 404
    assert about.json()["ledger"] is False


def test_a_file_of_the_command_is_opened_in_a_workspace(tmp_path, monkeypatch):
    (tmp_path / "answers.csv").write_text("answer\nyes\nno\n")
    seen: list[str] = []

    class Server:
        def __init__(self, app):
            self.app = app

        def run(self, **_):
            store = self.app.state.studio.store
            seen.extend(row["title"] for row in store.workspaces())
            self.app.state.studio.close()

    monkeypatch.setattr(serving, "server_of", Server)
    monkeypatch.setattr(Studio, "warm_up", lambda _: None)
    serving.serve(tmp_path / "studio", show=False, file=tmp_path / "answers.csv")
    assert seen == ["answers.csv"]
    with pytest.raises(DataError):
        serving.serve(tmp_path / "studio", show=False, file=tmp_path / "nothing.csv")
    assert list((tmp_path / "studio" / "workspaces").iterdir()) != []
