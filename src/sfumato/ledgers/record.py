"""The record of charges: rows that are only added, each with a hash of all rows before it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from ..core.immutable import CompactRepr
from ..rounding import counted
from .accounts import Limit, restored_limits, stored, stored_limits

VERSION: Final = 4  # the first was a JSON file, the second had other accounts, the third one report of a place
SUM: Final = "sum"
KEY_BYTES: Final = 32
_BETWEEN: Final = "\x1f"  # no field has a control character, so that fields cannot run together
_HEX: Final = re.compile(r"[0-9a-f]{64}")

Report = int | tuple[float, float]
"""The position of an observable, or the latitude and longitude of noise for coordinates."""


def new_ledger_key() -> bytes:
    """Return a fresh key for a ledger, 32 bytes of the operating system's randomness."""
    return os.urandom(KEY_BYTES)


@dataclass(frozen=True, slots=True)
class Terms:
    """All that is fixed when a ledger is made."""

    identity: str  # 32 random hexadecimal digits
    unit: str
    rule: str  # how charges compose: "sum"
    limits: tuple[Limit, ...]
    salt: str  # 32 random hexadecimal digits, for the hashes of places
    created: int  # seconds since 1970
    key: bytes = b""  # of the hashes; empty for none

    @property
    def keyed(self) -> str:
        """A hash that identifies the key; empty without one."""
        return self.hash("key", self.identity) if self.key else ""

    @property
    def genesis(self) -> str:
        """The hash of all terms, with which the record begins."""
        fixed = (self.identity, self.unit, self.rule, stored_limits(self.limits), self.salt, str(self.created))
        return self.hash("ledger", str(VERSION), *fixed, self.keyed)

    def hash(self, *parts: str) -> str:
        """Return the BLAKE2b hash of texts, with the key if there is one, 64 hexadecimal digits."""
        message = _BETWEEN.join(parts).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(message, key=self.key, digest_size=32).hexdigest()

    @classmethod
    def of_row(cls, row: Mapping[str, Any], key: bytes) -> Terms:
        """Return the terms of a ledger's row, or raise a ValueError if it is damaged."""
        if row["id"] != 1:
            raise ValueError("its row has another number")
        if row["version"] != VERSION:
            raise ValueError(f"it is of version {row['version']}, not {VERSION}")
        if row["rule"] != SUM:
            raise ValueError(f"its rule of composition is {row['rule']!r}")
        limits = restored_limits(row["limits"])
        return cls(row["identity"], row["unit"], row["rule"], limits, row["salt"], row["created"], key)


class ExactCharge(NamedTuple):
    """A charge with an accepted name, the exact amount of all its reports, and a hexadecimal fingerprint."""

    user: str
    amount: Decimal
    reports: int
    mechanism: str


class ChargeRow(NamedTuple):
    """One row of the record."""

    number: int  # from 1
    time: int  # seconds since 1970; never before that of the row before it
    name: str  # of the user
    amount: Decimal  # of all its reports
    reports: int
    mechanism: str = ""  # the fingerprint, hexadecimal; empty if it was not given
    run: str = ""
    batch: int = 0
    places: str = ""  # a hash of the reports of places that were kept with it, and of its batch
    report: str = ""  # the report itself where it may have to be repeated

    def after(self, before: str, terms: Terms) -> str:
        """Return the hash of this row and of the one before it."""
        return terms.hash(before, *map(str, (self._asdict() | {"amount": stored(self.amount)}).values()))


class Head(NamedTuple):
    """The number and hash of the last row, which a record that was cut short or rewritten lacks."""

    number: int  # of charges
    hash: str  # of the last one, and so of all

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"

    @classmethod
    def read(cls, text: str) -> Head | None:
        """Return the head that is written in a text, or None."""
        number, _, digest = text.strip().partition(":")
        if not number.isascii() or not number.isdigit() or len(number) > 18 or not _HEX.fullmatch(digest):
            return None
        return cls(int(number), digest)


@dataclass(frozen=True, slots=True, repr=False)
class LedgerCheck(CompactRepr):
    """The result of a check.

    Attributes:
        places: The number of reports of places.
        head: The end of the record, to be stored elsewhere for the next check.
        problems: The first twenty problems, in sentences.
        notes: Remarks that are no problems.
    """

    charges: int
    users: int
    places: int
    head: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def __str__(self) -> str:
        users, places = counted(self.users, "user"), counted(self.places, "place")
        outcome = f"The record is {'sound' if self.sound else 'damaged'}"
        sentence = f"{outcome}: {counted(self.charges, 'charge')} to {users}, {places} kept."
        return "\n".join([sentence, *self.problems, *self.notes])


def kept_hash(terms: Terms, places: Iterable[tuple[str, str]], contents: str = "") -> str:
    """Return the hash of what is stored with one charge: pairs of key and report, and its batch's contents."""
    lines = sorted(f"{key}={report}" for key, report in places) + ([contents] if contents else [])
    return terms.hash("places", *lines) if lines else ""


def stored_report(report: Report) -> str:
    """Return the text of a report in the database."""
    return json.dumps(report)


def restored_report(text: str) -> Report:
    """Return the report that `stored_report` wrote, or raise a ValueError."""
    return checked_report(json.loads(text))


def checked_report(value: Any) -> Report:
    """Return a report as it was read from JSON, or raise a ValueError."""
    if type(value) is int and 0 <= value < 2**31:
        return value
    pair = isinstance(value, list) and len(value) == 2
    if pair and all(type(each) is float and math.isfinite(each) for each in value):
        return value[0], value[1]
    raise ValueError(f"{str(value)[:40]!r} is not a report")
