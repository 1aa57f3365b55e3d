"""Locks of the system's own, which end with their process, however that ends."""

from __future__ import annotations

import errno


def taken(descriptor: int) -> bool:
    """Take the lock of an open file or folder, until it is closed.

    Returns:
        False if another process holds it. True otherwise, also where the system or its file system has no such
        locks, and nothing keeps others out.
    """
    try:
        import fcntl
    except ImportError:  # Windows has none
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
    return True
