"""Draws of batches, fresh or charged to a ledger, counts of their rows, and errors of stopped draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from .._system import pa
from ..errors import DataError, FileError, InputError, SfumatoError, argument
from ..ledgers import Blur, BudgetError, Charge
from ..rounding import percent_at_least
from ..sampling import SystemWords
from ..tables import TableStream, rows_of_names
from .kernel import Kernel, LocatedBatch, PrivateBatch
from .sources import unreadable
from .work_folder import DamagedRunError, PlaceMemo, WorkFolder

_CHARGED: Final = "Users were charged for these unseen reports: the charges stand."
_PERHAPS: Final = "Users may have been charged for these unseen reports: such charges stand."


class FreshDraw:
    """Draws a fresh report for each row; ``has_charged`` is whether a user has been charged since it was made."""

    blur: Blur | None = None
    in_turn: bool = False
    memoizes: bool = False
    place_column: str | None = None

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.has_charged = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the source that batches must have: the kernel's, and in turn those of users and places."""
        further = (self.kernel.user, self.place_column) if self.in_turn else ()
        return (*self.kernel.needs, *(name for name in further if name is not None))

    def draw(self, batch: Any, start: int, run: str, memo: PlaceMemo) -> PrivateBatch:  # noqa: ARG002
        """Return the private rows of a batch, after ``start`` rows of the source; a `BudgetError` charges no one.

        Drawn again after a crash, a batch of the same ``run`` keeps its charges and its reports of places.
        """
        return self.kernel.release(batch, start=start)

    def afford(self, batches: Iterable[tuple[LocatedBatch, int]]) -> None:
        """Refuse, before any charge, batches (with the number of rows before each) beyond a user's budget."""

    def cost(self, memo: PlaceMemo) -> str:  # noqa: ARG002
        """Return a sentence on what charges and shared reports cost; empty without any."""
        return "" if self.blur is None else self.blur.sentence

    def warning(self, memo: PlaceMemo) -> str:  # noqa: ARG002
        """Return a sentence on how many places may have moved, and how far; empty for none."""
        return ""


class ChargedDraw(FreshDraw):
    """Charges the users of each batch, once in each run, and draws a fresh report for each of its rows."""

    in_turn = True
    blur: Blur

    def __init__(self, kernel: Kernel, blur: Blur) -> None:
        super().__init__(kernel)
        self.blur, self._words = blur, SystemWords()

    def afford(self, batches: Iterable[tuple[LocatedBatch, int]]) -> None:
        """See `FreshDraw.afford`."""
        demand: Counter[str] = Counter()
        for located, start in batches:
            demand.update(self._users(located, start))
        self.blur.ledger.afford(charges_of(self.blur, demand))

    def draw(self, batch: Any, start: int, run: str, memo: PlaceMemo) -> PrivateBatch:  # noqa: ARG002
        """Return the private rows of a batch, after charging for them; see `FreshDraw.draw`."""
        located = self.kernel.locate_or_refuse(batch, self._words, start=start)
        charges = charges_of(self.blur, self._users(located, start))
        self.has_charged |= self.blur.ledger.charge_many(charges, run=run, batch=start) and bool(charges)
        return self.kernel.assemble(located, self.kernel.draw(located, self._words))

    def _users(self, located: LocatedBatch, start: int) -> dict[str, int]:
        names = rows_of_names(located.batch.column(self.kernel.user).take(located.rows))
        users: dict[str, int] = {}
        for name, rows in names.items():
            if name is None:
                raise DataError(
                    f"a row from number {start + 1:,} on names no user, but budgets belong to users.",
                    f"name the column of users with {argument('release.user', 'column')}.",
                )
            users[name] = rows * self.kernel.places
        return users


def charges_of(blur: Blur, users: Mapping[str, int]) -> list[Charge]:
    """Return the charges for the reports of users, those that have any, in the order of names."""
    return [blur.charge_for(user, reports) for user, reports in sorted(users.items()) if reports]


