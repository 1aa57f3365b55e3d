"""The columns of private rows: the reports, and what is kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, argument
from ...sampling import SystemWords
from ..columns import plain_type
from ..disclosed import Disclosed
from ..reporters import NoiseReporter, Reporter


def private_schema(
    reporters: Sequence[Reporter],
    disclosed: Disclosed,
    source: Any,
    also: Sequence[tuple[str, str]] = (),
    *,
    lists: bool,
) -> Any:
    """Return the Arrow schema of private rows, without metadata.

    Where mechanisms on places and noise stand side by side, reports have a position, but no label.

    Args:
        reporters: The mechanisms.
        disclosed: The columns that are kept.
        source: The schema of the true rows.
        also: The columns of latitude and longitude of other places of a row, which have a report of their own.
        lists: Whether a report of several numbers becomes a list, or as many columns.

    Raises:
        InputError: If reports or columns do not fit into one table.
    """
    import pyarrow as pa

    shapes = []
    for each in reporters:
        columns = each.columns(_no_reports(each), lists=lists, dictionaries=len(reporters) == 1)
        shapes.append([(name, column.type) for name, column in columns.items()])
    shared = [column for column in shapes[0] if all(column in shape for shape in shapes)]
    if [name for name, _ in shared] != ["latitude", "longitude"] and any(shape != shared for shape in shapes):
        raise InputError(
            "the mechanisms give reports of different kinds, which do not fit into one table.",
            "release each kind by itself.",
        )
    first = list(shared)
    for pair in also:
        others = [(of_place(name, pair), kind) for name, kind in first]
        twice = sorted({name for name, _ in others} & {name for name, _ in shared})
        if twice:
            raise InputError(
                f"two released columns would have the name {twice[0]!r}.", "rename it in the source first."
            )
        shared += others
    clash = sorted({name for name, _ in shared} & set(disclosed.kept))
    if clash:
        raise InputError(
            f"the column {clash[0]!r} cannot be kept: the released column has this name.",
            "rename it in the source first.",
        )
    kept = [(name, plain_type(source.field(column).type)) for name, column in disclosed.kept.items()]
    for name, kind in kept:
        if not lists and (pa.types.is_nested(kind) or _is_binary(kind)):
            raise InputError(
                f"the column {name!r} of {kind} cannot be kept in a table of text.",
                "write a Parquet or Arrow file",
                f"leave it out of {argument('keep')}.",
            )
    return pa.schema([*shared, *kept])


def of_place(name: str, pair: tuple[str, str]) -> str:
    """Return the name that a column of reports has for another place of a row.

    Args:
        name: Its name for the first place, such as ``latitude``, or ``longitude_2`` of a tuple.
        pair: The columns of latitude and longitude of the other place.
    """
    lat, lon = pair
    names = {"latitude": lat, "longitude": lon, "label": f"{lat}_label"}
    kind, sign, number = name.partition("_")
    return names[kind] + sign + number


def _no_reports(each: Reporter) -> NDArray[Any]:
    """Return reports for nobody, of which the columns can be learnt."""
    secrets = np.zeros((0, 2)) if isinstance(each, NoiseReporter) else np.zeros(0, dtype=np.intp)
    return each.draw(secrets, SystemWords())


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))
