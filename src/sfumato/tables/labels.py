"""Labels in tables: written as texts or numbers, and found again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import Space
from ..core.naming import quote
from ..errors import DataError, InputError
from ..escaping import from_csv_cell, unseen
from .opened import cause


def text(label: Hashable) -> str:
    """Return a label as text, the same each time: ``{a, b}`` for a set, ``(a, b)`` for a tuple."""
    if isinstance(label, frozenset):
        return "{" + ", ".join(sorted(text(part) for part in label)) + "}"
    if isinstance(label, tuple):
        return "(" + ", ".join(text(part) for part in label) + ")"
    if isinstance(label, bool):
        return str(label).lower()  # as Arrow writes truth values
    return str(label)


def numeric(space: Space) -> bool:
    """Return whether all labels are integers, or all are floats, and so stay numbers in tables."""
    kinds = {type(label) for label in space.labels}
    return kinds in ({int}, {float}) and (kinds == {float} or all(_fits(label) for label in space.labels))


def label_column(space: Space) -> Any:
    """Return labels as Arrow numbers where all are, or texts; `InputError` for equal texts, unseen characters."""
    import pyarrow as pa

    return pa.array(space.labels if numeric(space) else label_texts(space))


def label_texts(space: Space) -> list[str]:
    """Return the labels as texts, as `sfumato.escaping.csv_cell` writes them to CSV files.

    Two labels with the same text, or one with an invisible character, are an `InputError`.
    """
    check_seen(texts := list(_positions(space)), "label")
    return texts


def check_seen(texts: Iterable[str], noun: str) -> None:
    """Refuse texts with invisible characters, or ones that control a terminal or break a line."""
    for each in texts:
        if reason := unseen(each):
            raise InputError(
                f"the {noun} {quote(each)} has {reason}.", f"design with {noun}s of visible characters."
            )


def find(space: Space, values: Any) -> NDArray[np.intp]:
    """Return the positions of an Arrow column's values among the labels, array (n,); -1 where no label fits.

    A text may be as in a CSV file, where an apostrophe keeps ``=1`` from being a formula. A column of neither
    texts nor numbers is a `DataError`; two labels with the same text are an `InputError`.
    """
    import pyarrow as pa

    known: dict[Any, int] = (
        {label: place for place, label in enumerate(space.labels)} if numeric(space) else _positions(space)
    )
    try:
        column = values if numeric(space) else values.cast(pa.string())
        encoded = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).dictionary_encode()
    except pa.ArrowException as error:
        raise DataError(
            f"a column of {values.type} holds no labels ({cause(error)}).", "name a column of texts or numbers."
        ) from None
    places = np.array([_place(known, value) for value in encoded.dictionary.to_pylist()] + [-1], dtype=np.intp)
    found: NDArray[np.intp] = places[encoded.indices.fill_null(len(places) - 1).to_numpy()]
    return found


def _place(known: dict[Any, int], value: Any) -> int:
    """Return the position of a value, first as what a CSV file holds of a label, then as it stands."""
    written = known.get(from_csv_cell(value), -1) if isinstance(value, str) else -1
    return written if written >= 0 else known.get(value, -1)


def _positions(space: Space) -> dict[str, int]:
    positions: dict[str, int] = {}
    for place, label in enumerate(space.labels):
        first = positions.setdefault(text(label), place)
        if first != place:
            raise InputError(
                f"the labels {space.labels[first]!r} and {label!r} are the same text in a table.",
                "give them labels whose texts differ.",
            )
    return positions


def _fits(label: Hashable) -> bool:
    return isinstance(label, int) and -(2**63) <= label < 2**63
