"""``sfumato ledger``: made once, shown, checked and migrated."""

import json
import os
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.ledgers import BudgetError, Ledger
from sfumato.mechanisms.planar import CoordinateNoise
from tests.clock import avoid_midnight


@pytest.fixture
def ledger(run):
    avoid_midnight(60)
    done = run("ledger", "create", "b.db", "--budget", "5/km per day", "--budget", "20/km")
    assert done.code == 0, done.err
    assert done.out == "Made: b.db, with 5/km per day and 20/km per user.\n"
    return Ledger("b.db")


def test_it_is_made_once(run, ledger):
    ledger.charge("ada", 1)
    again = run("ledger", "create", "b.db", "--budget", "9/km")
    assert again.code == 1
    assert "'b.db' exists already" in again.err
    assert ledger.balance("ada").spent == 1


def test_what_a_user_has_spent_is_shown(run, ledger):
    ledger.charge("ada", "1.5/km")
    done = run("ledger", "show", "b.db", "--user", "ada")
    assert done.code == 0, done.err
    assert f"The end of its record: {ledger.head}" in done.out
    assert "'ada' has spent 1.5/km in 1 report; 3.5/km is left now." in done.out
    assert "Today (UTC): 1.5/km of 5/km." in done.out
    assert "Amounts add up: " in done.out
    assert "e^(sum of their amounts x distance in km) times as likely" in done.out
    assert run("ledger", "create", "w.db", "--budget", "5 per week").code == 0
    pure = run("ledger", "show", "w.db", "--user", "ada").out
    assert "This week (since Monday, UTC): 0 of 5." in pure
    assert "x distance) times" in pure
    assert "Under local differential privacy the distance of two values is 1." in pure
    assert "1 user so far" in run("ledger", "show", "sqlite:///b.db").out


def test_the_page_of_budgets_names_users_on_request_only(run, ledger):
    ledger.charge("ada", "5/km")
    with pytest.raises(BudgetError):
        ledger.charge("ada", "1/km")
    assert run("ledger", "show", "b.db", "--html", "b.txt").code == 1
    for words, named in (([], False), (["--identities"], True)):
        done = run("ledger", "show", "b.db", "--html", "b.html", *words)
        assert done.code == 0, done.err
        assert done.out.startswith("Written: b.html\n")
        page = Path("b.html").read_text(encoding="utf-8")
        assert (">ada<" in page) is named
        assert "1 request was refused" in page


def test_without_sqlalchemy_nothing_is_written(run, monkeypatch):
    assert run("design", "--cells", "4x3", "--no-picture", "--output", "m.sfm").code == 0
    Path("v.csv").write_text("user,lat,lon\na,37.774,-122.436\n")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    before = sorted(Path().iterdir())
    for words in (
        ["ledger", "create", "b.db", "--budget", "5/km", "--key-file", "b.key"],
        ["ledger", "show", "b.db"],
        ["release", "m.sfm", "v.csv", "p.csv", "--user-column", "user", "--ledger", "b.db"],
    ):
        done = run(*words)
        assert done.code == 1
        assert "a ledger needs packages that are not installed" in done.err
        assert "--extra ledger" in done.err
    assert sorted(Path().iterdir()) == before
    assert run("release", "m.sfm", "v.csv", "p.csv", "--outside", "nearest").code == 0


def test_a_record_is_checked(run, ledger):
    ledger.charge("ada", 1)
    head = ledger.head
    done = run("ledger", "check", "b.db", "--head", head)
    assert (done.code, done.err) == (0, "")
    assert "No head" not in done.out
    assert "No head of an earlier time was given" in run("ledger", "check", "b.db").out
    assert "The record is sound: 1 charge to 1 user, 0 places kept." in done.out
    os.rename("b.db", "c.db")
    ledger.close()
    assert run("ledger", "create", "b.db", "--budget", "20/km").code == 0
    done = run("ledger", "check", "b.db", "--head", head)
    assert done.code == 1
    assert "an older copy or another ledger" in done.err
    assert "The end of its record" not in done.out + done.err  # nobody should keep the head of a damaged one


