"""Accounts of users: exact amounts, limits per day, week or for all time, and the record of charges."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from ..core import units
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr
from ..errors import InfeasibleError, InputError, python, row_value
from ..escaping import plain
from ..rounding import plural

DAY: Final = "day"
WEEK: Final = "week"
EVER: Final = "ever"
WINDOWS: Final = (DAY, WEEK, EVER)
DAY_S: Final = 86_400
_TIMES: Final = ("s", "min", "h", DAY, WEEK, "month", "year")
_MONDAY: Final = 3  # the first of January 1970 was a Thursday
_LIMIT: Final = re.compile(r"^\s*(.*?)\s*(?:(?:per|a|each)\s+(day|week)|ever)?\s*$", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"^\s*[-+.\deE]+\s*(?:(?:/|per\s)\s*([A-Za-z]+))?\s*(.*?)\s*$", re.DOTALL)
_RENEWED: Final = re.compile(
    r"(?:/|per\b|a\b|an\b|each\b|every\b|daily\b|weekly\b|monthly\b|yearly\b)", re.IGNORECASE
)
_NO_UNITS: Final = ("fortnight", "weekend", "quarter", "decade", "night")
_UNIT: Final = re.compile(r"(?:/|per\s)\s*([A-Za-z]+)\s*$")
_WHEN: Final = {DAY: " today (UTC)", WEEK: " this week (since Monday, UTC)", EVER: ""}
_LATER: Final = {DAY: "wait until tomorrow (UTC)", WEEK: "wait until Monday", EVER: ""}
# More digits than any sum of amounts within the bounds has; a sum that would need rounding is an error.
_EXACT: Final = Context(prec=120, traps=[Inexact, InvalidOperation, Overflow])
_CEILING: Final = Context(prec=17, rounding=ROUND_CEILING)
_PLACES: Final = 50  # decimals of an amount: all floats within the bounds have fewer
_SMALLEST: Final = 1e-30
_LARGEST: Final = 1e30
_LONGEST: Final = 200  # characters
ZERO: Final = Decimal(0)
VERSION: Final = 4  # the first was a JSON file, the second had other accounts, the third one report of a place
SUM: Final = "sum"
KEY_BYTES: Final = 32
_BETWEEN: Final = "\x1f"  # no field has a control character, so that fields cannot run together
_HEAD: Final = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")
Report = int | tuple[float, float]
"""The position of an observable, or the latitude and longitude of noise for coordinates."""


def weeks_since(time_s: int) -> int:
    """Return the number of the week of a time; weeks begin on Mondays, in UTC."""
    return (time_s // DAY_S + _MONDAY) // 7


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that one user may spend in a window: ``day``, ``week`` or ``ever``."""

    amount: Decimal
    window: str

    def text(self, unit: str) -> str:
        """Return the limit as text: ``5/km per day``."""
        return show(self.amount, unit) + ("" if self.window == EVER else f" per {self.window}")


def read_limits(values: float | str | Iterable[float | str], unit: str | None) -> tuple[tuple[Limit, ...], str]:
    """Return limits such as ``5/km per day``, in the order of `WINDOWS`, and their unit, by default the text's."""
    several = isinstance(values, Iterable) and not isinstance(values, (str, bytes, bytearray, memoryview))
    texts: list[Any] = list(values) if several else [values]  # type: ignore[arg-type]
    for text in texts:
        if not isinstance(text, str | float | int | Decimal | np.number):
            raise InputError(
                f"a limit is of type {type(text).__name__}, but a text or a number is needed.",
                "write it as '5/km per day'.",
            )
    matches = [_LIMIT.match(text) if isinstance(text, str) else None for text in texts]
    parts = [
        (match[1], (match[2] or EVER).lower()) if match else (text, EVER)
        for text, match in zip(texts, matches, strict=True)
    ]
    for text, _ in parts:
        period = _AMOUNT.match(text) if isinstance(text, str) else None
        if period and (_RENEWED.match(period[2]) or (period[1] or "").lower().removesuffix("s") in _NO_UNITS):
            raise InputError(
                f"the limit {text!r} is for an unknown period: a limit is per day, per week or for all time.",
                "write '20/km per day' or '20/km per week'; '20/km' alone is for all time.",
            )
    if unit is None:
        suffixes = [match[1] for text, _ in parts if isinstance(text, str) and (match := _UNIT.search(text))]
        unit = suffixes[0] if suffixes else ""
        if units.canonical(unit.lower()) in _TIMES:
            raise InputError(
                f"the limit {texts[0]!r} counts per {unit}, as of a distance in time.",
                "for a limit that is renewed, write '5 per day', or '5/km per week'",
                python(f"pass unit={unit!r} if it is meant."),
            )
    unit = units.canonical(unit)
    limits = [Limit(amount(text, unit, "the limit", at_most=True), window) for text, window in parts]
    windows = [limit.window for limit in limits]
    if not limits or len(set(windows)) < len(windows):
        raise InputError(
            "no limit is given." if not limits else "two limits are for the same time.",
            "give one limit per day, one per week or one without a time, or several of these.",
        )
    return tuple(sorted(limits, key=lambda limit: WINDOWS.index(limit.window))), unit


