"""The files of ledgers and memos: JSON, replaced as a whole, by one writer at a time."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from ...core.atomic import atomically
from ...errors import FileError
from .places import PlaceReports

_PATIENCE_S: Final = 20.0
_PAUSE_S: Final = 0.005
_LEDGER: Final = "sfumato ledger"
_LEDGER_VERSION: Final = 1
_MEMO: Final = "sfumato memo"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file's lock: another file beside it, which only one process can make.

    Raises:
        FileError: If the lock cannot be taken.
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


@dataclass(frozen=True, slots=True)
class Account:
    """The sum that one user has spent, and in how many reports."""

    spent: Fraction
    reports: int


@dataclass(frozen=True, slots=True)
class Books:
    """All that a ledger holds: what users have spent, and the reports of their places."""

    accounts: Mapping[str, Account]
    places: PlaceReports


def write_books(path: Path, books: Books, limit: Fraction, unit: str) -> None:
    """Write the ledger, whole or not at all; amounts are exact fractions."""
    content = {
        "format": _LEDGER,
        "version": _LEDGER_VERSION,
        "limit": str(limit),
        "unit": unit,
        "users": {
            name: {"spent": str(account.spent), "reports": account.reports}
            for name, account in sorted(books.accounts.items())
        },
        **({"places": books.places.as_json()} if books.places.reports else {}),
    }
    with atomically(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_books(path: Path) -> tuple[Books, Fraction, str] | None:
    """Return what a ledger holds, the limit and the unit, or None where there is no file yet.

    Raises:
        FileError: If the file cannot be read or is not a valid ledger.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read ({error.strerror}).", "check the path.") from error
    except ValueError as error:
        raise _not_a_ledger(path, "it is not JSON") from error
    if (
        not isinstance(content, dict)
        or content.get("format") != _LEDGER
        or content.get("version") != _LEDGER_VERSION
    ):
        raise _not_a_ledger(path, f"it is not version {_LEDGER_VERSION} of a ledger")
    try:
        accounts = {name: _account(entry) for name, entry in content["users"].items()}
        places = PlaceReports.from_json(content.get("places"))
        limit, unit = Fraction(content["limit"]), content["unit"]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise _not_a_ledger(path, f"an entry is missing or not valid: {error}") from error
    if limit <= 0 or not isinstance(unit, str):
        raise _not_a_ledger(path, "its limit is not positive, or its unit is not a text")
    return Books(accounts, places), limit, unit


def _account(entry: Any) -> Account:
    account = Account(Fraction(entry["spent"]), entry["reports"])
    if account.spent < 0 or type(account.reports) is not int or account.reports < 0:
        raise ValueError(f"{entry!r}")
    return account


def _not_a_ledger(path: Path, reason: str) -> FileError:
    return FileError(
        f"{str(path)!r} is not a ledger ({reason}).", "restore it from a copy, or choose another path."
    )


def read_memos(path: Path) -> dict[str, int]:
    """Return the position of the report by the hash of its secret; empty where there is no file yet.

    Raises:
        FileError: If the file cannot be read or is not a valid store of memos.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read ({error.strerror}).", "check the path.") from error
    except ValueError as error:
        raise _not_a_store(path) from error
    entries = content.get("memos") if isinstance(content, dict) and content.get("format") == _MEMO else None
    if not isinstance(entries, dict):
        raise _not_a_store(path)
    for name, report in entries.items():
        if not _DIGEST.fullmatch(name) or type(report) is not int or report < 0:
            raise _not_a_store(path)
    return entries


def write_memos(path: Path, entries: dict[str, int]) -> None:
    """Write the memos, whole or not at all."""
    # In the order of the hashes: the order of the visits would say something about them.
    content = {"format": _MEMO, "memos": dict(sorted(entries.items()))}
    with atomically(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _not_a_store(path: Path) -> FileError:
    return FileError(f"{str(path)!r} is not a store of memos.", "restore it from a copy, or choose another path.")
