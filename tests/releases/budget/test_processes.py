"""Processes that are killed or charge at once: nothing is overspent, lost, drawn twice or left locked."""

import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from sfumato.errors import FileError
from sfumato.releases.budget import BudgetError, Charge, Ledger

from .processes import (
    Worker,
    act_and_die,
    as_nobody,
    charge_batch,
    charge_for_ever,
    charge_one,
    charge_until_refused,
    drawn,
    fill_disk,
    flag,
    fork_and_charge,
    hold,
    remember_one,
    report_for_ever,
    run_batches,
    same_places,
)

FEW, MANY = 3, 50
MOST = 10  # times as many, where by chance too few come in the middle of a transaction
LONGEST_S = 0.25
times = pytest.mark.parametrize("kills", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])


def at_once(function, *addresses):
    """Return what processes at these addresses told, which ran at the same time."""
    workers = [Worker(function, str(address)) for address in addresses]
    return [worker.told() for worker in workers]


def soon(act):
    """Return what a call returns, which no lock may delay."""
    start = time.monotonic()
    found = act()
    assert time.monotonic() - start < 10
    return found


class TestKilled:
    @times
    def test_while_charging(self, address, kills):
        ledger = Ledger.create(address, 10**9)
        before, hits = 0, 0
        for number in range(MOST * kills):
            if number >= kills and hits >= kills // 3:
                break
            middle = flag()
            granted = Worker(charge_for_ever, address, middle).kill(random.uniform(0, LONGEST_S))[-1]
            hits += middle.value
            soon(lambda: ledger.afford([Charge("bob", 1)]))  # waits for a server that has not noticed yet
            now = ledger.balance("ada").reports
            assert before + granted <= now <= before + granted + 1  # the last one may not have been told
            before = soon(lambda: ledger.charge("ada", 1)).reports
            assert before == now + 1
        assert ledger.check().sound
        assert hits >= kills // 3  # the signal came in the middle of a transaction

    @times
    def test_while_remembering(self, address, kills):
        ledger = Ledger.create(address, 10**9)
        hits = 0
        for number in range(MOST * kills):
            if number >= kills and hits >= kills // 3:
                break
            middle = flag()
            told = Worker(report_for_ever, address, f"{number} ", middle).kill(random.uniform(0, LONGEST_S))
            hits += middle.value
            soon(lambda: ledger.afford([Charge("bob", 1)]))
            kept = ledger.check()
            assert kept.sound
            assert ledger.balance("ada").spent == kept.places
            places = [place for place, _ in told]
            again = soon(lambda p=places: ledger.reports(["ada"] * len(p), p, 1, drawn, b"m"))
            assert again == [report for _, report in told]
            assert ledger.check().places == kept.places
        assert hits >= kills // 3

    @times
    def test_while_charging_the_batches_of_a_run(self, address, kills):
        ledger = Ledger.create(address, 10**9)
        for run in range(kills):
            Worker(run_batches, address, f"r{run}").kill(random.uniform(0, LONGEST_S / 4))
            assert Worker(run_batches, address, f"r{run}").told() == list(range(40))
        sums = [kills * sum(batch <= user < batch + 20 for batch in range(40)) for user in range(59)]
        assert [ledger.balance(f"u{user}").spent for user in range(59)] == sums
        assert ledger.check().sound

    @pytest.mark.parametrize(
        "act", [charge_one, *(pytest.param(each, marks=pytest.mark.slow) for each in (remember_one, charge_batch))]
    )
    def test_at_every_step(self, address, act):
        """Before and after each statement, before and after the commit: all of it counts or nothing."""
        ledger = Ledger.create(address, 10**9)
        ledger.reports(["ada"], ["home"], 1, drawn, b"m")
        ends = []
        for step in range(1, 100):
            before = ledger.balance("ada").reports, ledger.check().places
            worker = Worker(act_and_die, address, act, step)
            told = worker.told()
            soon(lambda: ledger.afford([Charge("bob", 1)]))
            found = ledger.check()
            assert found.sound
            ends.append((ledger.balance("ada").reports - before[0], found.places - before[1]))
            if told:
                break
            assert worker.killed
        assert told == [step - 1]
        assert len(ends) > 10
        counts = Counter(ends)
        whole = (1, 1) if act is remember_one else (1, 0)
        assert counts.keys() == {(0, 0), whole}
        assert counts[whole] == 2  # killed after the commit, and not killed

    def test_while_it_holds_the_lock(self, address):
        ledger = Ledger.create(address, 10)
        Worker(hold, address).kill(0.05)
        assert soon(lambda: ledger.charge("ada", 1)).spent == 1
        assert ledger.check().places == 0

    def test_while_it_is_made(self, tmp_path):
        """The file without tables that a creation leaves which is cut off at its worst moment."""
        path = tmp_path / "l.db"
        path.touch()
        with pytest.raises(FileError, match=r"no such table") as caught:
            Ledger(path)
        assert "remove the file and create it again" in caught.value.hint
        with pytest.raises(FileError, match="exists already"):
            Ledger.create(path, 1)


