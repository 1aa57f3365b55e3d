"""Charges: exact amounts, the proof of the guarantee charged for, and visits of users to places."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from math import nextafter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from ..core import Capability, CoordinatePrivacy, MetricPrivacy, Randomizer
from ..core.arrays import integer
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError, argument, python, row_value
from ..escaping import invisible_character, plain
from ..proofs import Stated, prove
from ..rounding import amount_at_most, at_most
from ..tables import without_fraction
from .accounts import ExactCharge, Report, Terms, amount, checked_report, decimal_above, encode, show, times

if TYPE_CHECKING:
    from .books import Books


ReportPrivacy = MetricPrivacy | CoordinatePrivacy
"""The guarantees of one report that a ledger can charge."""

_MOST: Final = 2**53
Draw = Callable[[list[int]], Sequence[Report]]
"""From the numbers of visits to a fresh report of each."""

LONGEST: Final = 256


class Charge(NamedTuple):
    """A charge to one user: epsilon of each report, per unit of the ledger, and the mechanism's fingerprint."""

    user: str
    epsilon: float | str | Decimal
    reports: int = 1
    mechanism: bytes = b""


def read_charges(charges: Iterable[Charge], unit: str) -> list[ExactCharge]:
    """Return charges with accepted names and exact amounts; refuse anything else with an `InputError`."""
    amounts: dict[float | str | Decimal, Decimal] = {}
    exact = []
    values: Iterable[Any] = charges
    for charge in values:
        if not isinstance(charge, Charge) or not isinstance(charge.user, str):
            raise InputError(f"{charge!r} is not a charge.", "pass Charge(user, epsilon, reports).")
        user, reports, mechanism = charge.user, charge.reports, charge.mechanism
        if type(mechanism) is not bytes:
            raise InputError(
                f"{mechanism!r} is not the fingerprint of a mechanism.", "pass bytes, or leave it out."
            )
        epsilon: Any = charge.epsilon
        finite = not isinstance(epsilon, Decimal) or epsilon.is_finite()
        if not finite or (not isinstance(epsilon, str | float | Decimal) and type(epsilon) is not int):
            raise InputError(f"{epsilon!r} is not an epsilon.", "pass a number above 0, or text such as '0.1/km'.")
        if type(reports) is not int or not 0 < reports < _MOST:
            raise InputError(f"{reports!r} is not a number of reports.", "pass an integer of at least 1.")
        if epsilon not in amounts:
            amounts[epsilon] = amount(epsilon, unit, "epsilon")
        total = amounts[epsilon] if reports == 1 else times(amounts[epsilon], reports)
        exact.append(ExactCharge(normal_name(user, "the user"), total, reports, mechanism.hex()))
    return exact


def contents_of(terms: Terms, charges: Iterable[ExactCharge]) -> str:
    """Return a hash of charges, by which a repeated batch is recognised."""
    lines = [part for user, total, reports, mark in charges for part in (user, encode(total), str(reports), mark)]
    return terms.hash("charges", *lines)


def proved_charge(mechanism: Randomizer, promise: ReportPrivacy) -> Decimal:
    """Return the charge for one report, after a proof of its guarantee on the integers or the noise's recipe.

    It is the decimal that epsilon prints as, for which the guarantee is proved; where only the float can be, the
    next decimal of 17 digits above.
    """
    charge = Decimal(repr(promise.epsilon))
    if _proved_epsilon(mechanism, promise) <= charge:
        return charge
    try:
        _proved_epsilon(mechanism, replace(promise, epsilon=nextafter(promise.epsilon, 0.0)))
    except InputError:
        return decimal_above(promise.epsilon)
    return charge


