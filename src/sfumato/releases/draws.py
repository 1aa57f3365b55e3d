"""Draws of batches: fresh reports, charges where there is a ledger, and what becomes of a draw that stops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from ..errors import DataError, FileError, InputError, SfumatoError, argument
from ..ledgers import Blur, BudgetError, Charge
from ..rounding import percent_at_least
from ..sampling import SystemWords
from ..tables import TableStream
from .kernel import Kernel, Located, PrivateBatch
from .memo_store import DamagedRunError, PlaceMemo
from .sources import unreadable
from .user_names import rows_of_names
from .work_folder import DrawnPart, WorkFolder

_CHARGED: Final = "Users were charged for these reports, which nobody has seen: the charges stand."
_PERHAPS: Final = "Users may have been charged for these reports, which nobody has seen: such charges stand."


class FreshDraw:
    """Draws a fresh report for each row; draws that charge users or memoize places derive from it.

    Attributes:
        kernel: The kernel.
        blur: The mechanism with its ledger, which counts for itself; None where nobody is charged.
        in_turn: Whether batches are drawn one after the other.
        memoizes: Whether the rows of a user's place share a report.
        paid: Whether anybody was charged since this was made.
    """

    blur: Blur | None = None
    in_turn: bool = False
    memoizes: bool = False

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.paid = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the source that batches must have."""
        return self.kernel.needs

    def draw(self, batch: Any, start: int, run: str, memo: PlaceMemo) -> PrivateBatch:  # noqa: ARG002
        """Return the private rows of a batch.

        A batch that is drawn again, because its process ended before anybody saw its reports, finds what it
        charged and the reports of its places.

        Args:
            batch: The true rows.
            start: The number of rows before them, which is also the batch's number.
            run: The name of the run, for the ledger; empty for none.
            memo: The memo of this release.

        Raises:
            DataError: If a row names no user where users count, or is outside and this is refused.
            BudgetError: If a user has too little left; then nobody is charged for this batch.
            FileError: If the ledger holds a report that the mechanism does not make.
        """
        return self.kernel.release(batch, start=start)

    def afford(self, batches: Iterable[tuple[Located, int]]) -> None:
        """Refuse, before anybody is charged, reports for which a user has too little left.

        Args:
            batches: All rows for which a report will be drawn, and the number of rows before each batch.

        Raises:
            DataError: If a row names no user.
            BudgetError: If a user has too little left.
        """

    def cost(self, memo: PlaceMemo) -> str:  # noqa: ARG002
        """Return what charges and shared reports cost, in words; empty without any."""
        return "" if self.blur is None else self.blur.sentence

    def moved(self, memo: PlaceMemo) -> str:  # noqa: ARG002
        """Return how many places may have moved, and how far, in words; empty where none has."""
        return ""


class ChargedDraw(FreshDraw):
    """Charges the users of each batch, and draws a fresh report for each of its rows.

    A run has a name, and its batches numbers: a batch that was charged before its process ended is not charged
    again when the run goes on.
    """

    in_turn = True
    blur: Blur

    def __init__(self, kernel: Kernel, blur: Blur) -> None:
        super().__init__(kernel)
        if kernel.single is None:
            raise InputError("a ledger is for one mechanism.", "release each mechanism's rows by itself.")
        self.blur = blur
        self._words = SystemWords()

    @property
    def columns(self) -> tuple[str, ...]:
        """The kernel's columns, and that of users."""
        return (*self.kernel.needs, *([] if self.kernel.user is None else [self.kernel.user]))

    def afford(self, batches: Iterable[tuple[Located, int]]) -> None:
        """See `FreshDraw.afford`."""
        needed: dict[str, int] = {}
        for located, start in batches:
            for user, reports in self._users(located, start):
                needed[user] = needed.get(user, 0) + reports
        self.blur.ledger.afford(self._charges(sorted(needed.items())))

    def draw(self, batch: Any, start: int, run: str, memo: PlaceMemo) -> PrivateBatch:  # noqa: ARG002
        """Return the private rows of a batch, after charging for them; see `FreshDraw.draw`."""
        located = self.kernel.locate(batch, self._words, start=start)
        charges = self._charges(self._users(located, start))
        self.paid |= self.blur.ledger.charge_many(charges, run=run, batch=start) and bool(charges)
        return self.kernel.assemble(located, self.kernel.draw(located, self._words))

    def _users(self, located: Located, start: int) -> list[tuple[str, int]]:
        """Return each user of a batch, in the order of their names, and how many reports they have."""
        names = rows_of_names(located.batch.column(self.kernel.user).take(located.rows))
        users: dict[str, int] = {}
        for name, rows in names.items():
            if name is None:
                raise DataError(
                    f"a row from number {start + 1:,} on names no user, but budgets are those of users.",
                    f"name the column of users with {argument('release.user', 'column')}.",
                )
            users[name] = rows * self.kernel.places
        return sorted(users.items())

    def _charges(self, users: Iterable[tuple[str, int]]) -> list[Charge]:
        return [self.blur.charge_for(user, reports) for user, reports in users]


