"""Ledgers of the first version, JSON files: their sums and places become a new ledger."""

from __future__ import annotations

import json
import os
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.arguments import checked
from ..errors import FileError, InputError
from .accounts import EVER, Limit
from .amounts import ZERO, added, decimal
from .charges import ExactCharge
from .ledger import Ledger, check_installed
from .names import accepted
from .record import Report, checked_report

if TYPE_CHECKING:
    from .books import Books

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FRACTION: Final = re.compile(r"[0-9]{1,200}(?:/[0-9]{1,200})?")
_MOST: Final = 1 << 53  # reports of one user, more than anybody makes and less than databases count
_SALT: Final = re.compile(r"[0-9a-f]{32}")


@checked
def migrate(source: str | os.PathLike[str], address: str | os.PathLike[str]) -> Ledger:
    """Make a new ledger from a JSON ledger of the first version, and open it.

    The limit has no window, as before. The sum of each user becomes their first charge. Places keep their reports
    for mechanisms with the same fingerprint. Earlier versions computed other fingerprints; their places are drawn
    and charged once more. Two names with the same Unicode normal form become one user, with both sums.

    Args:
        source: The JSON file, which is not changed. No program may charge in it any more.
        address: The address of the new ledger; nothing may exist there.

    Raises:
        FileError: If the source is not a sound ledger, or the new one cannot be made.
        InputError: If a user's name is not accepted any more.
        MissingExtraError: If SQLAlchemy is not installed.
    """
    check_installed(address)
    from .books import make_ledger

    limit, unit, accounts, salt, places = _read(Path(source))

    def fill(books: Books) -> None:
        sums = [ExactCharge(user, spent, reports, "") for user, (spent, reports) in accounts.items() if reports]
        books.charge(sums, kept={sums[0].user: places} if sums else None)

    make_ledger(address, (Limit(limit, EVER),), unit, salt=salt, fill=fill)
    return Ledger(address)


def _read(path: Path) -> tuple[Decimal, str, dict[str, tuple[Decimal, int]], str | None, dict[str, Report]]:
    """Return the limit, the unit, what each user has spent in how many reports, the salt and the places."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read ({error.strerror}).", "check the path.") from error
    except (ValueError, RecursionError) as error:
        raise _not_a_ledger(path, "it is not JSON") from error
    if not isinstance(content, dict) or (content.get("format"), content.get("version")) != ("sfumato ledger", 1):
        raise _not_a_ledger(path, "it is not version 1 of a ledger")
    try:
        limit, unit = _decimal(content["limit"]), content["unit"]
        accounts: dict[str, tuple[Decimal, int]] = {}
        for user, entry in content["users"].items():
            spent, reports = _decimal(entry["spent"]), entry["reports"]
            if type(reports) is not int or reports < 0 or (reports > 0) != (spent > 0):
                raise ValueError(f"{user!r} has {reports!r} reports")
            name = accepted(user, "the user")
            before = accounts.get(name, (ZERO, 0))
            accounts[name] = added(before[0], spent), before[1] + reports
            if accounts[name][1] >= _MOST:
                raise ValueError(f"{user!r} has {accounts[name][1]:,} reports")
        places = content.get("places") or {"salt": None, "reports": {}}
        salt, kept = places["salt"], {key: _report(key, each) for key, each in places["reports"].items()}
        if kept and not (accounts and isinstance(salt, str) and _SALT.fullmatch(salt)):
            raise ValueError("its places have no salt, or no user")
    except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise _not_a_ledger(path, f"an entry is missing or not valid: {error}") from error
    except InputError:
        raise
    except ValueError as error:
        raise _not_a_ledger(path, str(error)) from error
    if limit <= 0 or not isinstance(unit, str):
        raise _not_a_ledger(path, "its limit is not positive, or its unit is not a text")
    over = next((name for name, (spent, _) in accounts.items() if spent > limit), None)
    if over is not None:
        raise _not_a_ledger(path, f"{over!r} has spent more than the limit")
    return limit, unit, accounts, salt, kept


def _decimal(text: Any) -> Decimal:
    """Return a fraction such as ``3/2``, which is a decimal because all amounts were."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ValueError(f"{str(text)[:40]!r} is not an amount")
    return decimal(Fraction(text))


def _report(key: str, entry: Any) -> Report:
    if not _DIGEST.fullmatch(key):
        raise ValueError(f"its place {key!r} is damaged")
    try:
        return checked_report(entry)
    except ValueError as error:
        raise ValueError(f"its place {key!r} is damaged") from error


def _not_a_ledger(path: Path, reason: str) -> FileError:
    return FileError(
        f"{str(path)!r} is not a ledger of the first version ({reason}).",
        "restore it from a copy, or check the path.",
    )
