"""Files: atomic writing, owner-only permissions, locks, and names of temporary files."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from ..errors import FileError

_LONGEST: Final = 140  # bytes of a name; encrypted folders take 143, most others 255
_HINTS: Final = {
    errno.ENOSPC: "the disk is full: free some space or write elsewhere.",
    errno.EDQUOT: "your quota of the disk is used up: free some space or write elsewhere.",
    errno.ENOENT: "its folder does not exist: create it first.",
    errno.ENOTDIR: "its folder is not a folder: check the path.",
    errno.ENAMETOOLONG: "choose a shorter name.",
    errno.EISDIR: "it is a folder: give the name of a file.",
    errno.EACCES: "choose a place where you may write.",
    errno.EPERM: "choose a place where you may write.",
    errno.EROFS: "choose a place where you may write.",
}


@contextmanager
def atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of an empty temporary file to write to; it replaces ``path`` at the end.

    The temporary file lies in the same folder, reaches the disk before it is renamed, and is removed on any
    failure: ``path`` is then unchanged. A file that cannot be written is a `FileError`.
    """
    target, temporary = _create_part(path)
    try:
        yield temporary
        _sync(temporary, os.O_RDWR)
        os.replace(temporary, target)
    except FileError:
        raise
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    with suppress(OSError):  # some systems cannot sync a folder; the file itself is safe
        _sync(target.parent, os.O_RDONLY)


@contextmanager
def owner_only(only: bool = True) -> Iterator[None]:
    """Make files created in the block readable by their owner only, like umask 077; no effect without ``only``."""
    before = os.umask(0o077) if only else None
    try:
        yield
    finally:
        if before is not None:
            os.umask(before)


def owner_only_like(path: str | os.PathLike[str]) -> AbstractContextManager[None]:
    """Return `owner_only` for a file that only its owner can read: derived files then have its permissions."""
    try:
        alone = not os.stat(path).st_mode & 0o077
    except OSError:
        alone = False
    return owner_only(alone)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, and leave nothing behind.

    It is a `FileError` if its folder is missing, nothing can be written there, its name is too long, or it is a
    folder itself.
    """
    _, temporary = _create_part(path)
    temporary.unlink(missing_ok=True)


def hidden_name(name: str, suffix: str) -> str:
    """Return the name of a hidden file that belongs to another: a dot, the name, the suffix.

    A long name is cut to whole characters, and a hash of the full name distinguishes it from others with the same
    start. The suffix, such as ``.part``, has at most 60 bytes.
    """
    encoded = name.encode("utf-8", "surrogateescape")
    end = suffix.encode()
    if len(encoded) + len(end) < _LONGEST:
        return f".{name}{suffix}"
    digest = hashlib.blake2b(encoded, digest_size=8).hexdigest()
    room = _LONGEST - len(end) - len(digest) - 2
    return f".{encoded[:room].decode('utf-8', 'ignore')}~{digest}{suffix}"


def try_lock(descriptor: int) -> bool:
    """Take the lock of an open file or folder, and return False if another process has it.

    The lock ends when the file is closed, or with the process. True may also mean that the system or file system
    has no such locks, and others are not kept out.
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


def _create_part(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the file to write and an empty one next to it that will replace it."""
    import secrets  # takes time to load, and only writing needs it

    try:
        target = Path(os.path.realpath(path))
        with suppress(FileNotFoundError):
            os.lstat(target)  # its name may be too long for the folder, where that of a temporary file is not
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        temporary = target.with_name(hidden_name(target.name, f".{secrets.token_hex(6)}.part"))
        # Not tempfile: the file must get the rights that the user's umask gives.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    return target, temporary


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: str | os.PathLike[str], error: OSError | ValueError) -> FileError:
    number = error.errno if isinstance(error, OSError) else None
    reason = os.strerror(number) if number else str(error)
    return FileError(
        f"{os.fspath(path)!r} could not be written ({reason}).",
        _HINTS.get(number or 0, "write elsewhere or try again."),
    )
