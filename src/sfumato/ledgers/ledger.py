"""Ledgers of privacy budgets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from ..core.arguments import check_arguments
from ..core.arrays import integer
from ..core.immutable import NotebookRepr
from ..errors import FileError, InputError, MissingExtraError
from ..rounding import plural
from .accounts import (
    EVER,
    ZERO,
    Balance,
    BudgetError,
    ExactCharge,
    Head,
    LedgerCheck,
    Limit,
    Report,
    add,
    amount,
    checked_report,
    decimal,
    read_limits,
)
from .charges import (
    Charge,
    Draw,
    NamedVisits,
    PlaceKeys,
    contents_of,
    drawn_reports,
    normal_name,
    read_charges,
    rule_sentence,
)

if TYPE_CHECKING:
    from .books import Books
    from .budgets import LedgerBudgets


_LONGEST: Final = 60  # characters of an address
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FRACTION: Final = re.compile(r"[0-9]{1,200}(?:/[0-9]{1,200})?")
_MOST: Final = 1 << 53  # reports of one user, more than a person makes and less than databases count
_SALT: Final = re.compile(r"[0-9a-f]{32}")


class Ledger(NotebookRepr):
    """A database of what each user has spent, which refuses charges above common limits.

    Epsilons of reports about one secret with fresh noise add up, per unit of a metric; for guarantees of different
    metrics, per unit of the largest of their distances. Sums are exact: a float is the decimal that it prints as.
    Limits are for all time, for each day or for each week, in UTC, so two days' limits may be spent around one
    midnight. Charge before drawing: a crash in between then costs budget, not privacy.

    The database is a SQLite file, or PostgreSQL for several hosts. Make a ledger once with `create`; opening one
    that does not exist is an error. Every charge is a row of a record that only grows, with a hash of all rows
    before it; `check` verifies it. The record holds users' names, amounts and times, and for remembered places the
    report and a salted hash of user and place: anyone who has the ledger (and its key, if it has one) can test
    whether a user has reported from a given place. Protect it like the true data. A pickle of a ledger has no
    charges, but its address, password included, and its key. Raises `InputError` if the address is not valid, or
    the key is not the ledger's. Raises `FileError` if there is no ledger, or it cannot be read. Raises
    `MissingExtraError` if SQLAlchemy is not installed (extra ``ledger``). The address is a path of a SQLite file,
    ``sqlite:///budget.db``, or ``postgresql://user@host/name``; ``key`` is the one that the ledger was made with,
    from `new_ledger_key`.

    Example:
        >>> import tempfile
        >>> from sfumato.ledgers import Ledger
        >>> ledger = Ledger.create(tempfile.mkdtemp() + "/ledger.db", "0.3/km")
        >>> for report in range(3):
        ...     balance = ledger.charge("ada", "0.1/km")
        >>> balance.left, ledger.balance("bob").left
        (Fraction(0, 1), Fraction(3, 10))
        >>> ledger.charge("ada", 0.1)
        Traceback (most recent call last):
        ...
        sfumato.ledgers.accounts.BudgetError: a user has spent 0.3/km of 0.3/km in 3 reports; ...
    """

    __slots__ = ("__weakref__", "_address", "_database", "_keys", "_terms")

    def __init__(self, address: str | os.PathLike[str], *, key: bytes | None = None) -> None:
        check_installed(address)
        from .database import database_at
        from .verification import read_terms

        self._address = os.fspath(address)
        self._database = database_at(address)
        with self._database.reading() as connection:
            self._terms = read_terms(connection, self._database.name, key or b"")
        self._keys = PlaceKeys(self._terms.salt, self._terms.key)

    @classmethod
    def create(
        cls,
        address: str | os.PathLike[str],
        limit: float | str | Sequence[float | str],
        *,
        unit: str | None = None,
        key: bytes | None = None,
    ) -> Self:
        """Make a new ledger, and open it.

        Nothing may exist at the address. The ``limit`` is the most that each user may spend: ``"2/km"`` for all
        time, ``"5/km per day"``, ``"20/km per week"``, a number, or several of these. The unit is by default that
        of the limit's text, or none. The ``key`` has 32 bytes from `new_ledger_key`, to be stored elsewhere;
        without them a record cannot be forged, nor a place tested. Raises `InputError` if a limit is not positive,
        or the key does not have 32 bytes. Raises `FileError` if something exists there, or it cannot be written.
        Raises `MissingExtraError` if SQLAlchemy is not installed.
        """
        check_installed(address)
        from .books import make_ledger

        limits, unit = read_limits(limit, unit)
        make_ledger(address, limits, unit, key=key)
        return cls(address, key=key)

    @property
    def address(self) -> str:
        """The address, without its password."""
        return self._database.name

    @property
    def unit(self) -> str:
        """The unit of the amounts; empty for pure numbers."""
        return self._terms.unit

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits of each user, as text: ``("5/km per day", "100/km")``."""
        return tuple(limit.text(self.unit) for limit in self._terms.limits)

    @property
    def rule(self) -> str:
        """The rule of composition, in sentences."""
        return rule_sentence(self.unit)

    @check_arguments
    def charge(self, user: str, epsilon: float | str, reports: int = 1) -> Balance:
        """Charge a user for reports of an epsilon each, per unit of the metric, and return the balance, or refuse.

        The charge is on disk by then. Raises `BudgetError` if too little is left; then nothing is charged. Raises
        `FileError` if the ledger cannot be written; then nothing is charged.
        """
        (charged,) = charges = read_charges([Charge(user, epsilon, int(reports))], self.unit)
        with self._books() as books:
            books.charge(charges)
        return books.accounts[charged.user].balance(self._terms.limits, books.time)

    @check_arguments
    def charge_many(self, charges: Iterable[Charge], *, run: str = "", batch: int = 0) -> bool:
        """Charge many users in one transaction, all or none; return whether they were charged now, not before.

        A run's key is a text that no other run has. With one, a batch of this number that was charged before is
        not charged again, so an interrupted run can be resumed from any batch. Two processes must not work on one
        run: both would draw what was charged once. Raises `BudgetError` if a user has too little left. Raises
        `InputError` if the batch was charged before with other contents. Raises `FileError` if the ledger cannot
        be written.
        """
        exact = read_charges(charges, self.unit)
        run, batch = _turn(run, batch)
        contents = contents_of(self._terms, exact) if run else ""
        with self._books() as books:
            if books.already(run, batch, contents):
                return False
            books.charge(exact, run=run, batch=batch, contents=contents)
        return True

    @check_arguments
    def afford(self, charges: Iterable[Charge]) -> None:
        """Raise a `BudgetError` if the charges do not fit now, and charge nothing."""
        exact = read_charges(charges, self.unit)
        with self._books() as books:
            books.check(exact)

    @check_arguments
    def reports(
        self,
        users: Collection[str],
        places: Collection[str | None],
        epsilon: float | str | Decimal,
        draw: Draw,
        mechanism: bytes,
        *,
        run: str = "",
        batch: int = 0,
        repeatable: bool = False,
        move: bool = False,
    ) -> list[Report]:
        """Return one report for each visit; visits of a user to one place share a report, charged and drawn once.

        The report of a place is drawn for the first visit to it, ever or among these (its anchor), and stored. A
        visit without a place is charged and drawn each time. Either everything is charged, drawn and stored, or
        nothing.

        ``users`` and ``places`` name those of each visit; None, an empty text or NaN stand for no place.
        ``epsilon`` is that of one report, per unit of the metric. ``draw`` leads from the numbers of visits to
        reports: positions of observables, or pairs of latitude and longitude. Under another fingerprint
        ``mechanism`` a place gets a new report. For ``run`` and ``batch`` see `charge_many`. ``repeatable`` stores
        the last of these reports of each user, for `last_report`. With ``move`` the places have moved (`Blur`).
        Raises `BudgetError` if a user has too little left; then no one is charged. Raises `InputError` if users
        and places differ in number, a name is not accepted, or ``draw`` returns something else than reports; then
        no one is charged. Raises `FileError` if the ledger cannot be read or written; then no report was given
        out.
        """
        from .books import known_places

        cost = amount(epsilon, self.unit, "epsilon")
        visits = NamedVisits.of(users, places, self._keys, mechanism)
        if visits.keys and None not in visits.keys and not move:  # repeating takes no turn as the writer
            with self._database.reading() as connection:
                known = known_places(connection, visits.place_keys)
            if known.keys() >= set(visits.keys):
                return [known[key] for key in visits.place_keys]
        turn = *_turn(run, batch), visits.hash(self._terms, cost) if run else ""
        with self._books() as books:
            return visits.settle(books, cost, draw, turn, repeatable=repeatable, move=move)

    @check_arguments
    def remembers(self, users: Collection[str], places: Collection[str | None], mechanism: bytes) -> list[bool]:
        """Return for each visit whether its place has a report, which costs nothing more; see `reports`."""
        from .books import known_places

        visits = NamedVisits.of(users, places, self._keys, mechanism)
        with self._database.reading() as connection:
            known = known_places(connection, visits.place_keys)
        return [key in known for key in visits.keys]

    @check_arguments
    def last_report(self, user: str, mechanism: bytes) -> Report | None:
        """Return a user's last stored report by a mechanism (fingerprint), or None; `FileError` if damaged."""
        from .books import kept_report

        name = normal_name(user, "the user")
        with self._database.reading() as connection:
            return kept_report(connection, name, mechanism.hex())

    @check_arguments
    def remember(
        self, user: str, place: str, draw: Callable[[Report | None, list[Report]], Report], mechanism: bytes
    ) -> Report:
        """Return the report of a user's place, stored at no charge: for what no epsilon describes, such as zones.

        ``draw`` leads from the place's report (None for none) and `remembered` to the report to return. It is
        stored if it is another one than the place's. All this is one transaction, and an error in ``draw`` leaves
        nothing behind. Raises `InputError` if a name is not accepted, or ``draw`` returns something else than a
        report. Raises `FileError` if the ledger cannot be read or written.
        """
        name, mark = normal_name(user, "the user"), mechanism.hex()
        key = self._keys.of(name, normal_name(place, "the place"), mechanism)
        with self._books() as books:
            before = books.places([key]).get(key)
            (report,) = drawn_reports([draw(before, books.reports_by(name, mark))], 1)
            if report != before:
                books.charge(
                    [ExactCharge(name, ZERO, 0, mark)], anchors={name: {key: report}}, last={name: report}
                )
        return report

    @check_arguments
    def remembered(self, user: str, mechanism: bytes) -> list[Report]:
        """Return a user's stored reports by a mechanism (fingerprint), oldest first; `FileError` if damaged."""
        from .books import kept_reports

        name = normal_name(user, "the user")
        with self._database.reading() as connection:
            return kept_reports(connection, name, mechanism.hex())

    def keyed_bits(self, message: bytes) -> int:
        """Return 64 bits that a message and the ledger's secret determine, as if drawn at random and stored."""
        return self._keys.bits(message)

    @check_arguments
    def balance(self, user: str) -> Balance:
        """Return a user's balance; a user who was never charged has the whole limit."""
        from .books import accounts_of, head_row

        name = normal_name(user, "the user")
        with self._database.reading() as connection:
            head_time = head_row(connection).time
            account = accounts_of(connection, [name])[name]
            return account.balance(self._terms.limits, max(head_time, self._database.now(connection)))

    @check_arguments
    def budgets(self, *, days: int = 30, identities: bool = False) -> LedgerBudgets:
        """Return the spending of the last days, the users near their limit, and who would be refused.

        Users have pseudonyms, except with ``identities``. Raises `FileError` if the ledger cannot be read.
        """
        from .budgets import read_budgets

        with self._database.reading() as connection:
            now = self._database.now(connection)
            return read_budgets(connection, self._terms, now, self.address, days=days, identities=identities)

    @property
    def users(self) -> tuple[str, ...]:
        """The users who were ever charged, in alphabetical order."""
        from .books import names_of_users

        with self._database.reading() as connection:
            return tuple(sorted(names_of_users(connection)))

    @property
    def head(self) -> str:
        """The end of the record: its number and hash, to be stored elsewhere, for `check`."""
        from .books import head_row

        with self._database.reading() as connection:
            row = head_row(connection)
            return str(Head(row.number, row.hash))

    @check_arguments
    def check(self, *, head: str | None = None) -> LedgerCheck:
        """Verify the whole record, the sums of all users and the reports of all places.

        The record must contain ``head``, an earlier `head`. Without one, the check cannot notice that an old copy
        took the ledger's place, nor, without a key, that the whole record was rewritten. Raises `InputError` if
        the head is not valid. Raises `FileError` if the ledger cannot be read.
        """
        from .verification import verify

        known = None if head is None else Head.read(head)
        with self._database.reading() as connection:
            faults = self._database.faults(connection)
            return verify(connection, self._terms, self._database.now(connection), known, faults)

    def close(self) -> None:
        """Close connections that are not in use; the ledger opens new ones when it needs them."""
        self._database.close()

    @contextmanager
    def _books(self) -> Iterator[Books]:
        """Open the books for writing; charges are written at the end, and a refused request is counted."""
        from .books import Books, count_refusal

        try:
            with self._database.writing() as connection:
                books = Books(connection, self._terms, self._database.now(connection), self.address)
                yield books
                books.write()
        except BudgetError:
            with suppress(FileError), self._database.writing() as connection:
                count_refusal(connection, self._database.now(connection))
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return partial(Ledger, key=self._terms.key or None), (self._address,)

    def __repr__(self) -> str:
        from .books import count_users

        try:
            with self._database.reading() as connection:
                users = f"{plural(count_users(connection), 'user')} so far"
        except FileError:
            users = "which cannot be read"
        where = self.address if len(self.address) <= _LONGEST else f"...{self.address[3 - _LONGEST :]}"
        return f"Ledger of {' and '.join(self.limits)} per user, {users}, in {where!r}"