def _proved_epsilon(mechanism: Randomizer, promise: ReportPrivacy) -> float:
    """Return the epsilon that is proved, which is at most the stated one, or raise an `InputError`."""
    proof = prove(mechanism, promise)
    if not isinstance(proof, Stated):
        return proof.upper
    points = mechanism.supports(Capability.POINTS)
    hint = python("charge noise.promise.") if points else "charge the mechanism's proved epsilon."
    if proof.upper is None:
        kind = "noise for coordinates" if points else "mechanisms of this kind"
        raise InputError(f"{promise!r} is no guarantee of {kind}.", hint)
    epsilon = at_most(proof.upper, 9)
    claim = f"{promise} is claimed, but"
    if points and isinstance(promise, CoordinatePrivacy):
        slack = amount_at_most(proof.slack_m, "m")
        raise InputError(
            f"{claim} the noise's epsilon is up to {epsilon}/{promise.unit}, and its slack up to {slack}.", hint
        )
    raise InputError(f"{claim} the mechanism's epsilon is up to {epsilon}.", hint)


def rule_sentence(unit: str) -> str:
    """Return in sentences how charges per ``unit`` compose; an empty unit means pure numbers."""
    distance = f"distance in {plain(unit)}" if unit else "distance"
    local = "" if unit else " Under local differential privacy the distance of two values is 1."
    return (
        "Amounts add up: independent reports of one value are together at most "
        f"e^(sum of their amounts x {distance}) times as likely from it as from another value. The distance is "
        f"the largest in the guarantees of these reports. A slack lengthens it for its own report.{local}"
    )


def charge_sentence(promise: ReportPrivacy, charge: Decimal) -> str:
    """Return the charge for one report in a sentence, and the cost of k reports where there is a slack."""
    epsilon = show(charge, promise.unit if isinstance(promise, CoordinatePrivacy) else promise.metric.unit)
    sentence = f"Each report that is drawn is charged {epsilon}"
    if not isinstance(promise, CoordinatePrivacy) or not promise.slack_m:
        return sentence
    slack = amount_at_most(promise.slack_m, "m")
    return (
        f"{sentence}, and its slack of {slack} counts each time: k reports of one point are together "
        f"at most e^(k x {epsilon} x (distance + {slack})) times as likely from there as from another point"
    )


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

    def bits(self, message: bytes) -> int:
        """Return 64 bits, the same for the same message; independent of all hashes of places."""
        digest = hashlib.blake2b(message, key=self._key, digest_size=8, person=b"bits")
        return int.from_bytes(digest.digest(), "big")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NamedVisits(CompactRepr):
    """Visits under accepted names of users and hashes of places; None where a visit has no place."""

    users: list[str]
    keys: list[str | None]
    mechanism: bytes

    @classmethod
    def of(cls, users: Collection[str], places: Collection[str | None], keys: PlaceKeys, mechanism: bytes) -> Self:
        """Return visits as a caller names them; refuse lists of different lengths."""
        people, labels = as_list(users, "users"), as_list(places, "places")
        if len(people) != len(labels):
            raise InputError(
                f"{len(people)} users and {len(labels)} places were given.", "pass one of each for every visit."
            )
        names = [normal_name(user, "the user") for user in people]
        pairs = zip(names, map(place_of, labels), strict=True)
        return cls(names, [keys.of(user, place, mechanism) if place else None for user, place in pairs], mechanism)

    @property
    def place_keys(self) -> list[str]:
        """The hashes of the places, of visits that have one."""
        return [key for key in self.keys if key]

    def hash(self, terms: Terms, epsilon: Decimal) -> str:
        """Return a hash of the visits and the charge for each, by which a batch is recognised."""
        digest = hashlib.blake2b(self.mechanism, digest_size=32)
        for name, key in zip(self.users, self.keys, strict=True):
            digest.update(f"{name}\x1f{key or ''}\x1e".encode())
        return terms.hash("visits", encode(epsilon), digest.hexdigest())

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
        """Return one report for each visit, and enter charges and reports in open books; see `Ledger.reports`."""
        run, batch, contents = turn
        is_paid = books.already(run, batch, contents)
        known = {} if move and not is_paid else books.places(self.place_keys)
        anchors = {key: number for number, key in reversed(list(enumerate(self.keys))) if key and key not in known}
        fresh = sorted([*anchors.values(), *(number for number, key in enumerate(self.keys) if not key)])
        counts = Counter(self.users[number] for number in fresh)
        charges = [
            ExactCharge(user, times(epsilon, count), count, self.mechanism.hex()) for user, count in counts.items()
        ]
        if is_paid and anchors:
            raise FileError(
                f"in {books.name!r} a place of a batch that was charged has no report.",
                "the ledger was changed: restore it from a copy, and check it.",
            )
        if not is_paid:
            books.check(charges)
        draws = dict(zip(fresh, drawn_reports(draw(fresh), len(fresh)), strict=True)) if fresh else {}
        if charges and not is_paid:
            new: dict[str, dict[str, Report]] = {}
            for key, number in anchors.items():
                new.setdefault(self.users[number], {})[key] = known[key] = draws[number]
            last = {self.users[number]: draws[number] for number in fresh} if repeatable else {}
            books.charge(charges, anchors=new, last=last, run=run, batch=batch, contents=contents)
        return [known[key] if key else draws[number] for number, key in enumerate(self.keys)]


