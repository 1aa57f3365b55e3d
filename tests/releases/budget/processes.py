"""Processes of their own that charge, some of which are killed; each tells over a pipe what it was granted."""

import itertools
import multiprocessing
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from sfumato.errors import FileError
from sfumato.releases.budget import BudgetError, Charge, Ledger

# Forked from a process that has imported everything, and has no threads and no ledger.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__])


class Worker:
    """A process that runs a function with a pipe as its last argument."""

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        self.pipe, there = FORKS.Pipe()
        self.process = FORKS.Process(target=function, args=(*arguments, there), daemon=True)
        self.process.start()
        there.close()

    def told(self) -> list[Any]:
        """All that it told, once it has ended."""
        found = []
        try:
            while True:
                found.append(self.pipe.recv())
        except (EOFError, ConnectionResetError):
            self.process.join()
            return found

    def kill(self, after_s: float) -> list[Any]:
        """Kill it some time after its first word, and return what it told."""
        first = self.pipe.recv()
        time.sleep(after_s)
        self.process.kill()
        return [first, *self.told()]


def charge_for_ever(address: str, pipe: Connection) -> None:
    """Charge one user again and again; tell how often that was granted."""
    ledger = Ledger(address)
    for number in itertools.count(1):
        ledger.charge("ada", 1)
        pipe.send(number)


def report_for_ever(address: str, pipe: Connection) -> None:
    """Report one place after the other; tell each report."""
    ledger = Ledger(address)
    for number in itertools.count():
        pipe.send((number, ledger.reports(["ada"], [f"p{number}"], 1, drawn, b"m")[0]))


def drawn(visits: list[int]) -> list[int]:
    """Draw reports that no other process draws."""
    return [random.SystemRandom().randrange(2**31) for _ in visits]


def run_batches(address: str, run: str, pipe: Connection) -> None:
    """Charge the batches of a run, from the first one on; tell those that are done."""
    ledger = Ledger(address)
    for batch in range(40):
        ledger.charge_many([Charge(f"u{number}", 1) for number in range(batch, batch + 20)], run=run, batch=batch)
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


def same_places(address: str, pipe: Connection) -> None:
    """Report twenty places that others report at the same time."""
    ledger = Ledger(address)
    pipe.send([ledger.reports(["ada"], [f"p{number}"], 1, drawn, b"m")[0] for number in range(20)])


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
    """Charge as a user without rights."""
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