@dataclass(slots=True)
class Tally:
    """The rows of a release, counted while it runs.

    Attributes:
        source: Rows of the source.
        rows: Rows of the released table.
        dropped: Rows that were left out.
        moved: Rows that were moved first.
        farthest_m: How far at most, metres.
        without_position: How many of the rows that were left out have no position.
        resumed: Rows whose reports were drawn before an interruption.
    """

    source: int = 0
    rows: int = 0
    dropped: int = 0
    moved: int = 0
    farthest_m: float = 0.0
    without_position: int = 0
    resumed: int = 0

    def add(self, part: DrawnPart, private: PrivateBatch) -> None:
        """Count a part."""
        self.source += part.stop - part.start
        self.rows += private.batch.num_rows
        self.dropped += private.dropped
        self.moved += private.moved
        self.without_position += private.without_position
        self.farthest_m = max(self.farthest_m, private.farthest_m)

    def check(self, allowed: float, total: int) -> None:
        """Stop a release of which more than the allowed share of all rows is outside.

        Raises:
            DataError: If more are, or all are dropped.
        """
        outside = self.dropped + self.moved
        if total and self.dropped == total:
            raise DataError(
                "no row is at any of the mechanism's places or labels.",
                "check that mechanism and data belong together; places need degrees of WGS84, and latitude and "
                "longitude must not be swapped.",
            )
        if outside > allowed * total:
            done = " and ".join(
                f"{count:,} {what}" for count, what in ((self.moved, "moved"), (self.dropped, "dropped")) if count
            )
            raise DataError(
                f"{outside:,} of {total:,} rows are outside, {percent_at_least(outside / total)} ({done}): "
                f"more than the {100 * allowed:.4g} % that is allowed. Nothing was released.",
                "check that mechanism and data belong together, and for places that latitude and longitude are "
                "not swapped",
                f"allow it with {argument('allow', min(1.0, round(outside / total + 0.005, 2)))}",
                "design the mechanism for a wider region, or for these labels too.",
            )


def check_affordable(draw: FreshDraw, stream: TableStream, size: int, allowed: float) -> None:
    """Refuse a release with a ledger that would stop midway; nobody is charged, and no report is drawn.

    Every row is located, as it will be before its draw. Whether a row is outside does not depend on chance.
    Nothing is read where nobody is charged.

    Raises:
        DataError: If the source cannot be read, rows are outside and this is refused, or a row names no user.
        BudgetError: If a user has too little left.
    """
    if draw.blur is None:
        return
    import pyarrow as pa

    def located() -> Iterator[tuple[Located, int]]:
        tally, words = Tally(), SystemWords()
        for batch in stream.batches(draw.columns, size):
            rows = draw.kernel.locate(batch, words, start=tally.source)
            yield rows, tally.source
            tally.source += batch.num_rows
            tally.dropped += rows.dropped
            tally.moved += rows.moved
        tally.check(allowed, tally.source)

    try:
        draw.afford(located())
    except pa.ArrowException as error:
        raise unreadable(stream, error) from None


def stop_run(
    error: SfumatoError, place: WorkFolder, *, lasting: bool, paid: bool | None, places: bool
) -> SfumatoError:
    """Keep or remove what a release that stopped has drawn, and return its error with what to do now.

    Parts are kept where the disk failed, and whenever somebody was charged: what goes on from them charges nobody
    twice. They are removed where the same error would come again, or where nothing can go on.

    Args:
        error: Why it stopped.
        place: The work folder.
        lasting: Whether the source is of files, so that a release of it can go on.
        paid: Whether users were charged; None if that may have been before this run went on.
        places: Whether users' places are remembered in the ledger.
    """
    may = paid is not False
    charges = _PERHAPS if paid is None else _CHARGED
    try:
        parts = place.parts
    except OSError:  # somebody has removed the folder: nothing can go on
        lasting, parts = False, []
    if not lasting or not (may or (isinstance(error, FileError) and parts)):
        with suppress(OSError):
            place.remove()
        return name_charges(error, charges, places=places) if may else error
    if isinstance(error, DamagedRunError):
        return _with(error, f"{error.text} {charges}" if may else error.text, *error.hints)
    on = f"go on from there with {argument('resume', True)}"
    if not may:
        return _with(error, error.text, *error.hints, f"{on}.")
    return _with(
        error, f"{error.text} {charges}", *error.hints, f"{on}, which charges nobody twice for the same rows."
    )


def name_charges(error: SfumatoError, charges: str = _CHARGED, *, places: bool) -> SfumatoError:
    """Return the error of a release that charged users and cannot go on, which says so."""
    kept = "the ledger keeps places that were reported: they cost nothing when they are released again."
    return _with(error, f"{error.text} {charges}", *error.hints, kept if places else "")


def _with(error: SfumatoError, problem: str, *hints: str) -> SfumatoError:
    if isinstance(error, BudgetError):
        return BudgetError(problem, *hints, user=error.user, asked=error.asked, left=error.left)
    kind = next((each for each in (DataError, InputError) if isinstance(error, each)), FileError)
    return kind(problem, *hints)