def stored_limits(limits: tuple[Limit, ...]) -> str:
    """Return the text of limits in the database."""
    return json.dumps({limit.window: encode(limit.amount) for limit in limits})


def restored_limits(text: str) -> tuple[Limit, ...]:
    """Return the limits that `stored_limits` wrote, or raise a ValueError."""
    content = json.loads(text)
    if not isinstance(content, dict) or not content or not set(content) <= set(WINDOWS):
        raise ValueError(f"{text!r} are not limits")
    limits = tuple(Limit(decode(str(value)), window) for window, value in content.items())
    if stored_limits(limits) != text:
        raise ValueError(f"{text!r} are limits in another form")
    return limits


class BudgetError(InfeasibleError):
    """A report that would exceed a user's budget; nothing was charged.

    ``charge`` is the amount that the report needs, and ``left`` what may be spent now, the least over all limits.
    """

    def __init__(self, problem: str, *hints: str, user: str, charge: Fraction, left: Fraction) -> None:
        super().__init__(problem, *hints)
        self.user = user
        self.charge = charge
        self.left = left


@dataclass(frozen=True, slots=True)
class WindowBalance:
    """The amount spent in a window (``day``, ``week`` or ``ever``), and its limit."""

    window: str
    spent: Fraction
    limit: Fraction


@dataclass(frozen=True, slots=True, repr=False)
class Balance(CompactRepr):
    """One user's balance, in exact amounts.

    ``spent`` is the sum of all charges, ``left`` the amount that may be spent now, the least over all limits,
    ``reports`` the number charged, and ``windows`` the balance of each limit.
    """

    spent: Fraction
    left: Fraction
    reports: int
    windows: tuple[WindowBalance, ...]


class Account(NamedTuple):
    """The sums of one user: of all charges, and of the last day and the last week with a charge."""

    spent: Decimal = ZERO
    reports: int = 0
    day: int = 0
    day_spent: Decimal = ZERO
    week: int = 0
    week_spent: Decimal = ZERO

    def spent_within(self, window: str, time_s: int) -> Decimal:
        """Return what was charged in the window that a time falls into."""
        if window == EVER:
            return self.spent
        if window == DAY:
            return self.day_spent if self.day == time_s // DAY_S else ZERO
        return self.week_spent if self.week == weeks_since(time_s) else ZERO

    def after_charge(self, total: Decimal, reports: int, time_s: int) -> Account:
        """Return the account after a charge, which limits need not allow."""
        return Account(
            add(self.spent, total),
            self.reports + reports,
            time_s // DAY_S,
            add(self.spent_within(DAY, time_s), total),
            weeks_since(time_s),
            add(self.spent_within(WEEK, time_s), total),
        )

    def balance(self, limits: tuple[Limit, ...], time_s: int) -> Balance:
        """Return the balance at a time."""
        windows = tuple(
            WindowBalance(limit.window, Fraction(self.spent_within(limit.window, time_s)), Fraction(limit.amount))
            for limit in limits
        )
        left = min(window.limit - window.spent for window in windows)
        return Balance(Fraction(self.spent), left, self.reports, windows)

    def check(self, user: str, total: Decimal, limits: tuple[Limit, ...], unit: str, time_s: int) -> None:
        """Raise a `BudgetError` if a limit leaves less than the charge."""
        over = [limit for limit in limits if total > less(limit.amount, self.spent_within(limit.window, time_s))]
        if not over:
            return
        never = [limit for limit in over if total > limit.amount]
        limit = max(never or over, key=lambda limit: WINDOWS.index(limit.window))  # the one that bars it longest
        expense = self.spent_within(limit.window, time_s)
        rest = max(less(limit.amount, expense), ZERO)
        left = max(min(less(limit.amount, self.spent_within(limit.window, time_s)) for limit in limits), ZERO)
        count = f" in {plural(self.reports, 'report')}" if limit.window == EVER else ""
        clause = "is left" if rest == left else "of it is left"
        problem = (
            f"{row_value(repr(user), 'a user')} has spent {show(expense, unit)} of {show(limit.amount, unit)}"
            f"{_WHEN[limit.window]}{count}; "
            f"{show(rest, unit)} {clause}, but {show(total, unit)} is needed."
        )
        if never:
            problem += f" This is more than the whole limit of {limit.text(unit)}."
            ways = ["ask for fewer reports of one person at a time", "report with a smaller epsilon."]
        else:
            ways = [_LATER[limit.window], "report with a smaller epsilon." if left > 0 else "stop reporting."]
        raise BudgetError(
            problem,
            "repeat an earlier report, which spends nothing",
            *ways,
            user=user,
            charge=Fraction(total),
            left=Fraction(left),
        )


