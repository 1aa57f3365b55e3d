"""The lock of a work folder: the system's own, which ends with its process, however that ends."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from ...errors import FileError

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

LOCK: Final = "lock"
"""The name of the lock in a work folder."""
_PAUSES_S: Final = (0.001, 0.01, 0.05)


def locked(folder: Path, target: Path) -> int:
    """Make a work folder, and hold its lock.

    Args:
        folder: The folder.
        target: The file that will be written, for messages.

    Returns:
        The descriptor that holds it.

    Raises:
        FileError: If another process holds it, or the folder is somebody else's.
    """
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        _check_own(folder, target)
        try:
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:  # another process has just finished
            continue
        try:
            _hold(lock)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), os.stat(folder / LOCK)):
                    return lock
        except BlockingIOError:
            os.close(lock)
            raise FileError(
                f"another process is writing a release to {str(target)!r}.",
                "wait for it, or choose another target.",
            ) from None
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _hold(lock: int) -> None:
    """Take a lock; one who only asks whether it is held holds it for an instant, which is waited for.

    Raises:
        BlockingIOError: If another process holds it.
    """
    for wait_s in _PAUSES_S:
        with suppress(BlockingIOError):
            return _try(lock)
        time.sleep(wait_s)
    return _try(lock)


def _try(lock: int) -> None:
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(folder: Path) -> bool:
    """Return whether a process works in a work folder now; False where the system knows no such locks.

    Args:
        folder: The folder.
    """
    try:
        lock = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(lock)
    return False


def _check_own(folder: Path, target: Path) -> None:
    """Refuse a folder that somebody else has put there, and close it to others."""
    with suppress(FileNotFoundError):
        state = os.lstat(folder)
        own = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
        if not (stat.S_ISDIR(state.st_mode) and own):
            raise FileError(
                f"{str(folder)!r}, where {str(target)!r} would be prepared, is not a folder of yours.",
                "remove it, or choose another target.",
            )
        if state.st_mode & 0o077:
            folder.chmod(0o700)
