"""Processes of their own that charge, some of which are killed; each tells over a pipe what it was granted."""

import importlib
import itertools
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.pool import Pool

from sfumato.errors import FileError
from sfumato.geo import Projection
from sfumato.ledgers import Blur, BudgetError, Charge, Ledger, migrate
from sfumato.mechanisms.planar import CoordinateNoise

from ..releases.forks import FORKS, PATIENCE_S, Steps

BATCHES, USERS = 20, 5  # of a run, and of each of its batches


class Worker:
    """A process that runs a function with a pipe as its last argument."""

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        self.pipe, there = FORKS.Pipe()
        self.process = FORKS.Process(target=function, args=(*arguments, there), daemon=True)
        self.process.start()
        there.close()

    def word(self) -> Any:
        """The next thing that it tells."""
        assert self.pipe.poll(PATIENCE_S), f"no word and no end for {PATIENCE_S} seconds"
        return self.pipe.recv()

    def output(self) -> list[Any]:
        """Return all its output, once it has ended."""
        found = []
        try:
            while True:
                found.append(self.word())
        except (EOFError, ConnectionResetError):
            self.process.join()
            return found

    def kill(self) -> list[Any]:
        """Kill it, and return its output."""
        self.process.kill()
        return self.output()

    @property
    def killed(self) -> bool:
        """Whether it was killed: by a signal that nothing catches, or for a file that may not grow."""
        return self.process.exitcode in (-signal.SIGKILL, -signal.SIGXFSZ)


def die_at(step: int) -> Steps:
    """Let this process be killed at one of its steps towards the database; at none if it is 0."""
    steps = Steps(step)
    for name in ("begin", "before_cursor_execute", "commit"):
        event.listen(Engine, name, steps)
    event.listen(Pool, "checkin", steps)  # after a commit
    return steps


def charge_for_ever(address: str, step: int, pipe: Connection) -> None:
    """Charge one user again and again, until a step at which it is killed; tell how often that was granted."""
    with suppress(FileError):
        ledger = Ledger(address)
        die_at(step)
        for number in itertools.count(1):
            ledger.charge("ada", 1)
            pipe.send(number)


