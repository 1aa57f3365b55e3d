"""The reports of one person where each of their places is reported once, counted before anything is drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np

from ..errors import DataError
from ..tables import TableStream
from .promises import People
from .remembered import Remembered
from .revisits import Revisits

_MOST: Final = 1 << 19  # places of users that are told apart in memory


def at_places(people: People, draw: Remembered | None, stream: TableStream, size: int, *, drops: bool) -> People:
    """Return the people of a source with their reports: one for each place, and one for each row without a place.

    Beyond half a million places of users, and where a row names no user, rows are counted, which are no fewer.
    With a ledger it is at most so many, because places that it remembers are not drawn again; and where rows
    outside are dropped.

    Args:
        people: How many rows the source has, and how many of one person.
        draw: What remembers places; None where every row has a report of its own.
        stream: The source.
        size: Rows of a batch.
        drops: Whether rows outside are dropped.

    Raises:
        DataError: If the source cannot be read.
    """
    if draw is None or draw.kernel.user is None or people.most is None:
        return replace(people, exact=people.exact and not drops)
    seen: set[tuple[str, str]] = set()
    reports: dict[str, int] = {}
    for batch in stream.batches(list(dict.fromkeys([draw.kernel.user, draw.place_column])), size):
        users, places = (batch.column(name) for name in (draw.kernel.user, draw.place_column))
        try:
            found = Revisits.of(users, places, np.arange(batch.num_rows))
        except DataError:  # the release says which row it is, unless it drops it
            return replace(people, exact=False)
        for user, place in zip(found.users, found.places, strict=True):
            if place is not None:
                if (user, place) in seen:
                    continue
                seen.add((user, place))
            reports[user] = reports.get(user, 0) + 1
        if len(seen) > _MOST:
            return replace(people, exact=False)
    return replace(
        people,
        most=max(reports.values(), default=0),
        exact=people.exact and draw.metered is None and not drops,
        counts=tuple(sorted(Counter(reports.values()).items())),
    )
