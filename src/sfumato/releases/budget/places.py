"""Places that are remembered: the report of each of a user's places, found by a salted hash of its name."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

Report = int | tuple[float, float]
"""The position of an observable, or the latitude and longitude of noise for coordinates."""


class PlaceKeys:
    """The hashes by which the reports of users' places are found: salted, and keyed if the ledger has a key.

    Args:
        salt: Hexadecimal digits of the ledger's own.
        key: The ledger's key; empty for none.
    """

    __slots__ = ("_key",)

    def __init__(self, salt: str, key: bytes) -> None:
        plain = bytes.fromhex(salt)
        self._key = hashlib.blake2b(plain, key=key, digest_size=32).digest() if key else plain

    def of(self, user: str, place: str, mechanism: bytes) -> str:
        """Return the hash of a user's place.

        Args:
            user: Whose place.
            place: Its name.
            mechanism: The mechanism's fingerprint: under another one each place is reported anew.
        """
        parts = (mechanism, user.encode(), place.encode())
        message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hashlib.blake2b(message, key=self._key, digest_size=32).hexdigest()


def stored_report(report: Report) -> str:
    """Return the text of a report in the database."""
    return json.dumps(report)


def restored_report(text: str) -> Report:
    """Return the report that `stored_report` wrote.

    Raises:
        ValueError: If it is another text.
    """
    return checked_report(json.loads(text))


def checked_report(found: Any) -> Report:
    """Return a report as it was read from JSON.

    Raises:
        ValueError: If it is none.
    """
    if type(found) is int and 0 <= found < 2**31:
        return found
    pair = isinstance(found, list) and len(found) == 2
    if pair and all(type(each) is float and math.isfinite(each) for each in found):
        return found[0], found[1]
    raise ValueError(f"{str(found)[:40]!r} is not a report")
