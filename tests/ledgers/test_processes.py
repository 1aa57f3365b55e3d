"""Processes that are killed or charge at once: nothing is overspent, lost, drawn twice or left locked."""

import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

from sfumato.errors import FileError
from sfumato.geo import Projection
from sfumato.ledgers import Blur, BudgetError, Charge, Ledger
from sfumato.mechanisms.planar import CoordinateNoise

from ..releases.forks import SEARCH
from .altered import rows
from .processes import (
    BATCHES,
    USERS,
    Worker,
    act_and_die,
    as_nobody,
    charge_batch,
    charge_for_ever,
    charge_one,
    charge_until_cut_off,
    charge_until_refused,
    drawn,
    fill_disk,
    fork_and_charge,
    hold,
    move_home,
    remember_one,
    report_for_ever,
    run_batches,
    same_places,
)

STEPS = range(5, 120, 19)  # of a process that charges again and again: in the middle of other charges each
LONGEST_S = 0.25


def at_once(function, *addresses):
    """Return the output of processes at these addresses, which ran at the same time."""
    workers = [Worker(function, str(address)) for address in addresses]
    return [worker.output() for worker in workers]


def check_charges(ledger: Ledger, before: int, output: list[int]) -> int:
    """Check what a killed process leaves that charged one user; return how many reports that user has by now.

    Args:
        ledger: The ledger.
        before: The user's reports before that process.
        output: How often it was granted, time after time.
    """
    granted = output[-1] if output else 0
    ledger.afford([Charge("bob", 1)])  # waits for a server that has not noticed yet
    now = ledger.balance("ada").reports
    assert before + granted <= now <= before + granted + 1  # the last one may not have been reported
    assert ledger.charge("ada", 1).reports == now + 1
    return now + 1


def check_reports(ledger: Ledger, output: list[tuple[str, int]]) -> None:
    """Check what a killed process leaves that reported places of one user.

    Args:
        ledger: The ledger.
        output: Each place and its report.
    """
    ledger.afford([Charge("bob", 1)])
    kept = ledger.check()
    assert kept.sound
    assert ledger.balance("ada").spent == kept.places
    places = [place for place, _ in output]
    again = ledger.reports(["ada"] * len(places), places, 1, drawn, b"m")
    assert again == [report for _, report in output]
    assert ledger.check().places == kept.places


def check_batches(ledger: Ledger, runs: int) -> None:
    """Check that the batches of so many runs are charged once each."""
    users = BATCHES + USERS - 1
    sums = [runs * sum(batch <= user < batch + USERS for batch in range(BATCHES)) for user in range(users)]
    assert [ledger.balance(f"u{user}").spent for user in range(users)] == sums
    assert ledger.check().sound


@pytest.fixture
def impatient(monkeypatch):
    """A SQLite ledger that waits for no lock: a process that was killed holds none, not for an instant."""
    monkeypatch.setattr("sfumato.ledgers.database.PATIENCE_S", 0)


