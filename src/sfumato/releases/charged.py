"""Draws in which users are charged first, batch by batch: a batch is charged once, however often it is begun."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import DataError, InputError, argument
from ..ledgers import Blur, Charge
from ..sampling import SystemWords
from .kernel import Kernel, Located, PrivateBatch
from .users import rows_of_names


@dataclass(slots=True, eq=False)
class ChargedDraw:
    """Draws batches of one mechanism, and charges the users of each before.

    A run has a name, and its batches numbers: a batch that was charged before its process ended is not charged
    again when the run goes on.

    Attributes:
        kernel: What draws.
        blur: The mechanism with its ledger.
        paid: Whether anybody was charged since this was made.
    """

    kernel: Kernel
    blur: Blur
    paid: bool = field(init=False, default=False)
    _words: SystemWords = field(default_factory=SystemWords)

    def __post_init__(self) -> None:
        if self.kernel.single is None:
            raise InputError("a ledger is for one mechanism.", "release each mechanism's rows by itself.")

    def afford(self, batches: Iterable[tuple[Located, int]]) -> None:
        """Refuse, before anybody is charged, reports for which a user has too little left.

        Args:
            batches: All rows for which a report will be drawn, and the number of rows before each batch.

        Raises:
            DataError: If a row names no user.
            BudgetError: If a user has too little left.
        """
        needed: dict[str, int] = {}
        for located, start in batches:
            for user, reports in self._users(located, start):
                needed[user] = needed.get(user, 0) + reports
        self.blur.ledger.afford(self._charges(sorted(needed.items())))

    def draw(self, batch: Any, start: int, run: str) -> PrivateBatch:
        """Return the private rows of a batch, after charging for them.

        Args:
            batch: The true rows.
            start: The number of rows before them, which is also the batch's number.
            run: The name of the run.

        Raises:
            DataError: If a row names no user, or is outside and this is refused.
            BudgetError: If a user has too little left; then nobody is charged for this batch.
        """
        located = self.kernel.locate(batch, self._words, start=start)
        charges = self._charges(self._users(located, start))
        self.paid |= self.blur.ledger.charge_many(charges, run=run, batch=start) and bool(charges)
        return self.kernel.reported(located, self.kernel.drawn(located, self._words))

    def _users(self, located: Located, start: int) -> list[tuple[str, int]]:
        users = reports_of_users(located.batch.column(self.kernel.user).take(located.rows), start)
        return [(user, rows * self.kernel.places) for user, rows in users]

    def _charges(self, users: Iterable[tuple[str, int]]) -> list[Charge]:
        return [self.blur.charge_for(user, reports) for user, reports in users]


def reports_of_users(users: Any, start: int = 0) -> list[tuple[str, int]]:
    """Return each user in an Arrow column as text, with the number of their rows, in the order of their names.

    Args:
        users: The column.
        start: The number of rows before it, for messages.

    Raises:
        DataError: If a row names no user.
    """
    found: dict[str, int] = {}
    for name, rows in rows_of_names(users).items():
        if name is None:
            raise DataError(
                f"a row from number {start + 1:,} on names no user, but budgets are those of users.",
                f"name the column of users with {argument('release.user', 'column')}.",
            )
        found[name] = rows
    return sorted(found.items())
