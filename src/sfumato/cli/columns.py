"""Columns of categories or numbers: their possible values and how likely each is, from a command's options."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import DataError, InputError, row_value
from ..escaping import plain, unseen
from .messages import option, say

if TYPE_CHECKING:
    from ..core import Mechanism, Prior, Space
    from ..files import MechanismFile

_RANGE: Final = re.compile(r"\s*([-+]?\d{1,16})\s*\.\.\s*([-+]?\d{1,16})\s*(?::\s*(\d{1,16}))?\s*")
_MOST_LABELS: Final = 1_000
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Column:
    """A column to be made private.

    Attributes:
        name: What it is called in the data.
        space: Its possible values.
        labels: Where these come from, in words.
        columns: The columns that it is made of, where they are several.
    """

    name: str
    space: Space
    labels: str
    columns: tuple[str, ...] = ()


def column_of(
    data: Path | None,
    name: str,
    labels: str | None,
    numbers: str | None,
    unit: str = "",
    circle: int | None = None,
) -> Column:
    """Return a column with its possible values; warn where these are read from the data.

    Args:
        data: The table that holds it; None for none.
        name: The column.
        labels: ``--labels``: ``a,b,c``, or a file with one on each line.
        numbers: ``--numbers``: ``18..99``, or ``18..99:5`` for bins of five.
        unit: The unit of the numbers.
        circle: ``--circular``: the length of the circle that the numbers are on; None for a line.

    Raises:
        InputError: If the values are given twice, not at all, or make no sense.
        DataError: If the table lacks the column.
    """
    from ..core import Space
    from ..tables import check_seen

    if labels is not None and numbers is not None:
        raise InputError(
            "--labels and --numbers were both given.", "name the categories, or the range of numbers."
        )
    if numbers is not None:
        space = _bins(numbers, unit, circle)
        if data is not None:
            _check_numbers(data, name, space)
        around = "" if circle is None else f" around a circle of {circle}"
        return Column(name, space, f"numbers {numbers.strip()}{around}, as given")
    if circle is not None:
        raise InputError(f"--circular {circle} was given without --numbers.", "name the range: --numbers 0..23.")
    if labels is not None:
        found, source = _given(labels)
        with option("--labels"):
            check_seen(found, "label")
            return Column(name, Space(found), source)
    if data is None:
        raise InputError(
            "neither a table nor the possible values were given.",
            "name the values: --labels a,b,c; or a range of numbers: --numbers 18..99:5.",
        )
    seen = _seen(data, name)
    say(
        f"Warning: the {len(seen):,} labels of {name!r} were read from the data. Whoever sees the mechanism "
        "or its reports learns that somebody in the data has each of them, which no epsilon covers. Name the "
        "possible values with --labels, from a list that does not depend on the data.",
        err=True,
    )
    return Column(name, Space(seen), f"labels read from {data.name}, which are seen in the file")


def joint_of(columns: Sequence[Column]) -> Column:
    """Return several columns as one, whose values are the combinations of theirs.

    Raises:
        InputError: If there are too many combinations.
    """
    from ..core import JointSpace

    sizes = [len(each.space) for each in columns]
    if prod(sizes) > _MOST_LABELS:
        raise InputError(
            f"one joint space of these columns would have {' x '.join(f'{size:,}' for size in sizes)} = "
            f"{prod(sizes):,} combinations, more than {_MOST_LABELS:,}.",
            "use wider bins or fewer labels, or divide epsilon among the columns: --split even.",
        )
    space = JointSpace({each.name: each.space for each in columns})
    labels = "; ".join(f"{each.name}: {each.labels}" for each in columns)
    return Column(" and ".join(each.name for each in columns), space, labels, tuple(each.name for each in columns))


def file_name(column: str) -> str:
    """Return the name of the mechanism file of a column in a folder of several."""
    found = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in column)
    return f"{found[:80] or 'column'}.sfm"


def mechanisms_in(folder: Path, columns: Sequence[str], **trust: Any) -> dict[str, MechanismFile]:
    """Return the mechanism files of columns in a folder, by the names of the columns.

    Args:
        folder: The folder, as ``sfumato design`` writes it for several columns.
        columns: The columns; by default all files are taken, for columns of their names.
        trust: ``trust_distances`` and ``signed_by``, as of `sfumato.read_mechanism_file`.

    Raises:
        InputError: If a column has no file there.
    """
    from ..files import read_mechanism_file

    paths = {name: folder / file_name(name) for name in columns} or {
        path.stem: path for path in sorted(folder.glob("*.sfm"))
    }
    missing = [name for name, path in paths.items() if not path.is_file()]
    if missing or not paths:
        there = ", ".join(path.name for path in sorted(folder.glob("*.sfm"))[:_SHOWN])
        raise InputError(
            f"the folder {str(folder)!r} holds no mechanism file"
            + (f" {file_name(missing[0])!r} for the column {missing[0]!r}." if missing else " (.sfm)."),
            f"it holds {there}." if there else "check the path.",
        )
    return {name: read_mechanism_file(path, **trust) for name, path in paths.items()}


def matrix_of(held: MechanismFile, column: str) -> Mechanism:
    """Return the mechanism of a column, whose reports are single labels.

    Raises:
        InputError: If it is noise for coordinates, or sends its reports among dummies.
    """
    if not held.has_matrix:
        raise InputError(f"the mechanism for {column!r} is noise for places.", "estimate it by itself.")
    return held.alone().report_channel


def prior_from_data(column: Column, data: Path | None, kind: str) -> tuple[Prior, str]:
    """Return how likely each value is, and where that comes from.

    Args:
        column: The column.
        data: The table that holds it.
        kind: ``--prior``: uniform or data.

    Raises:
        InputError: If the kind is unknown, or needs a table that was not given.
        DataError: If no row holds one of the values.
    """
    from ..core import Prior
    from ..releases import positions_in

    if kind == "uniform":
        return Prior.uniform(column.space), "all values equally likely, whatever the data are"
    if kind != "data":
        raise InputError(f"--prior {kind} is unknown.", "use uniform or data.")
    if data is None:
        raise InputError("--prior data was given without a table.", "name the table, or leave it out.")
    positions = positions_in(column.space, *(_read(data, name) for name in column.columns or (column.name,)))
    inside = positions[positions >= 0]
    if not inside.size:
        raise DataError(
            f"no row of {data.name} holds one of the {len(column.space):,} values of {column.name!r}.",
            "check --labels or --numbers.",
        )
    import numpy as np

    left = len(positions) - len(inside)
    say(
        "Warning: with --prior data the mechanism file holds the shares of the data, which no epsilon covers: "
        "keep it as secret as the data.",
        err=True,
    )
    text = f"shares in {data.name}" + (f"; {left:,} rows with other values are left out" if left else "")
    return Prior.from_counts(column.space, np.bincount(inside, minlength=len(column.space))), text


def _bins(text: str, unit: str, circle: int | None) -> Space:
    from ..core import NumberBins

    found = _RANGE.fullmatch(text)
    if found is None:
        raise InputError(
            f"--numbers {text!r} is not a range.", "write 18..99, or 18..99:5 for bins of five numbers."
        )
    first, last, width = int(found[1]), int(found[2]), int(found[3] or 1)
    if last <= first or width < 1:
        raise InputError(
            f"--numbers {text!r} holds no two numbers." if width else f"--numbers {text!r} has bins of no width.",
            "write the smallest number first: 18..99:5.",
        )
    count = -(-(last - first + 1) // width)
    if circle is not None and width * count > circle:
        raise InputError(
            f"--numbers {text} goes more than once around the circle of --circular {circle}.",
            f"end it at {first + circle - 1}, in bins that divide {circle}; or write a larger circle.",
        )
    with option("--numbers"):
        found_bins = NumberBins(first, width, count, unit, period=circle)
    if len(found_bins) < 2:
        raise InputError(f"--numbers {text!r} makes a single bin.", "use narrower bins.")
    return found_bins


def _given(text: str) -> tuple[list[str], str]:
    path = Path(text)
    if "," not in text:
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError, ValueError):
            raise InputError(
                f"--labels {text!r} is neither several labels nor a file that can be read.",
                "write a,b,c, or name a text file with one label on each line.",
            ) from None
        found, source = [line.strip() for line in lines if line.strip()], f"labels from {path.name}"
    else:
        quoted = next(csv.reader([" ".join(text.splitlines())], skipinitialspace=True))
        found, source = [part.strip() for part in quoted], "labels as given"
    if not all(found):
        raise InputError(f"--labels {text!r} holds an empty label.", "leave out the comma that is too many.")
    if len(found) < 2:
        raise InputError("--labels holds fewer than two labels.", "name every possible answer.")
    return found, source


def _seen(data: Path, name: str) -> list[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _read(data, name)
    try:
        found = [value for value in pc.unique(column.cast(pa.string())).to_pylist() if value not in (None, "")]
    except pa.ArrowException:
        raise DataError(f"the column {name!r} holds no labels.", "name a column of texts or numbers.") from None
    if not 2 <= len(found) <= _MOST_LABELS:
        some = ", ".join(found[:_SHOWN])
        raise DataError(
            f"the column {name!r} holds {len(found):,} different values{row_value(f' ({some}, ...)', '')}; "
            f"categories have 2 to {_MOST_LABELS:,}.",
            "name the possible values: --labels a,b,c; or a range of numbers: --numbers 18..99:5.",
        )
    for value in found:
        if reason := unseen(value):
            raise DataError(
                f"a label in the column {name!r}{row_value(f', {plain(value)!r},', '')} has {reason}.",
                "take such characters out of the column: released tables would hold them.",
            )
    return sorted(found)


def _check_numbers(data: Path, name: str, space: Space) -> None:
    """Refuse a column of times, also of times as numbers since 1970, of which a release finds none in the range.

    Raises:
        DataError: If it is one, or the table lacks the column.
    """
    import pyarrow as pa

    from ..releases import positions_in
    from ..tables import read_columns, times

    column = read_columns(data, [name])[name]
    if not pa.types.is_temporal(column.type):
        if column.null_count == len(column) or times(column) is None:
            return
        if not pa.types.is_string(column.type) and (positions_in(space, column) >= 0).any():
            return
    raise DataError(
        f"the column {name!r} of {data.name} holds times, and --numbers is for numbers.",
        "make a column of a part of them, such as the hour: --numbers 0..23 --circular 24",
        "make a column of days or hours since a date.",
    )


def _read(data: Path, name: str) -> Any:
    from ..tables import read_columns

    return read_columns(data, [name], as_text=(name,))[name]
