"""Draws in which users are charged first, batch by batch: a batch is charged once, however often it is begun."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..errors import DataError, InputError, argument
from ..sampling import SystemWords
from .budget import Blur, Charge
from .fingerprint import fingerprint
from .kernel import Kernel, PrivateBatch


@dataclass(slots=True, eq=False)
class ChargedDraw:
    """Draws batches of one mechanism, and charges the users of each before.

    A run has a name, and its batches numbers: a batch that was charged before its process ended is not charged
    again when the run goes on.

    Attributes:
        kernel: What draws.
        blur: The mechanism with its ledger.
    """

    kernel: Kernel
    blur: Blur
    _words: SystemWords = field(default_factory=SystemWords)

    def __post_init__(self) -> None:
        if self.kernel.single is None:
            raise InputError("a ledger is for one mechanism.", "release each mechanism's rows by itself.")

    def afford(self, users: Iterable[tuple[str, int]]) -> None:
        """Refuse, before anybody is charged, reports for which a user has too little left.

        Args:
            users: Users with their numbers of reports.

        Raises:
            BudgetError: If one has.
        """
        self.blur.ledger.afford(self._charges(users))

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
        users = batch.column(self.kernel.user).take(located.rows)
        self.blur.ledger.charge_many(self._charges(reports_of_users(users, start)), run=run, batch=start)
        return self.kernel.reported(located, self.kernel.drawn(located, self._words))

    def _charges(self, users: Iterable[tuple[str, int]]) -> list[Charge]:
        name, epsilon = fingerprint(self.blur.mechanism), self.blur.promise.epsilon
        return [Charge(user, epsilon, reports, name) for user, reports in users]


def reports_of_users(users: Any, start: int = 0) -> list[tuple[str, int]]:
    """Return each user in an Arrow column as text, with the number of their rows, in the order of their names.

    Args:
        users: The column.
        start: The number of rows before it, for messages.

    Raises:
        DataError: If a row names no user.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = users.cast(users.type.value_type) if pa.types.is_dictionary(users.type) else users
    found: dict[str, int] = {}
    for each in pc.value_counts(column).to_pylist():
        value = each["values"]
        name = "" if value is None or value != value else str(value).strip()
        if not name:
            raise DataError(
                f"a row from number {start + 1:,} on names no user, but budgets are those of users.",
                f"name the column of users with {argument('release.user', 'column')}.",
            )
        found[name] = found.get(name, 0) + each["counts"]
    return sorted(found.items())
