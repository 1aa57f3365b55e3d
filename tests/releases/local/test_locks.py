"""The lock of a work folder is not lost to those who only ask whether it is held."""

import os
import threading

from sfumato.releases.local.locks import is_locked, locked


def test_one_who_asks_is_in_nobodys_way(tmp_path):
    folder, done = tmp_path / "work", threading.Event()
    os.close(locked(folder, tmp_path / "out.csv"))

    def ask():
        while not done.is_set():
            is_locked(folder)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(2000):
            os.close(locked(folder, tmp_path / "out.csv"))
    finally:
        done.set()
        asking.join()
