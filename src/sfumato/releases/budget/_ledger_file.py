"""The ledger on disk: one JSON file, replaced as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from ...core.atomic import atomically
from ...errors import FileError

_FORMAT: Final = "sfumato ledger"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Account:
    """What one user has spent, and in how many reports."""

    spent: Fraction
    reports: int


Accounts = dict[str, Account]


def write_accounts(path: Path, accounts: Mapping[str, Account], limit: Fraction, unit: str) -> None:
    """Write the ledger, whole or not at all; amounts are exact fractions."""
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "limit": str(limit),
        "unit": unit,
        "users": {
            name: {"spent": str(account.spent), "reports": account.reports}
            for name, account in sorted(accounts.items())
        },
    }
    with atomically(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_accounts(path: Path) -> tuple[Accounts, Fraction, str] | None:
    """Return the accounts, the limit and the unit, or None where there is no file yet.

    Raises:
        FileError: If the file cannot be read or is not a sound ledger.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read ({error.strerror}).", "check the path.") from error
    except ValueError as error:
        raise _damaged(path, "it is not JSON") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT or content.get("version") != _VERSION:
        raise _damaged(path, f"it is not version {_VERSION} of a ledger")
    try:
        accounts = {name: _account(entry) for name, entry in content["users"].items()}
        limit, unit = Fraction(content["limit"]), content["unit"]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise _damaged(path, f"an entry is missing or no number: {error}") from error
    if limit <= 0 or not isinstance(unit, str):
        raise _damaged(path, "its limit is not positive, or its unit no text")
    return accounts, limit, unit


def _account(entry: Any) -> Account:
    account = Account(Fraction(entry["spent"]), entry["reports"])
    if account.spent < 0 or type(account.reports) is not int or account.reports < 0:
        raise ValueError(f"{entry!r}")
    return account


def _damaged(path: Path, reason: str) -> FileError:
    return FileError(
        f"{str(path)!r} is not a ledger ({reason}).", "restore it from a copy, or choose another path."
    )