def check_installed(address: str | os.PathLike[str]) -> None:
    """Raise a `MissingExtraError` if SQLAlchemy is not installed, which every ledger needs."""
    if find_spec("sqlalchemy") is None:
        extra = "postgres" if os.fspath(address).startswith("postgres") else "ledger"
        raise MissingExtraError("a ledger", extra)


def _turn(run: str, batch: int) -> tuple[str, int]:
    """Return the accepted name of a run, empty for none, and the number of its batch."""
    number = integer(batch)
    if number is None or not 0 <= number < 2**53:
        raise InputError(f"{batch!r} is not the number of a batch.", "count batches from 0.")
    return normal_name(run, "the run") if run else "", number


def migrate(source: str | os.PathLike[str], address: str | os.PathLike[str]) -> Ledger:
    """Make a new ledger from a JSON file of the first version, which is not changed, and open it.

    The limit has no window, as before. The sum of each user becomes their first charge. Places keep their reports
    for mechanisms with the same fingerprint. Earlier versions computed other fingerprints; their places are drawn
    and charged once more. Two names with the same Unicode normal form become one user, with both sums. Nothing may
    exist at the new address, and no program may charge in the source any more. Raises `FileError` if the source is
    not a sound ledger, or the new one cannot be made. Raises `InputError` if a user's name is not accepted any
    more. Raises `MissingExtraError` if SQLAlchemy is not installed.
    """
    check_installed(address)
    from .books import make_ledger

    limit, unit, accounts, salt, places = _read(Path(source))

    def fill(books: Books) -> None:
        sums = [ExactCharge(user, total, reports, "") for user, (total, reports) in accounts.items() if reports]
        books.charge(sums, anchors={sums[0].user: places} if sums else {})

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
            total, reports = _decimal(entry["spent"]), entry["reports"]
            if type(reports) is not int or reports < 0 or (reports > 0) != (total > 0):
                raise ValueError(f"{user!r} has {reports!r} reports")
            name = normal_name(user, "the user")
            before = accounts.get(name, (ZERO, 0))
            accounts[name] = add(before[0], total), before[1] + reports
            if accounts[name][1] >= _MOST:
                raise ValueError(f"{user!r} has {accounts[name][1]:,} reports")
        places = content.get("places") or {"salt": None, "reports": {}}
        salt, anchors = places["salt"], {key: _report(key, value) for key, value in places["reports"].items()}
        if anchors and not (accounts and isinstance(salt, str) and _SALT.fullmatch(salt)):
            raise ValueError("its places have no salt, or no user")
    except (KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise _not_a_ledger(path, f"an entry is missing or not valid: {error}") from error
    except InputError:
        raise
    except ValueError as error:
        raise _not_a_ledger(path, str(error)) from error
    if limit <= 0 or not isinstance(unit, str):
        raise _not_a_ledger(path, "its limit is not positive, or its unit is not a text")
    over = next((name for name, (total, _) in accounts.items() if total > limit), None)
    if over is not None:
        raise _not_a_ledger(path, f"{over!r} has spent more than the limit")
    return limit, unit, accounts, salt, anchors


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