def charge_until_cut_off(address: str, limit: int, pipe: Connection) -> None:
    """Charge one user until a file is larger than it may be: the system then ends it in the middle of a write."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    charge_for_ever(address, 0, pipe)


def report_for_ever(address: str, name: str, step: int, pipe: Connection) -> None:
    """Report one place after the other, until a step at which it is killed; tell each place and its report."""
    with suppress(FileError):
        ledger = Ledger(address)
        die_at(step)
        for number in itertools.count():
            place = f"{name}{number}"
            pipe.send((place, ledger.reports(["ada"], [place], 1, drawn, b"m")[0]))


def drawn(visits: list[int]) -> list[int]:
    """Draw reports that no other process draws."""
    return [random.SystemRandom().randrange(2**31) for _ in visits]


def run_batches(address: str, run: str, step: int, pipe: Connection) -> None:
    """Charge the batches of a run, from the first one on, until a step at which it is killed; tell the others."""
    ledger = Ledger(address)
    die_at(step)
    for batch in range(BATCHES):
        charges = [Charge(f"u{number}", 1) for number in range(batch, batch + USERS)]
        ledger.charge_many(charges, run=run, batch=batch)
        pipe.send(batch)


def charge_until_refused(address: str, pipe: Connection) -> None:
    """Charge a user 0.1 until the budget is spent; tell how often that was granted."""
    try:
        ledger = Ledger(address)
        for granted in itertools.count():
            pipe.send(granted)
            ledger.charge("ada", 0.1)
    except BudgetError:
        pipe.send("refused")
    except FileError as error:
        pipe.send(error.problem)


def on_host(zone: str, ahead_s: float) -> None:
    """Let this process be on a host with a time zone and a clock of its own."""
    os.environ["TZ"] = os.environ["PGTZ"] = zone
    time.tzset()
    true_time = time.time
    setattr(time, "time", lambda: true_time() + ahead_s)  # noqa: B010


def charge_as_host(address: str, zone: str, ahead_s: float, pipe: Connection) -> None:
    """Charge as `charge_until_refused` does, on another host."""
    on_host(zone, ahead_s)
    charge_until_refused(address, pipe)


def charge_until_stopped(address: str, zone: str, ahead_s: float, pipe: Connection) -> None:
    """Charge 0.1 as often as it is granted, until it is stopped, and a few times more; report how often."""
    on_host(zone, ahead_s)
    ledger, granted = Ledger(address), 0
    pipe.send("open")
    more = 3
    while more:
        more -= pipe.poll()
        try:
            ledger.charge("ada", 0.1)
            granted += 1
        except BudgetError:
            time.sleep(0.01)
    pipe.send(granted)


def create(address: str, ahead_s: float, pipe: Connection) -> None:
    """Make a ledger; tell whether it was made."""
    on_host("UTC", ahead_s)
    try:
        Ledger.create(address, ["5", "5 per day", "5 per week"])
        pipe.send("made")
    except FileError as error:
        pipe.send(error.problem.partition(" in ")[0])


def act_and_die(address: str, act: Callable[[str, int], object], step: int, pipe: Connection) -> None:
    """Act, and be killed at one of the steps towards the database; tell how many there are, if there are fewer."""
    steps = die_at(step)
    act(address, step)
    pipe.send(steps.taken)


def create_one(address: str, number: int) -> None:
    """Make a ledger."""
    del number
    Ledger.create(address, 10)


def migrate_one(old: str, address: str, number: int) -> None:
    """Migrate a ledger of the first version."""
    del number
    migrate(old, address)


def charge_one(address: str, number: int) -> None:
    """Charge one user."""
    del number
    Ledger(address).charge("ada", 1)


def remember_one(address: str, number: int) -> None:
    """Report two places of one user, of which one is known."""
    Ledger(address).reports(["ada", "ada"], ["home", f"p{number}"], 1, drawn, b"m")


def charge_batch(address: str, number: int) -> None:
    """Charge a batch of a run."""
    Ledger(address).charge_many([Charge(user, 1) for user in ("ada", "bob")], run="r", batch=number)


def same_places(address: str, pipe: Connection) -> None:
    """Report twenty places that others report at the same time."""
    ledger = Ledger(address)
    pipe.send([ledger.reports(["ada"], [f"p{number}"], 1, drawn, b"m")[0] for number in range(20)])


def blur_places(address: str, pipe: Connection) -> None:
    """Report ten places of an app that other processes report at the same time."""
    noise = CoordinateNoise("0.1/km", "2 m", Projection(48.86, 2.34), "30 km")
    app = Blur(noise, Ledger(address))
    pipe.send([tuple(app.report("ada", 48.85, 2.35, place=f"p{number}").tolist()) for number in range(10)])


def move_home(address: str, pipe: Connection) -> None:
    """Move the home of a user five times, while others move it."""
    app = Blur(CoordinateNoise("0.1/km", "2 m", Projection(48.86, 2.34), "30 km"), Ledger(address))
    homes = [app.report("ada", 48.85 + number / 100, 2.35, place="home", move=True) for number in range(5)]
    pipe.send([tuple(home.tolist()) for home in homes])


def hold(address: str, pipe: Connection) -> None:
    """Begin a charge, and never end it."""

    def wait(visits: list[int]) -> list[int]:
        pipe.send("holding")
        time.sleep(600)
        return visits

    Ledger(address).reports(["ada"], ["home"], 1, wait, b"m")


def fill_disk(address: str, limit: int, pipe: Connection) -> None:
    """Charge until no file may grow any more, which is what a full disk does; tell how often it was granted."""
    ledger = Ledger(address)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        for number in itertools.count(1):
            ledger.charge(f"user {number}", 1)
            pipe.send(number)
    except FileError as error:
        pipe.send(str(error))


def as_nobody(address: str, pipe: Connection) -> None:
    """Charge as a user without rights, who may not be allowed to import anything either."""
    importlib.import_module("sfumato.ledgers.verification")
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    for act in (lambda: Ledger(address).charge("ada", 1), lambda: Ledger.create(f"{address}.new", 1)):
        try:
            act()
            pipe.send("granted")
        except FileError as error:
            pipe.send(str(error))


def fork_and_charge(address: str, pipe: Connection) -> None:
    """Charge, fork, and charge in all of the processes."""
    ledger = Ledger(address)
    ledger.charge("ada", 1)
    children = []
    for _ in range(3):
        child = os.fork()
        if not child:
            for _ in range(5):
                ledger.charge("ada", 1)
            os._exit(0)
        children.append(child)
    for _ in range(5):
        ledger.charge("ada", 1)
    pipe.send([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
    ledger.charge("ada", 1)
