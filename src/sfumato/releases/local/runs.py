"""The run in a work folder: where that is, its lock, which ends with its process, and what it is made from."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..._system import hidden_name
from ...errors import FileError, InputError, argument

RUN: Final = "run.json"
"""The file in a work folder that says what its run is made from; without it no run goes on there."""

_SUFFIX: Final = ".release"
LOCK: Final = "lock"
"""The name of the lock in a work folder."""

_PAUSES_S: Final = (0.001, 0.01, 0.05)

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]


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


def work_folder(target: Path) -> Path:
    """Return the folder in which a release to a target is prepared."""
    return target.with_name(hidden_name(target.name, _SUFFIX))


def work_folders(folder: Path) -> Iterator[Path]:
    """Yield the work folders of all targets in a folder."""
    yield from sorted(folder.glob(f".*{_SUFFIX}"))


def facts_of(folder: Path) -> dict[str, str]:
    """Return what the release in a work folder is made from; nothing where none can go on there."""
    try:
        held = json.loads((folder / RUN).read_bytes())
        return {str(what): str(value) for what, value in held.items()}
    except (OSError, AttributeError, ValueError, RecursionError):
        return {}


def of_folder(folder: Path) -> dict[str, str]:
    """Return what tells a work folder from its copies, which would draw the same rows with one charge."""
    return {"folder": str(folder.stat().st_ino)}


def resumed(folder: Path, facts: Mapping[str, str], target: Path) -> tuple[str, int]:
    """Return the name of the run that goes on, and how often its source had been released before it."""
    try:
        before = json.loads((folder / RUN).read_bytes())
        run, times = str(before["run"]), int(before["before"])
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileError(
            f"the interrupted release to {str(target)!r} cannot be read ({error}).",
            f"start again without {argument('resume')}.",
        ) from None
    for what, now in facts.items():
        if before.get(what) != now:
            raise InputError(
                f"the interrupted release to {str(target)!r} had another {what}.",
                "resume it with what it was started with",
                f"leave out {argument('resume')} to start again.",
            )
    return run, times


def check_charged(folder: Path, facts: Mapping[str, str], target: Path) -> None:
    """Refuse to begin anew where users were charged for what can be gone on with."""
    before = facts_of(folder)
    if (
        facts["ledger"]
        and facts["source"]
        and before
        and all(before.get(what) == now for what, now in facts.items())
    ):
        raise InputError(
            f"an interrupted release to {str(target)!r} is there, for which users may have been charged.",
            f"go on with it with {argument('resume', True)}, which charges nobody twice for the same rows",
            f"pass {argument('again', True)} to charge for all rows once more.",
        )
