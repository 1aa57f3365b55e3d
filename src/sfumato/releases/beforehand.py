"""A look at all rows before anybody is charged: no row is in the way, and everybody can afford their reports."""

from __future__ import annotations

from collections.abc import Iterator

from ..sampling import SystemWords
from ..tables import TableStream
from .charged import ChargedDraw
from .kernel import Located
from .local import Tally, unreadable
from .remembered import Remembered


def check_beforehand(
    draw: ChargedDraw | Remembered | None, stream: TableStream, size: int, allowed: float
) -> None:
    """Refuse a release with a ledger that would stop midway; nobody is charged, and no report is drawn.

    Every row is located, as it will be before its draw. Whether a row is outside does not depend on chance.

    Args:
        draw: What charges users; nothing is read where nobody is charged.
        stream: The source.
        size: Rows of a batch.
        allowed: The share of rows that may be moved or dropped.

    Raises:
        DataError: If the source cannot be read, rows are outside and this is refused, or a row names no user.
        BudgetError: If a user has too little left.
    """
    if draw is None or (isinstance(draw, Remembered) and draw.metered is None):
        return
    import pyarrow as pa

    places = [draw.place_column] if isinstance(draw, Remembered) else []
    users = [] if draw.kernel.user is None else [draw.kernel.user]
    columns = [*draw.kernel.needs, *users, *places]

    def located() -> Iterator[tuple[Located, int]]:
        tally, words = Tally(), SystemWords()
        for batch in stream.batches(columns, size):
            found = draw.kernel.locate(batch, words, start=tally.source)
            yield found, tally.source
            tally.source += batch.num_rows
            tally.dropped += found.dropped
            tally.moved += found.moved
        tally.check(allowed, tally.source)

    try:
        draw.afford(located())
    except pa.ArrowException as error:
        raise unreadable(stream, error) from None