def drawn_reports(values: Any, visits: int) -> list[Report]:
    """Return reports as a caller's function drew them; refuse what cannot be stored."""
    if not isinstance(values, Iterable):
        raise InputError(f"what draw= returned is of type {type(values).__name__}.", "return a list of reports.")
    reports = []
    for value in values:
        position = value if type(value) is int else integer(value)
        try:
            reports.append(checked_report(list(value) if isinstance(value, tuple) else position))
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


def normal_name(name: object, noun: str) -> str:
    """Return a name in normal form C, ``1`` for ``1.0``; refuse it empty, over 256 characters or partly unseen."""
    if not isinstance(name, str):
        kind = type(name).__name__
        raise InputError(f"the name of {noun} is of type {kind}, but a text is needed.", "convert it with str().")
    name = str.__str__(name)  # of numpy's texts, or of an enumeration, the text alone
    if name.isascii() and name.isprintable() and 0 < len(name) <= LONGEST and name.strip() == name:
        return without_fraction(name) if name.endswith("0") else name
    if not name.strip():
        raise InputError(f"the name of {noun} is empty.", "pass a text that is not empty.")
    composed = unicodedata.normalize("NFC", name)
    size = max(len(name), len(composed))
    if size > LONGEST:
        raise InputError(
            f"the name of {noun} has {size:,} characters{row_value(f' ({name[:20]!r}...)', '')}.",
            f"use at most {LONGEST}; a hash of it would do.",
        )
    subject = f"the name of {noun}{row_value(f' {name!r}', '')}"
    if name.strip() != name:
        raise InputError(f"{subject} begins or ends with a blank.", "strip it first.")
    if reason := invisible_character(name):
        raise InputError(f"{subject} has {reason}.", "remove it: two names that look alike would be two.")
    return composed


def place_of(place: object) -> str:
    """Return the accepted name of a visit's place; empty for None, an empty text, NaN, NA and NaT."""
    if isinstance(place, str):
        return normal_name(place, "the place") if place else ""
    missing = place is None or type(place).__name__ in ("NAType", "NaTType")
    if missing or (isinstance(place, float | np.floating) and bool(np.isnan(place))):
        return ""
    return normal_name(place, "the place")


def as_list(values: Any, name: str) -> list[Any]:
    """Return the values of a list, an array or a column; refuse a single text, which is also a sequence."""
    several = hasattr(values, "__len__") and hasattr(values, "__iter__") and getattr(values, "ndim", 1) == 1
    if not several or isinstance(values, str | bytes | bytearray | Mapping | Set):
        raise InputError(
            f"{argument(name)} is of type {type(values).__name__}, but a list is needed.",
            "pass a list of one value for each visit.",
        )
    return list(values)
