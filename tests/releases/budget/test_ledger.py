"""The ledger: exact sums, refusals that change nothing, and a file that survives."""

import json
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import FileError, InfeasibleError, InputError, UnitError
from sfumato.releases.budget import BudgetError, Ledger, MeteredSampler


def test_ten_tenths_are_one_and_the_eleventh_is_refused(tmp_path):
    ledger = Ledger(tmp_path / "l.json", 1.0)
    for _ in range(10):
        ledger.charge("ada", 0.1)
    assert ledger.balance("ada").spent == 1
    with pytest.raises(
        BudgetError, match=r"has spent 1 of 1 in 10 reports; 0 is left, but 0\.1 is needed"
    ) as caught:
        ledger.charge("ada", "0.1")
    assert isinstance(caught.value, InfeasibleError)
    assert (caught.value.user, caught.value.asked, caught.value.left) == ("ada", Fraction(1, 10), Fraction(0))
    assert ledger.balance("ada").reports == 10


def test_users_have_budgets_of_their_own_and_the_file_keeps_them(tmp_path):
    path = tmp_path / "l.json"
    ledger = Ledger(path, "2/km", unit="km")
    ledger.charge("ada", "0.5/km")
    ledger.charge("Zoë", "1/km")
    assert ledger.charge("ada", "0.001/m").left == Fraction(1, 2)
    again = Ledger(path, 2, unit="km")
    assert again.users == ("Zoë", "ada")
    assert again.balance("ada").spent == Fraction(3, 2)
    assert again.balance("nobody").left == 2
    assert "0.5/km" not in path.read_text(encoding="utf-8")  # sums only, not single reports
    with pytest.raises(BudgetError, match=r"0\.5/km is left"):
        again.charge("ada", "0.6/km")


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(1e-6, 0.5)), max_size=10))
def test_no_sequence_of_charges_exceeds_the_limit(tmp_path_factory, charges):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "l.json", 1.0)
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


def test_threads_that_charge_at_once_lose_nothing(tmp_path):
    ledger = Ledger(tmp_path / "l.json", 3.0)
    refused = []

    def work():
        for _ in range(5):
            try:
                Ledger(tmp_path / "l.json", 3.0).charge("ada", 0.2)
            except BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.balance("ada").spent == 3
    assert (ledger.balance("ada").reports, len(refused)) == (15, 5)
    assert [path.name for path in tmp_path.iterdir()] == ["l.json"]


def test_a_charge_that_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "l.json", 1.0)
    ledger.charge("ada", 0.25)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(FileError, match="could not be written"):
        ledger.charge("ada", 0.25)
    monkeypatch.undo()
    assert ledger.balance("ada").spent == Fraction(1, 4)
    assert [path.name for path in tmp_path.iterdir()] == ["l.json"]


def test_a_lock_that_stays_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.releases.budget.stores._PATIENCE_S", 0.02)
    (tmp_path / "l.json.lock").touch()
    with pytest.raises(FileError, match=r"remove .*l\.json\.lock"):
        Ledger(tmp_path / "l.json", 1.0).charge("ada", 0.1)


def written(users, limit="1"):
    content = {"format": "sfumato ledger", "version": 1, "limit": limit, "unit": "", "users": users}
    return json.dumps(content)


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "[]",
        '{"format": "sfumato ledger", "version": 2}',
        '{"format": "sfumato ledger", "version": 1, "limit": "1", "unit": ""}',
        written({}, limit="1/0"),
        written({}, limit="-1"),
        written({"a": {"spent": "-1", "reports": 1}}),
        written({"a": {"spent": "2", "reports": 1}}),
        written({"a": {"spent": "1/2"}}),
        written([]),
    ],
)
def test_a_file_that_is_no_sound_ledger_is_refused(tmp_path, content):
    (tmp_path / "l.json").write_text(content, encoding="utf-8")
    with pytest.raises(FileError):
        Ledger(tmp_path / "l.json", 1.0)


def test_a_ledger_is_not_opened_with_another_limit(tmp_path):
    Ledger(tmp_path / "l.json", 1.0, unit="km").charge("ada", 0.1)
    for limit, unit in ((2.0, "km"), (1.0, "m")):
        with pytest.raises(InputError, match="was made for a limit of 1/km"):
            Ledger(tmp_path / "l.json", limit, unit=unit)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "1 km", "none"])
def test_what_is_no_epsilon_is_not_charged(tmp_path, epsilon):
    ledger = Ledger(tmp_path / "l.json", 1.0, unit="km")
    with pytest.raises((InputError, UnitError)):
        ledger.charge("ada", epsilon)
    with pytest.raises(InputError):
        Ledger(tmp_path / "k.json", epsilon, unit="km")
    assert ledger.users == ()


def test_sums_stay_exact_where_floats_do_not(tmp_path):
    ledger = Ledger(tmp_path / "l.json", 1.0)
    for epsilon in (0.1, 0.2, 0.7):
        ledger.charge("ada", epsilon)
    assert ledger.balance("ada").left == 0
    assert json.loads((tmp_path / "l.json").read_text(encoding="utf-8"))["users"]["ada"]["spent"] == "1"


class TestMetered:
    SPACE = sf.Space("abcd")

    def metered(self, tmp_path, claimed=0.5, limit=1.0, unit=""):
        mechanism = sf.mechanisms.randomised_response(self.SPACE, 0.5)
        guarantee = sf.MetricPrivacy(claimed, sf.hamming(self.SPACE))
        return MeteredSampler(mechanism, guarantee, Ledger(tmp_path / "l.json", limit, unit=unit))

    def test_it_draws_until_the_budget_is_spent(self, tmp_path):
        metered = self.metered(tmp_path)
        assert {metered.draw("ada", 1), metered.draw("ada", 1)} <= set(range(4))
        with pytest.raises(BudgetError):
            metered.draw("ada", 1)
        assert metered.draw("bob", 3) in range(4)

    def test_a_position_that_is_none_costs_nothing(self, tmp_path):
        metered = self.metered(tmp_path)
        for position in (4, -1, 1.0):
            with pytest.raises(InputError):
                metered.draw("ada", position)
        assert metered.ledger.users == ()

    def test_it_charges_nothing_that_is_not_proved(self, tmp_path):
        with pytest.raises(InputError, match=r"0\.49 is claimed|epsilon 0\.49"):
            self.metered(tmp_path, claimed=0.49)
        with pytest.raises(InputError, match="unit"):
            self.metered(tmp_path, unit="km")


def test_positions_of_numpy_are_positions(tmp_path):
    space = sf.Space("ab")
    mechanism = sf.mechanisms.randomised_response(space, 1.0)
    metered = MeteredSampler(mechanism, mechanism.guarantees[0], Ledger(tmp_path / "l.json", 100.0))
    for position in (np.int64(1), np.uint8(0), 1):
        assert metered.draw("ann", position) in (0, 1)
    others: list[Any] = [True, np.bool_(True), 1.0, np.float64(1), "1", None, 2, np.int64(-1), [0]]
    for wrong in others:
        with pytest.raises(InputError, match=r"not the position of a secret|position= is of type"):
            metered.draw("ann", wrong)