def test_a_key_is_written_and_needed(run, tmp_path):
    done = run("ledger", "create", "k.db", "--budget", "1/km", "--key-file", "k.key")
    assert done.code == 0, done.err
    assert (tmp_path / "k.key").stat().st_mode & 0o777 == 0o600
    assert run("ledger", "check", "k.db", "--key-file", "k.key").code == 0
    assert "has a key" in run("ledger", "check", "k.db").err
    assert "exists already" in run("ledger", "create", "l.db", "--budget", "1/km", "--key-file", "k.key").err
    assert not (tmp_path / "l.db").exists()
    assert run("ledger", "create", "k.db", "--budget", "1/km", "--key-file", "new.key").code == 1
    assert not (tmp_path / "new.key").exists()
    for content in ("", "xyz", "00" * 31):
        (tmp_path / "k.key").write_text(content)
        refused = run("ledger", "show", "k.db", "--key-file", "k.key")
        assert refused.code == 1
        assert "key" in refused.err
    assert "cannot be read" in run("ledger", "show", "k.db", "--key-file", "none.key").err


def test_a_json_ledger_is_migrated(run, tmp_path):
    users = {"ada": {"spent": "3/2", "reports": 3}}
    content = {"format": "sfumato ledger", "version": 1, "limit": "2", "unit": "km", "users": users}
    Path(tmp_path / "old.json").write_text(json.dumps(content))
    done = run("ledger", "migrate", "old.json", "sqlite:///new.db")
    assert done.code == 0, done.err
    assert "The record is sound: 1 charge to 1 user" in done.out
    assert "programs that still use old.json let users spend twice" in done.out
    assert "0.5/km is left now" in run("ledger", "show", "new.db", "--user", "ada").out
    again = run("ledger", "migrate", "old.json", "new.db")
    assert again.code == 1
    assert "exists already" in again.err
    assert run("ledger", "migrate", "new.db", "other.db").code == 1


def test_help_and_hints(run):
    assert "create" in run("ledger", "--help").out
    shown = run("ledger", "create", "--help").out
    assert "LEDGER" in shown
    assert "--budget" in shown
    for arguments, hint in (
        (("ledger", "create", "b.db"), "--budget: What each user may spend"),
        (("ledger", "create"), "For example: sfumato ledger create budget.db"),
        (("ledger", "crate"), "the commands are create, show, check, migrate."),
        (("ledger", "check", "b.db", "--unknown"), "'sfumato ledger check --help' lists what it takes."),
        (("ledger", "check", "b.db", "--user", "ada"), "--user is an option of: sfumato ledger show."),
        (("budget",), "to keep budgets: sfumato ledger."),
    ):
        done = run(*arguments)
        assert done.code == 2, arguments
        assert hint in done.err, done.err


def test_a_ledger_of_pure_numbers_is_not_for_places(run, tmp_path):
    noise = CoordinateNoise.for_visits(sf.Visits([48.85, 48.86], [2.35, 2.36]), "1/km")
    sf.save(noise, tmp_path / "noise.sfm")
    (tmp_path / "seen.csv").write_text("lat,lon,user\n48.85,2.35,ada\n")
    assert run("ledger", "create", "pure.db", "--budget", "20").code == 0
    said = run("release", "noise.sfm", "seen.csv", "out.csv", "--ledger", "pure.db").err
    assert "the ledger counts pure numbers, but the mechanism's guarantee is per km" in said
    assert "use a ledger made with a budget such as '20/km'" in said
    assert "in ''" not in said


def test_labels_are_released_without_a_ledger(run, tmp_path):
    (tmp_path / "ill.csv").write_text("user,ill\nada,flu\nbob,cold\n")
    made = run(
        "design-column", "--column", "ill", "--labels", "flu,cold", "--epsilon", 1, "-o", "ill.sfm", "--no-picture"
    )
    assert made.code == 0, made.err
    assert run("ledger", "create", "pure.db", "--budget", "20").code == 0
    release = ("release", "ill.sfm", "ill.csv", "out.csv", "--column", "ill", "--user-column", "user")
    said = run(*release, "--ledger", "pure.db").err
    assert "only a release of places can be charged in a ledger" in said
    assert "leave out --column" not in said
    named = run(*release, "--place-column", "user").err
    assert "leave out --place-column" in named
    assert run(*release).code == 0
