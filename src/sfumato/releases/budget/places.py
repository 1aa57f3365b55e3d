"""Places that are remembered: the report of each of a user's places, found by a salted hash of its name."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SALT: Final = re.compile(r"[0-9a-f]{32}")

Report = int | tuple[float, float]
"""The position of an observable, or the latitude and longitude of noise for coordinates."""


@dataclass(frozen=True, slots=True)
class PlaceReports:
    """The reports of users' places: what was reported, and neither the place nor its anchor.

    Attributes:
        salt: 32 hexadecimal digits of the operating system's randomness, the same for all entries.
        reports: What was reported, by the hash of user, place and mechanism.
    """

    salt: str = field(default_factory=lambda: os.urandom(16).hex())
    reports: Mapping[str, Report] = field(default_factory=lambda: MappingProxyType({}))

    def key(self, user: str, place: str, mechanism: bytes) -> str:
        """Return the hash by which the report of a user's place is found.

        Args:
            user: Whose place.
            place: Its name.
            mechanism: A hash of the mechanism: under another one each place is reported anew.
        """
        parts = (mechanism, user.encode("utf-8", "surrogatepass"), place.encode("utf-8", "surrogatepass"))
        message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hashlib.blake2b(message, key=bytes.fromhex(self.salt), digest_size=32).hexdigest()

    def joined(self, reports: Mapping[str, Report]) -> PlaceReports:
        """Return these and further reports; none that is kept changes."""
        return PlaceReports(self.salt, {**reports, **self.reports})

    def as_json(self) -> dict[str, Any]:
        """Return the entry of a ledger's file, in the order of the hashes: that of visits would say something."""
        return {"salt": self.salt, "reports": dict(sorted(self.reports.items()))}

    @classmethod
    def from_json(cls, entry: Any) -> PlaceReports:
        """Return what `as_json` wrote.

        Raises:
            ValueError: If it is something else.
        """
        if entry is None:
            return cls()
        salt, reports = (entry.get("salt"), entry.get("reports")) if isinstance(entry, dict) else (None, None)
        if not isinstance(salt, str) or not _SALT.fullmatch(salt) or not isinstance(reports, dict):
            raise ValueError("its places are damaged")
        found = {key: _report(report) if _DIGEST.fullmatch(key) else None for key, report in reports.items()}
        damaged = next((key for key, report in found.items() if report is None), None)
        if damaged is not None:
            raise ValueError(f"its place {damaged!r} is damaged")
        return cls(salt, {key: report for key, report in found.items() if report is not None})


def _report(entry: Any) -> Report | None:
    """Return the report of an entry, or None if it is damaged."""
    if type(entry) is int:
        return entry if 0 <= entry < 2**31 else None
    if not isinstance(entry, list) or len(entry) != 2:
        return None
    return (entry[0], entry[1]) if all(type(x) is float and math.isfinite(x) for x in entry) else None
