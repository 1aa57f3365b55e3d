"""One writer at a time, on every system."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ...errors import FileError

_PATIENCE_S: Final = 20.0
_PAUSE_S: Final = 0.005


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock: another file beside it, which only one process can make.

    Raises:
        FileError: If the lock cannot be had.
    """
    lock = path.with_name(path.name + ".lock")
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() > end:
                raise FileError(
                    f"another process has held {str(path)!r} for {_PATIENCE_S:g} seconds.",
                    f"if none is running, it crashed: remove {str(lock)!r}.",
                ) from None
            time.sleep(_PAUSE_S)
        except OSError as error:
            raise FileError(
                f"{str(path)!r} could not be locked ({error.strerror}).", "choose a folder where you may write."
            ) from error
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
