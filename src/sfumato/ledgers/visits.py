"""Visits of users to places: names, salted hashes of places, and one report per place."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from ..core.arrays import integer
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError
from .amounts import stored, times
from .charges import ExactCharge
from .names import accepted, listed, place_of
from .record import Report, Terms, checked_report

if TYPE_CHECKING:
    from .books import Books

Draw = Callable[[list[int]], Sequence[Report]]
"""From the numbers of visits to a fresh report of each."""


class PlaceKeys:
    """Hashes under which reports of places are stored: salted, and keyed if the ledger has a key."""

    __slots__ = ("_key",)

    def __init__(self, salt: str, key: bytes) -> None:
        plain = bytes.fromhex(salt)
        self._key = hashlib.blake2b(plain, key=key, digest_size=32).digest() if key else plain

    def of(self, user: str, place: str, mechanism: bytes) -> str:
        """Return the hash of a user's place, which differs between mechanisms."""
        parts = (mechanism, user.encode(), place.encode())
        message = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hashlib.blake2b(message, key=self._key, digest_size=32).hexdigest()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NamedVisits(CompactRepr):
    """Visits under accepted names of users and hashes of places; None where a visit has no place."""

    users: list[str]
    keys: list[str | None]
    mechanism: bytes

    @classmethod
    def of(cls, users: Collection[str], places: Collection[str | None], keys: PlaceKeys, mechanism: bytes) -> Self:
        """Return visits as a caller names them; refuse lists of different lengths."""
        people, named = listed(users, "users"), listed(places, "places")
        if len(people) != len(named):
            raise InputError(
                f"{len(people)} users and {len(named)} places were given.", "pass one of each for every visit."
            )
        names = [accepted(user, "the user") for user in people]
        pairs = zip(names, map(place_of, named), strict=True)
        return cls(names, [keys.of(user, place, mechanism) if place else None for user, place in pairs], mechanism)

    @property
    def named(self) -> list[str]:
        """The hashes of the places, of visits that have one."""
        return [key for key in self.keys if key]

    def hash(self, terms: Terms, epsilon: Decimal) -> str:
        """Return a hash of the visits and the charge for each, by which a batch is recognised."""
        digest = hashlib.blake2b(self.mechanism, digest_size=32)
        for name, key in zip(self.users, self.keys, strict=True):
            digest.update(f"{name}\x1f{key or ''}\x1e".encode())
        return terms.hash("visits", stored(epsilon), digest.hexdigest())

    def settle(
        self,
        books: Books,
        epsilon: Decimal,
        draw: Draw,
        turn: tuple[str, int, str],
        *,
        repeatable: bool,
        move: bool,
    ) -> list[Report]:
        """Return one report for each visit, and enter charges and new reports in the open books.

        ``epsilon`` is charged per report that ``draw`` makes; ``turn`` is the run, the number of the batch and the
        hash of its contents. ``repeatable`` stores the last report of each user. ``move`` draws and charges places
        once more.
        """
        run, batch, contents = turn
        paid = books.already(run, batch, contents)
        known = {} if move and not paid else books.places(self.named)
        anchors = {key: number for number, key in reversed(list(enumerate(self.keys))) if key and key not in known}
        fresh = sorted([*anchors.values(), *(number for number, key in enumerate(self.keys) if not key)])
        counts = Counter(self.users[number] for number in fresh)
        charges = [
            ExactCharge(user, times(epsilon, count), count, self.mechanism.hex()) for user, count in counts.items()
        ]
        if paid and anchors:
            raise FileError(
                f"in {books.name!r} a place of a batch that was charged has no report.",
                "the ledger was changed: restore it from a copy, and check it.",
            )
        if not paid:
            books.check(charges)
        drawn = dict(zip(fresh, _drawn_reports(draw(fresh), len(fresh)), strict=True)) if fresh else {}
        if charges and not paid:
            kept: dict[str, dict[str, Report]] = {}
            for key, number in anchors.items():
                kept.setdefault(self.users[number], {})[key] = known[key] = drawn[number]
            last = {self.users[number]: drawn[number] for number in fresh} if repeatable else {}
            books.charge(charges, kept=kept, last=last, run=run, batch=batch, contents=contents)
        return [known[key] if key else drawn[number] for number, key in enumerate(self.keys)]


def _drawn_reports(values: Any, visits: int) -> list[Report]:
    """Return reports as a caller's function drew them; refuse what cannot be stored."""
    if not isinstance(values, Iterable):
        raise InputError(f"what draw= returned is of type {type(values).__name__}.", "return a list of reports.")
    reports = []
    for each in values:
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
