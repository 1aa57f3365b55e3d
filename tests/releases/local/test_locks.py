"""The lock of a work folder is not lost to those who only ask whether it is held."""

import fcntl
import os
import threading
from types import SimpleNamespace

import pytest

from sfumato.errors import FileError
from sfumato.releases import work_folder as runs
from sfumato.releases.work_folder import LOCK, is_locked, lock_folder
from tests.releases.forks import SEARCH


@pytest.fixture
def folder(tmp_path):
    os.close(lock_folder(tmp_path / "work", tmp_path / "out.csv"))
    return tmp_path / "work"


@pytest.fixture
def asking(folder):
    """The lock as one holds it who asks whether another does."""
    descriptor = os.open(folder / LOCK, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return descriptor


@pytest.mark.parametrize("pauses", [1, 2, 3])
def test_one_who_asks_is_in_nobodys_way(folder, asking, monkeypatch, pauses):
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == pauses:
            os.close(asking)

    monkeypatch.setattr(runs, "time", SimpleNamespace(sleep=pause))
    assert not is_locked(folder)  # two may ask at the same time
    os.close(lock_folder(folder, folder.with_name("out.csv")))
    assert len(waited) == pauses
    assert sum(waited) < 1


def test_one_who_holds_it_is(folder, asking, monkeypatch):
    waited: list[float] = []
    monkeypatch.setattr(runs, "time", SimpleNamespace(sleep=waited.append))
    with pytest.raises(FileError, match="another process is writing"):
        lock_folder(folder, folder.with_name("out.csv"))
    assert len(waited) == 3
    os.close(asking)
    lock = lock_folder(folder, folder.with_name("out.csv"))
    assert is_locked(folder)
    os.close(lock)
    assert not is_locked(folder)
    os.close(lock_folder(folder, folder.with_name("out.csv")))
    assert len(waited) == 3  # a question that was answered holds nothing


if SEARCH is not None:

    def test_one_who_asks_all_the_time_is_in_nobodys_way(folder):
        done = threading.Event()

        def ask():
            while not done.is_set():
                is_locked(folder)

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            for _ in range(2000):
                os.close(lock_folder(folder, folder.with_name("out.csv")))
        finally:
            done.set()
            asking.join()