@pytest.mark.usefixtures("impatient")
class TestKilled:
    @pytest.mark.thinned(2)
    def test_while_charging(self, address):
        ledger, reports = Ledger.create(address, 10**9), 0
        for step in STEPS:
            worker = Worker(charge_for_ever, address, step)
            reports = check_charges(ledger, reports, worker.output())
            assert worker.killed
        assert ledger.check().sound

    @pytest.mark.parametrize("cut", [0, 1, 24, 2_000, 4_119])
    def test_in_the_middle_of_a_write(self, tmp_path, cut):
        """So many bytes after the beginning of a page of the log; 24 bytes are said of each page before it."""
        path, end = tmp_path / "l.db", 32 + 25 * 4_120 + cut
        ledger = Ledger.create(path, 10**9)
        worker = Worker(charge_until_cut_off, str(path), end)
        output = worker.output()
        assert worker.killed
        assert output
        assert os.path.getsize(f"{path}-wal") == end
        check_charges(ledger, 0, output)
        assert ledger.check().sound

    @pytest.mark.thinned(2)
    def test_while_remembering(self, address):
        ledger = Ledger.create(address, 10**9)
        for step in STEPS:
            worker = Worker(report_for_ever, address, f"{step} ", step)
            check_reports(ledger, worker.output())
            assert worker.killed

    @pytest.mark.thinned(2)
    def test_while_charging_the_batches_of_a_run(self, address):
        ledger = Ledger.create(address, 10**9)
        for step in STEPS:
            worker = Worker(run_batches, address, f"r{step}", step)
            worker.output()
            assert worker.killed
            assert Worker(run_batches, address, f"r{step}", 0).output() == list(range(BATCHES))
        check_batches(ledger, len(STEPS))

    @pytest.mark.thinned(2)
    @pytest.mark.parametrize(
        "act", [charge_one, *(pytest.param(each, marks=pytest.mark.slow) for each in (remember_one, charge_batch))]
    )
    def test_at_every_step(self, address, act):
        """Before each statement, before and after the commit: all of it counts or nothing."""
        ledger = Ledger.create(address, 10**9)
        ledger.reports(["ada"], ["home"], 1, drawn, b"m")
        ends = []
        for step in range(1, 100):
            before = ledger.balance("ada").reports, ledger.check().places
            worker = Worker(act_and_die, address, act, step)
            output = worker.output()
            ledger.afford([Charge("bob", 1)])
            found = ledger.check()
            assert found.sound
            ends.append((ledger.balance("ada").reports - before[0], found.places - before[1]))
            if output:
                break
            assert worker.killed
        assert output == [step - 1]
        assert len(ends) > 7
        counts = Counter(ends)
        whole = (1, 1) if act is remember_one else (1, 0)
        assert counts.keys() == {(0, 0), whole}
        assert counts[whole] == 2  # killed after the commit, and not killed

    def test_while_it_holds_the_lock(self, address):
        ledger = Ledger.create(address, 10)
        worker = Worker(hold, address)
        assert worker.word() == "holding"
        worker.kill()
        assert ledger.charge("ada", 1).spent == 1
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


if SEARCH is not None:

    class TestKilledAtRandomMoments:
        KILLS = 50

        @pytest.mark.thinned(2)
        def test_while_charging(self, address):
            chance, ledger, reports = random.Random(SEARCH), Ledger.create(address, 10**9), 0
            for _ in range(self.KILLS):
                worker = Worker(charge_for_ever, address, 0)
                first = worker.word()
                time.sleep(chance.uniform(0, LONGEST_S))
                reports = check_charges(ledger, reports, [first, *worker.kill()])
            assert ledger.check().sound

        @pytest.mark.thinned(2)
        def test_while_remembering(self, address):
            chance, ledger = random.Random(SEARCH), Ledger.create(address, 10**9)
            for number in range(self.KILLS):
                worker = Worker(report_for_ever, address, f"{number} ", 0)
                first = worker.word()
                time.sleep(chance.uniform(0, LONGEST_S))
                check_reports(ledger, [first, *worker.kill()])

        @pytest.mark.thinned(2)
        def test_while_charging_the_batches_of_a_run(self, address):
            chance, ledger = random.Random(SEARCH), Ledger.create(address, 10**9)
            for run in range(self.KILLS):
                worker = Worker(run_batches, address, f"r{run}", 0)
                worker.word()
                time.sleep(chance.uniform(0, LONGEST_S / 4))
                worker.kill()
                assert Worker(run_batches, address, f"r{run}", 0).output() == list(range(BATCHES))
            check_batches(ledger, self.KILLS)


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
        output = at_once(charge_until_refused, *names)
        assert all(each[-1] == "refused" for each in output), output
        assert sum(each[-2] for each in output) == 50
        ledger = Ledger(tmp_path / "link.db")
        assert ledger.balance("ada").spent == 5
        assert ledger.balance("ada").reports == 50
        assert ledger.check().sound

    def test_clients_of_postgresql(self, database):
        ledger = Ledger.create(database, 5)
        output = at_once(charge_until_refused, *[database] * 4)
        assert sum(each[-2] for each in output) == 50
        assert ledger.balance("ada").spent == 5
        assert ledger.check().sound

    @pytest.mark.thinned(2)
    def test_they_agree_on_the_report_of_a_place(self, address):
        ledger = Ledger.create(address, 100)
        output = [each for (each,) in at_once(same_places, *[address] * 4)]
        assert all(each == output[0] for each in output)
        assert ledger.balance("ada").spent == ledger.check().places == 20

    @pytest.mark.thinned(2)
    @pytest.mark.filterwarnings("ignore::sfumato.errors.PlaceWarning")
    def test_moves_are_each_charged_and_leave_one_place(self, address):
        noise = CoordinateNoise("0.1/km", "2 m", Projection(48.86, 2.34), "30 km")
        ledger = Ledger.create(address, "100/km")
        app = Blur(noise, ledger)
        app.report("ada", 48.85, 2.35, place="home")
        output = [each for (each,) in at_once(move_home, *[address] * 4)]
        assert len({home for homes in output for home in homes}) > 15  # 5 or more are equal by chance: below 1e-25
        assert ledger.balance("ada").reports == 21
        found = {tuple(Blur(noise, Ledger(address)).report("ada", 48.85, 2.35, place="home")) for _ in range(3)}
        assert len(found) == 1
        assert found <= {homes[-1] for homes in output}
        assert ledger.balance("ada").reports == 21
        assert len({row["key"] for row in rows(address, "places")}) == 1
        assert ledger.check().sound

    @pytest.mark.thinned(2)
    def test_forks_have_connections_of_their_own(self, address):
        ledger = Ledger.create(address, 100)
        assert Worker(fork_and_charge, address).output() == [[0, 0, 0]]
        assert ledger.balance("ada").spent == 1 + 4 * 5 + 1
        assert ledger.check().sound