def amount(value: float | str | Decimal, unit: str, noun: str, *, at_most: bool = False) -> Decimal:
    """Return a positive number, or a text such as ``"0.1/km"``, as the decimal that it is written as.

    A float stands for the shortest decimal that it prints as: 0.1 is 1/10. A text in another unit than ``unit``
    (``"1/mi"`` in a ledger per km) is rounded at the fiftieth place: up for charges, down for limits
    (``at_most``). An amount outside 10**-30 to 10**30 is refused; ``noun`` names it in the error message.
    """
    if isinstance(value, str) and len(value) > _LONGEST:
        raise InputError(f"{noun} has {len(value):,} characters.", "write fewer digits.")
    if isinstance(value, Decimal):
        if value.is_finite() and _SMALLEST <= value <= _LARGEST:
            return _round_fraction(Fraction(value), at_most=at_most)
        value = float(value)
    try:
        size = units.parse(value, per=True, unit=unit, subject=noun)
    except OverflowError:  # an integer beyond all floats
        size = math.inf
    if not (math.isfinite(size) and size > 0):
        raise InputError(
            f"{noun} must be a positive number, but {str(value)[:40]} was given.", "use a number above 0."
        )
    if not _SMALLEST <= size <= _LARGEST:
        raise InputError(f"{noun} {value!r} cannot be counted.", "use one between 1e-30 and 1e30.")
    return _round_fraction(units.parse_exactly(value, per=True, unit=unit, subject=noun), at_most=at_most)


def decimal_above(value: float) -> Decimal:
    """Return a decimal of at most 17 digits that is not below a float."""
    return _CEILING.create_decimal(Decimal(value))


def _round_fraction(value: Fraction, *, at_most: bool) -> Decimal:
    scaled = value * 10**_PLACES
    return _EXACT.normalize(_EXACT.scaleb(Decimal(math.floor(scaled) if at_most else math.ceil(scaled)), -_PLACES))


def decimal(value: Fraction) -> Decimal:
    """Return a fraction as the decimal that it is, or raise a ValueError if that has more than fifty places."""
    rounded = _round_fraction(value, at_most=True)
    if Fraction(rounded) != value:
        raise ValueError(f"{str(value)[:40]} is not a decimal of at most {_PLACES} places")
    return rounded


def add(first: Decimal, second: Decimal) -> Decimal:
    """Return the exact sum of two amounts."""
    return _EXACT.add(first, second)


def times(value: Decimal, count: int) -> Decimal:
    """Return the exact sum of so many equal amounts."""
    return _EXACT.multiply(value, Decimal(count))


def less(first: Decimal, second: Decimal) -> Decimal:
    """Return the exact difference of two amounts."""
    return _EXACT.subtract(first, second)


def encode(value: Decimal) -> str:
    """Return the one text of an amount in the database: ``0.3``."""
    return format(_EXACT.normalize(value), "f")


def decode(text: str) -> Decimal:
    """Return the amount that `encode` wrote, or raise a ValueError."""
    try:
        value = _EXACT.create_decimal(text)
    except (InvalidOperation, Inexact) as error:
        raise ValueError(f"{text!r} is not an amount") from error
    if not value.is_finite() or value < 0 or encode(value) != text:
        raise ValueError(f"{text!r} is not an amount")
    return value


def show(value: Decimal, unit: str) -> str:
    """Return an amount as text for people, with all its digits: ``0.3/km``."""
    return f"{encode(value)}{'/' + plain(unit) if unit else ''}"


@check_arguments
def amount_text(value: Fraction, unit: str) -> str:
    """Return an exact amount, such as those of a `Balance`, as text for people: ``0.3/km``."""
    return show(_EXACT.divide(Decimal(value.numerator), Decimal(value.denominator)), unit)


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
    def key_hash(self) -> str:
        """A hash that identifies the key; empty without one."""
        return self.hash("key", self.identity) if self.key else ""

    @property
    def genesis(self) -> str:
        """The hash of all terms, with which the record begins."""
        parts = (self.identity, self.unit, self.rule, stored_limits(self.limits), self.salt, str(self.created))
        return self.hash("ledger", str(VERSION), *parts, self.key_hash)

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
        return terms.hash(before, *map(str, (self._asdict() | {"amount": encode(self.amount)}).values()))


class Head(NamedTuple):
    """The number and hash of the last row, which a record that was cut short or rewritten lacks."""

    number: int  # of charges
    hash: str  # of the last one, and so of all

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"

    @classmethod
    def read(cls, text: str) -> Head:
        """Return the head that is written in a text, or raise an `InputError`."""
        head = _HEAD.fullmatch(text.strip())
        if head is None:
            raise InputError(
                f"{text!r} is not the head of a record.", "it is a number, a colon and 64 digits 0 to f."
            )
        return cls(int(head[1]), head[2])


@dataclass(frozen=True, slots=True, repr=False)
class LedgerCheck(CompactRepr):
    """The result of a check.

    ``places`` is the number of reports of places, ``head`` the end of the record, to be stored elsewhere for the
    next check; ``problems`` are the first twenty, in sentences, and ``notes`` remarks that are no problems.
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
        users, places = plural(self.users, "user"), plural(self.places, "place")
        outcome = f"The record is {'sound' if self.sound else 'damaged'}"
        sentence = f"{outcome}: {plural(self.charges, 'charge')} to {users}, {places} kept."
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
    if pair and all(type(number) is float and math.isfinite(number) for number in value):
        return value[0], value[1]
    raise ValueError(f"{str(value)[:40]!r} is not a report")