class TestAtOnce:
    def test_through_a_path_and_symbolic_links(self, tmp_path):
        folder = tmp_path / "folder"
        folder.mkdir()
        Ledger.create(folder / "l.db", 5)
        (tmp_path / "link.db").symlink_to(folder / "l.db")
        (tmp_path / "other").symlink_to(folder)
        names = [
            folder / "l.db",
            tmp_path / "link.db",
            tmp_path / "other" / "l.db",
            folder / ".." / "folder" / "l.db",
        ]
        told = at_once(charge_until_refused, *names)
        assert all(each[-1] == "refused" for each in told), told
        assert sum(each[-2] for each in told) == 50
        ledger = Ledger(tmp_path / "link.db")
        assert ledger.balance("ada").spent == 5
        assert ledger.balance("ada").reports == 50
        assert ledger.check().sound

    def test_clients_of_postgresql(self, database):
        ledger = Ledger.create(database, 5)
        told = at_once(charge_until_refused, *[database] * 4)
        assert sum(each[-2] for each in told) == 50
        assert ledger.balance("ada").spent == 5
        assert ledger.check().sound

    def test_they_agree_on_the_report_of_a_place(self, address):
        ledger = Ledger.create(address, 100)
        told = [each for (each,) in at_once(same_places, *[address] * 4)]
        assert all(each == told[0] for each in told)
        assert ledger.balance("ada").spent == ledger.check().places == 20

    def test_forks_have_connections_of_their_own(self, address):
        ledger = Ledger.create(address, 100)
        assert Worker(fork_and_charge, address).told() == [[0, 0, 0]]
        assert ledger.balance("ada").spent == 1 + 4 * 5 + 1
        assert ledger.check().sound


class TestHardLinks:
    def test_a_second_name_is_refused_and_costs_nothing(self, tmp_path):
        path, second = tmp_path / "l.db", tmp_path / "second.db"
        ledger = Ledger.create(path, 5)
        ledger.charge("ada", 1)
        os.link(path, second)
        told = at_once(charge_until_refused, path, second, path, second)
        assert all("2 names (hard links)" in each[-1] for each in told)
        with pytest.raises(FileError, match="hard links"):  # also where it was open before
            ledger.charge("ada", 1)
        second.unlink()
        assert soon(lambda: ledger.charge("ada", 1)).spent == 2
        assert ledger.check().sound

    def test_one_that_appears_meanwhile_overspends_nothing(self, tmp_path):
        path, second = tmp_path / "l.db", tmp_path / "second.db"
        ledger = Ledger.create(path, 1000)
        workers = [Worker(charge_until_refused, str(path)) for _ in range(2)]
        assert workers[0].pipe.recv() == 0
        time.sleep(0.1)
        os.link(path, second)
        told = [worker.told() for worker in workers]
        assert all("2 names" in each[-1] for each in told)
        second.unlink()
        granted = sum(each[-2] for each in told if len(each) > 1)  # one may not have begun
        assert ledger.balance("ada").reports == granted
        assert ledger.check().sound


class TestNoRoom:
    def test_a_full_disk(self, tmp_path):
        ledger = Ledger.create(tmp_path / "l.db", 5)
        told = Worker(fill_disk, str(tmp_path / "l.db"), 200_000).told()
        assert "no report was given out" in told[-1] or "nothing was charged" in told[-1]
        found = ledger.check()
        assert found.sound
        assert len(told) - 1 <= found.charges <= len(told)
        assert len(told) > 3
        ledger.charge("ada", 1)

    def test_no_room_for_a_new_ledger(self, tmp_path):
        ledger = Ledger.create(tmp_path / "l.db", 5)
        ledger.close()
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        told = Worker(fill_disk, str(tmp_path / "l.db"), 0).told()
        assert len(told) == 1
        assert "Hint: " in told[0]
        assert before.keys() <= set(tmp_path.iterdir())
        assert ledger.check().charges == 0

    def test_a_folder_where_nobody_may_write(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(0o755)
            Ledger.create(folder / "l.db", 5).close()
            for path in (folder / "l.db", folder):
                if os.geteuid() == 0:
                    os.chown(path, 65534, 65534)
                path.chmod(0o500 if path == folder else 0o400)
            try:
                told = Worker(as_nobody, str(folder / "l.db")).told()
            finally:
                folder.chmod(0o700)
                (folder / "l.db").chmod(0o600)
            assert len(told) == 2
            for said in told:
                assert "where you may write" in said
            assert [path.name for path in folder.iterdir()] == ["l.db"]
            assert Ledger(folder / "l.db").balance("ada").spent == 0


def test_a_writer_that_waits_too_long_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.releases.budget.sqlite.PATIENCE_S", 0.2)
    Ledger.create(tmp_path / "l.db", 5)
    worker = Worker(hold, str(tmp_path / "l.db"))
    assert worker.pipe.recv() == "holding"
    impatient = Ledger(tmp_path / "l.db")  # reading does not wait
    assert impatient.balance("ada").spent == 0
    with pytest.raises(FileError, match="another process has held"):
        impatient.charge("ada", 1)
    worker.process.kill()
    worker.process.join()
    assert impatient.charge("ada", 5).left == 0
    with pytest.raises(BudgetError):
        impatient.charge("ada", 1)
