"""Checks of a ledger: of its terms and ends when it is opened, and of its whole record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Connection, select

from ..errors import FileError, InputError, argument
from ..escaping import plain
from .accounts import Account, ChargeRow, Head, LedgerCheck, Terms, decode, kept_hash, restored_report, show
from .books import ACCOUNTS, BATCHES, CHARGES, LEDGER, PLACES, account_of, has_types

_MOST: Final = 20  # problems that are listed
_STREAM: Final = {"yield_per": 10_000}
_STRAY: Final = "A place was kept with charge {}, which is not in the record."
_SOON_S: Final = 60
_CONTENTS: Final = select(BATCHES.c.run, BATCHES.c.batch, BATCHES.c.contents)


class _Problems(list[str]):
    """The first twenty problems."""

    def add(self, problem: str) -> None:
        if len(self) < _MOST:
            self.append(problem)


def verify(connection: Connection, terms: Terms, now: int, known: Head | None, faults: list[str]) -> LedgerCheck:
    """Return the result of a check of a whole ledger, whose record must contain the head ``known``, if any."""
    problems = _Problems(faults[:_MOST])
    contents = {(row.run, row.batch): row.contents for row in connection.execute(_CONTENTS)}
    walk = _Walk(terms, known, contents, problems)
    for row, places in _with_places(connection, problems):
        walk.step(row, places)
    head = connection.execute(select(LEDGER)).one()
    if not has_types(head, LEDGER):
        raise FileError("the terms of the ledger are of other types than before.", "restore it from a copy.")
    if _differs(head, terms):
        problems.add("The terms of the ledger are not those that it was opened with.")
    if (head.number, head.hash) != (walk.head.number, walk.head.hash):
        problems.add(
            f"The record ends with charge {walk.head.number}, but its head names charge {head.number}: rows were "
            "removed or added at the end, or the terms were changed."
        )
    elif head.time != walk.time:
        problems.add("The time of the ledger is not that of its last charge: it was changed.")
    if known is not None and not walk.known:
        problems.add(
            f"The head {str(known)[:20]}... is not in the record: an older copy or another ledger was put in "
            "its place, or the record was rewritten."
        )
    users = _check_accounts(connection, walk.accounts, problems)
    _check_batches(connection, walk.batches, problems)
    notes = []
    if known is None:
        rewritten = "" if terms.key else ", or a record that was rewritten as a whole,"
        notes.append(
            f"No head of an earlier time was given: an older copy in its place{rewritten} would not be found."
        )
    if head.time > now + _SOON_S:
        notes.append(
            f"The clock is {head.time - now:,} seconds behind the latest charge: no new day or week begins until "
            "it has caught up."
        )
    return LedgerCheck(walk.head.number, users, walk.places, str(walk.head), tuple(problems), tuple(notes))


def check_ends(connection: Connection, terms: Terms) -> None:
    """Refuse a ledger whose terms do not lead to its first charge, or whose last charge is not its head."""
    head = connection.execute(select(LEDGER.c.number, LEDGER.c.hash)).one()
    ends = [1, head.number - 1, head.number] if head.number > 1 else [1]
    rows = {row.number: row for row in connection.execute(select(CHARGES).where(CHARGES.c.number.in_(ends)))}
    if head.number < 0:
        raise ValueError("its head names no charge")
    if head.number == 0:
        sound = not rows and head.hash == terms.genesis
    elif rows.keys() != set(ends):
        raise ValueError("charges are missing from its record")
    else:
        sound = _entry(rows[1]).after(terms.genesis, terms) == rows[1].hash
    if not sound:
        raise ValueError("its terms or its first charge were changed")
    if head.number > 1:
        before, last = rows[head.number - 1], rows[head.number]
        sound = _entry(last).after(before.hash, terms) == last.hash
    if not sound or (head.number and rows[head.number].hash != head.hash):
        raise ValueError("its last charge was changed, or is not the one that its head names")


def _differs(row: Any, terms: Terms) -> bool:
    try:
        return Terms.of_row(row._asdict(), terms.key) != terms
    except (ValueError, TypeError):
        return True


def _entry(row: Any) -> ChargeRow:
    """Return a row of the record, or raise a ValueError if its amount is damaged."""
    number, time, name, amount, *rest, _ = row  # in the order of the table's columns; the last is the hash
    return ChargeRow(number, time, name, decode(amount), *rest)


class _Walk:
    """A walk along the record: the hash and the sums after each row."""

    def __init__(
        self, terms: Terms, known: Head | None, contents: Mapping[tuple[str, int], str], problems: _Problems
    ) -> None:
        self._terms, self._goal, self._contents, self._problems = terms, known, contents, problems
        self.head = Head(0, terms.genesis)
        self.known = self.head == known
        self.accounts: dict[str, Account] = {}
        self.batches: dict[tuple[str, int], tuple[int, int]] = {}
        self.places = 0
        self.time = terms.created

    def step(self, row: Any, places: list[tuple[str, str]]) -> None:
        """Follow one row and the places stored with it."""
        number = self.head.number + 1
        if row.number != number:
            gap = "charge 1" if row.number == 2 else f"charges {number} to {row.number - 1}"
            self._problems.add(f"{gap[0].upper()}{gap[1:]} are missing from the record.")
        try:
            entry = _entry(row)
            digest = entry.after(self.head.hash, self._terms)
        except (ValueError, TypeError) as error:
            self._problems.add(f"Charge {row.number} is damaged ({error}).")
            self.head = Head(row.number, row.hash)
            return
        if digest != row.hash:
            self._problems.add(f"Charge {row.number}, to {row.name!r}, or a row before it was changed.")
        if entry.time < self.time:
            self._problems.add(f"Charge {row.number} is older than the one before it.")
        for _, report in places:
            try:
                restored_report(report)
            except ValueError as error:
                self._problems.add(f"A place that was kept with charge {row.number} is damaged ({error}).")
        contents = str(self._contents.get((entry.run, entry.batch), "")) if entry.run else ""
        if entry.places != kept_hash(self._terms, places, contents):
            subject = f"places, or the batch {entry.batch} of the run {entry.run!r}," if entry.run else "places"
            self._problems.add(f"The {subject} that were kept with charge {row.number} were changed.")
        self.time = max(self.time, entry.time)
        self.places += len(places)
        self.head = Head(row.number, row.hash)
        self.known |= self.head == self._goal
        self._sum(entry)

    def _sum(self, entry: ChargeRow) -> None:
        before = self.accounts.get(entry.name, Account())
        after = before.after_charge(entry.amount, entry.reports, entry.time)
        self.accounts[entry.name] = after
        for limit in self._terms.limits:
            total = after.spent_within(limit.window, entry.time)
            if total > limit.amount:
                self._problems.add(
                    f"With charge {entry.number} {entry.name!r} has spent {show(total, self._terms.unit)}, more "
                    f"than the limit of {limit.text(self._terms.unit)}."
                )
        if entry.run:
            first, _ = self.batches.get((entry.run, entry.batch), (entry.number, 0))
            self.batches[entry.run, entry.batch] = first, entry.number


def _with_places(connection: Connection, problems: _Problems) -> Iterator[tuple[Any, list[tuple[str, str]]]]:
    """Yield the rows of the record in order, each with the places that were stored with it."""
    places = select(PLACES).order_by(PLACES.c.charge)
    charges = select(CHARGES).order_by(CHARGES.c.number)
    with connection.execute(places, execution_options=_STREAM) as rows:
        sound_rows = (row for row in rows if _is_sound(row, problems))
        place = next(sound_rows, None)
        with connection.execute(charges, execution_options=_STREAM) as record:
            for row in record:
                if not has_types(row, CHARGES):
                    problems.add(f"Charge {row.number!r} is damaged (a value of another type).")
                    continue
                reports = []
                while place is not None and place.charge <= row.number:
                    if place.charge < row.number:
                        problems.add(_STRAY.format(place.charge))
                    else:
                        reports.append((place.key, place.report))
                    place = next(sound_rows, None)
                yield row, reports
        while place is not None:
            problems.add(_STRAY.format(place.charge))
            place = next(sound_rows, None)


def _is_sound(row: Any, problems: _Problems) -> bool:
    sound = has_types(row, PLACES)
    if not sound:
        problems.add(f"A place that was kept with charge {row.charge!r} is damaged (a value of another type).")
    return sound


def _check_accounts(connection: Connection, accounts: dict[str, Account], problems: _Problems) -> int:
    """Compare the sums of all users with those of the record; return the number of users."""
    users = 0
    with connection.execute(select(ACCOUNTS), execution_options=_STREAM) as rows:
        for row in rows:
            users += 1
            try:
                account = account_of(row)
            except FileError as error:
                problems.add(error.problem)
                accounts.pop(row.name, None)
                continue
            if accounts.pop(row.name, None) != account:
                problems.add(f"The account of {row.name!r} is not what the record says.")
    for name in list(accounts)[:_MOST]:
        problems.add(f"The account of {name!r} is missing.")
    return users


def _check_batches(
    connection: Connection, batches: dict[tuple[str, int], tuple[int, int]], problems: _Problems
) -> None:
    with connection.execute(select(BATCHES), execution_options=_STREAM) as rows:
        for row in rows:
            if batches.pop((row.run, row.batch), None) != (row.first, row.last):
                problems.add(f"Batch {row.batch} of the run {row.run!r} is not what the record says.")
    for run, batch in list(batches)[:_MOST]:
        problems.add(f"Batch {batch} of the run {run!r} is missing, so that it could be charged again.")


def read_terms(connection: Connection, name: str, key: bytes) -> Terms:
    """Return the terms of a ledger; `FileError` if it is missing or damaged, `InputError` for a wrong key."""
    row = connection.execute(select(LEDGER)).one_or_none()
    if row is None:
        raise FileError(f"there is no ledger in {name!r}.", "create it with 'sfumato ledger create'.")
    try:
        if not has_types(row, LEDGER):
            raise ValueError("its terms are of other types")
        terms = Terms.of_row(row._asdict(), key)
    except (ValueError, TypeError) as error:
        raise _not_sound(name, error) from None
    if row.keyed and not key:
        raise InputError(
            f"the ledger in {name!r} has a key.",
            f"pass {argument('Ledger.key')} with the one that it was made with.",
        )
    if row.keyed != terms.key_hash:
        raise InputError(
            f"the key is not that of the ledger in {name!r}.",
            "use the one that it was made with."
            if row.keyed
            else f"it was made without a key: leave {argument('Ledger.key')} out.",
        )
    try:
        check_ends(connection, terms)
    except (ValueError, TypeError) as error:
        raise _not_sound(name, error) from None
    return terms


def _not_sound(name: str, error: Exception) -> FileError:
    return FileError(
        f"{name!r} is not a sound ledger ({plain(str(error))}).",
        "restore it from a copy, and check that with the head of its record.",
    )