class TestHardLinks:
    def test_a_second_name_is_refused_and_costs_nothing(self, tmp_path):
        path, second = tmp_path / "l.db", tmp_path / "second.db"
        ledger = Ledger.create(path, 5)
        ledger.charge("ada", 1)
        os.link(path, second)
        output = at_once(charge_until_refused, path, second, path, second)
        assert all("2 names (hard links)" in each[-1] for each in output)
        with pytest.raises(FileError, match="hard links"):  # also where it was open before
            ledger.charge("ada", 1)
        second.unlink()
        assert ledger.charge("ada", 1).spent == 2
        assert ledger.check().sound

    def test_one_that_appears_meanwhile_overspends_nothing(self, tmp_path):
        path, second = tmp_path / "l.db", tmp_path / "second.db"
        ledger = Ledger.create(path, 10**9)
        workers = [Worker(charge_until_refused, str(path)) for _ in range(2)]
        assert [worker.word() for worker in workers for _ in range(3)] == [0, 1, 2] * 2  # both are charging
        os.link(path, second)
        output = [[2, *worker.output()] for worker in workers]
        assert all("2 names" in each[-1] for each in output)
        second.unlink()
        granted = sum(each[-2] for each in output)
        assert ledger.balance("ada").reports == granted
        assert ledger.check().sound


class TestNoRoom:
    def test_a_full_disk(self, tmp_path):
        ledger = Ledger.create(tmp_path / "l.db", 5)
        output = Worker(fill_disk, str(tmp_path / "l.db"), 200_000).output()
        assert "no report was given out" in output[-1] or "nothing was charged" in output[-1]
        found = ledger.check()
        assert found.sound
        assert len(output) - 1 <= found.charges <= len(output)
        assert len(output) > 3
        ledger.charge("ada", 1)

    def test_no_room_for_a_new_ledger(self, tmp_path):
        ledger = Ledger.create(tmp_path / "l.db", 5)
        ledger.close()
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        output = Worker(fill_disk, str(tmp_path / "l.db"), 0).output()
        assert len(output) == 1
        assert "Hint: " in output[0]
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
                output = Worker(as_nobody, str(folder / "l.db")).output()
            finally:
                folder.chmod(0o700)
                (folder / "l.db").chmod(0o600)
            assert len(output) == 2
            for said in output:
                assert "where you may write" in said
            assert [path.name for path in folder.iterdir()] == ["l.db"]
            assert Ledger(folder / "l.db").balance("ada").spent == 0


def test_a_writer_that_waits_too_long_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.ledgers.database.PATIENCE_S", 0.2)
    Ledger.create(tmp_path / "l.db", 5)
    worker = Worker(hold, str(tmp_path / "l.db"))
    assert worker.word() == "holding"
    impatient = Ledger(tmp_path / "l.db")  # reading does not wait
    assert impatient.balance("ada").spent == 0
    with pytest.raises(FileError, match="another process has held"):
        impatient.charge("ada", 1)
    worker.kill()
    assert impatient.charge("ada", 5).left == 0
    with pytest.raises(BudgetError):
        impatient.charge("ada", 1)
