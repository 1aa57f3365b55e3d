"""Places that are remembered: the report of each of a user's places, found by a salted hash of its name."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from typing import Any

from ..core.arrays import integer
from ..errors import InputError

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


def drawn_reports(found: Any, visits: int) -> list[Report]:
    """Return reports as they were drawn by a caller's function, or refuse what could not be kept.

    Args:
        found: Positions of observables, or latitudes and longitudes in pairs.
        visits: How many were asked for.

    Raises:
        InputError: If it is something else, or not as many.
    """
    if not isinstance(found, Iterable):
        raise InputError(f"what draw= returned is of type {type(found).__name__}.", "return a list of reports.")
    reports = []
    for each in found:
        position = each if type(each) is int else integer(each)
        try:
            reports.append(checked_report(list(each) if isinstance(each, tuple) else position))
        except ValueError as error:
            raise InputError(
                f"draw= was to return reports, but {error}.",
                "return positions of observables, or pairs of degrees.",
            ) from None
    if len(reports) != visits:
        raise InputError(
            f"draw= returned {len(reports)} reports for {visits} visits.", "return one for each, in their order."
        )
    return reports
