"""Visits of users to places, each charged, drawn and kept once: the part of a ledger that remembers."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Self

from ..core.immutable import CompactRepr
from ..errors import FileError, InputError
from .amounts import stored, times
from .charges import Charged
from .names import accepted, listed, place_of
from .places import PlaceKeys, Report, drawn_reports
from .record import Terms

if TYPE_CHECKING:
    from .books import Books

Draw = Callable[[list[int]], Sequence[Report]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NamedVisits(CompactRepr):
    """Visits, under names that a ledger accepts.

    Attributes:
        users: The user of each visit.
        keys: The hash of its place; None for none.
        mechanism: The fingerprint of the mechanism that reports it.
    """

    users: list[str]
    keys: list[str | None]
    mechanism: bytes

    @classmethod
    def of(cls, users: Collection[str], places: Collection[str | None], keys: PlaceKeys, mechanism: bytes) -> Self:
        """Return visits as a caller names them.

        Args:
            users: Whose visit it is.
            places: The place of each visit; None, an empty text or NaN for none.
            keys: The hashes of the ledger's places.
            mechanism: The mechanism's fingerprint.

        Raises:
            InputError: If not as many places are given as users, or a name is odd.
        """
        people, named = listed(users, "users"), listed(places, "places")
        if len(people) != len(named):
            raise InputError(
                f"{len(people)} users and {len(named)} places were given.", "pass one of each for every visit."
            )
        names = [accepted(user, "the user") for user in people]
        found = zip(names, map(place_of, named), strict=True)
        return cls(names, [keys.of(user, place, mechanism) if place else None for user, place in found], mechanism)

    @property
    def named(self) -> list[str]:
        """The hashes of the places of those visits that have one."""
        return [key for key in self.keys if key]

    def hash(self, terms: Terms, epsilon: Decimal) -> str:
        """Return a hash of the visits and of what each spends, by which a batch is known again."""
        found = hashlib.blake2b(self.mechanism, digest_size=32)
        for name, key in zip(self.users, self.keys, strict=True):
            found.update(f"{name}\x1f{key or ''}\x1e".encode())
        return terms.hash("visits", stored(epsilon), found.hexdigest())

    def settled(
        self,
        books: Books,
        epsilon: Decimal,
        draw: Draw,
        turn: tuple[str, int, str],
        *,
        repeatable: bool,
        move: bool,
    ) -> list[Report]:
        """Return one report for each visit, and write in the books what was charged and drawn for them.

        Args:
            books: The books, open for writing.
            epsilon: What one report spends.
            draw: From the numbers of visits to reports.
            turn: The run, the number of the batch, and the hash of its contents.
            repeatable: Whether the last report of each user is kept.
            move: Whether places that have a report are elsewhere now, and are drawn and charged once more.

        Raises:
            BudgetError: If a user has too little left.
            InputError: If something is drawn that is no report, or the batch was charged with other contents.
            FileError: If a place of a batch that was charged has no report.
        """
        run, batch, contents = turn
        paid = books.already(run, batch, contents)
        known = {} if move and not paid else books.places(self.named)
        anchors = {key: number for number, key in reversed(list(enumerate(self.keys))) if key and key not in known}
        fresh = sorted([*anchors.values(), *(number for number, key in enumerate(self.keys) if not key)])
        counts = Counter(self.users[number] for number in fresh)
        charges = [
            Charged(user, times(epsilon, count), count, self.mechanism.hex()) for user, count in counts.items()
        ]
        if paid and anchors:
            raise FileError(
                f"in {books.name!r} a place of a batch that was charged has no report.",
                "the ledger was changed: restore it from a copy, and check it.",
            )
        if not paid:
            books.check(charges)
        drawn = dict(zip(fresh, drawn_reports(draw(fresh), len(fresh)), strict=True)) if fresh else {}
        if charges and not paid:
            kept: dict[str, dict[str, Report]] = {}
            for key, number in anchors.items():
                kept.setdefault(self.users[number], {})[key] = known[key] = drawn[number]
            last = {self.users[number]: drawn[number] for number in fresh} if repeatable else {}
            books.charge(charges, kept=kept, last=last, run=run, batch=batch, contents=contents)
        return [known[key] if key else drawn[number] for number, key in enumerate(self.keys)]