@dataclass(slots=True)
class Tally:
    """Counts of the rows of a release while it runs; ``source`` counts those of its source."""

    source: int = 0
    dropped: int = 0
    moved: int = 0
    farthest_m: float = 0.0
    without_position: int = 0
    resumed: int = 0

    def add(self, rows: int, part: LocatedBatch | PrivateBatch) -> None:
        """Count a part of so many rows of the source."""
        self.source += rows
        self.dropped += part.dropped
        self.moved += part.moved
        self.without_position += part.without_position
        self.farthest_m = max(self.farthest_m, part.farthest_m)

    def check(self, allowed: float, total: int) -> None:
        """Refuse a release if all ``total`` rows are dropped, or more than the share ``allowed`` is outside."""
        outside = self.dropped + self.moved
        if total and self.dropped == total:
            raise DataError(
                "no row is at any of the mechanism's places or labels.",
                "check that mechanism and data belong together; places need degrees of WGS84, and latitude and "
                "longitude must not be swapped.",
            )
        if outside > allowed * total:
            parts = " and ".join(
                f"{count:,} {verb}" for count, verb in ((self.moved, "moved"), (self.dropped, "dropped")) if count
            )
            raise DataError(
                f"{outside:,} of {total:,} rows are outside, {percent_at_least(outside / total)} ({parts}): "
                f"more than the {100 * allowed:.4g} % that is allowed. Nothing was released.",
                "check that mechanism and data belong together, and for places that latitude and longitude are "
                "not swapped",
                f"allow it with {argument('allow', min(1.0, round(outside / total + 0.005, 2)))}",
                "design the mechanism for a wider region, or for these labels too.",
            )


def check_affordable(draw: FreshDraw, stream: TableStream, size: int, allowed: float) -> None:
    """Refuse a release that would run out of budget midway; without a ledger the source is not read."""
    if draw.blur is None:
        return

    def locate_batches() -> Iterator[tuple[LocatedBatch, int]]:
        tally, words = Tally(), SystemWords()
        for batch in stream.batches(draw.columns, size):
            rows = draw.kernel.locate_or_refuse(batch, words, start=tally.source)
            yield rows, tally.source
            tally.add(batch.num_rows, rows)
        tally.check(allowed, tally.source)

    try:
        draw.afford(locate_batches())
    except pa.ArrowException as error:
        raise unreadable(stream, error) from None


def stop_run(
    error: SfumatoError, place: WorkFolder, *, lasting: bool, has_charged: bool | None, places: bool
) -> SfumatoError:
    """Return the error of a release that stopped, with what to do next; keep or remove what was drawn.

    Parts of a ``lasting`` source stay after an error of the disk, and if a user was charged or may have been.
    """
    may = has_charged is not False
    charges = _PERHAPS if has_charged is None else _CHARGED
    try:
        parts = place.parts
    except OSError:  # someone has removed the folder: nothing can go on
        lasting, parts = False, []
    if not lasting or not (may or (isinstance(error, FileError) and parts)):
        with suppress(OSError):
            place.remove()
        return name_charges(error, charges, places=places) if may else error
    hint = f"go on from there with {argument('resume', True)}"
    hint += ", which charges no user twice for the same rows." if may else "."
    hint = "" if isinstance(error, DamagedRunError) else hint
    return _with(error, f"{error.text} {charges}" if may else error.text, *error.hints, hint)


def name_charges(error: SfumatoError, charges: str = _CHARGED, *, places: bool) -> SfumatoError:
    """Return the error with a sentence that users were charged, for a release that cannot go on."""
    hint = "the ledger keeps reported places: releasing them again costs nothing."
    return _with(error, f"{error.text} {charges}", *error.hints, hint if places else "")


def _with(error: SfumatoError, problem: str, *hints: str) -> SfumatoError:
    if isinstance(error, BudgetError):
        return BudgetError(problem, *hints, user=error.user, charge=error.charge, left=error.left)
    kind = next((base for base in (DataError, InputError) if isinstance(error, base)), FileError)
    return kind(problem, *hints)
