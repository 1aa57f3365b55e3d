"""Columns, their values, a prior and a guarantee from the options of a command."""

from __future__ import annotations

import csv
import os
import re
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..errors import DataError, InputError, row_value
from ..escaping import invisible_character, plain
from .audit_knowledge import metric_from
from .messages import option, say
from .place_options import promise_of

if TYPE_CHECKING:
    from ..core import MetricPrivacy, Prior, Space

_RANGE: Final = re.compile(r"\s*([-+]?\d{1,16})\s*\.\.\s*([-+]?\d{1,16})\s*(?::\s*(\d{1,16}))?\s*")
_MOST_LABELS: Final = 1_000


class Column(NamedTuple):
    """A column to make private, its possible values and their source in words."""

    name: str
    space: Space
    labels: str
    columns: tuple[str, ...]  # that it combines, or its own


def column_of(
    data: Path | None,
    name: str,
    labels: str | None,
    numbers: str | None,
    unit: str = "",
    circle: int | None = None,
) -> Column:
    """Return a column with the values of ``--labels`` or ``--numbers``; warn where they are read from the data."""
    from ..core import Space
    from ..tables import check_seen

    if labels is not None and numbers is not None:
        raise InputError(
            "--labels and --numbers were both given.", "name the categories, or the range of numbers."
        )
    if numbers is not None:
        space = _number_bins(numbers, unit, circle)
        if data is not None:
            _check_numbers(data, name, space)
        around = "" if circle is None else f" around a circle of {circle}"
        return Column(name, space, f"numbers {numbers.strip()}{around}, as given", (name,))
    if circle is not None:
        raise InputError(f"--circular {circle} was given without --numbers.", "name the range: --numbers 0..23.")
    if labels is not None:
        names, source = _labels_of(labels)
        with option("--labels"):
            check_seen(names, "label")
            return Column(name, Space(names), source, (name,))
    if data is None:
        raise InputError(
            "neither a table nor the possible values were given.",
            "name the values: --labels a,b,c; or a range of numbers: --numbers 18..99:5.",
        )
    values = _labels_in(data, name)
    say(
        f"Warning: the {len(values):,} labels of {name!r} were read from the data. The mechanism and its reports "
        "reveal that each of them occurs in the data, which no epsilon covers. Name the possible values with "
        "--labels, from a list that does not depend on the data.",
        err=True,
    )
    return Column(name, Space(values), f"labels read from {data.name}, which are seen in the file", (name,))


def joint_of(columns: Sequence[Column]) -> Column:
    """Return several columns as one, whose values are their combinations."""
    from ..core import JointSpace

    sizes = [len(column.space) for column in columns]
    if prod(sizes) > _MOST_LABELS:
        raise InputError(
            f"one joint space of these columns would have {' x '.join(f'{size:,}' for size in sizes)} = "
            f"{prod(sizes):,} combinations, more than {_MOST_LABELS:,}.",
            "use wider bins or fewer labels, or divide epsilon among the columns: --split even.",
        )
    space = JointSpace({column.name: column.space for column in columns})
    labels = "; ".join(f"{column.name}: {column.labels}" for column in columns)
    names = tuple(column.name for column in columns)
    return Column(" and ".join(names), space, labels, names)


def prior_from_data(column: Column, data: Path | None, kind: str) -> tuple[Prior, str]:
    """Return the prior on the values, and its source in words."""
    import numpy as np

    from ..core import Prior
    from ..releases import positions_in

    if kind == "uniform":
        return Prior.uniform(column.space), "all values equally likely, independent of the data"
    if kind != "data":
        raise InputError(f"--prior {kind} is unknown.", "use uniform or data.")
    if data is None:
        raise InputError("--prior data was given without a table.", "name the table, or leave it out.")
    positions = positions_in(column.space, *(_read(data, name) for name in column.columns))
    inside = positions[positions >= 0]
    if not inside.size:
        raise DataError(
            f"no row of {data.name} holds one of the {len(column.space):,} values of {column.name!r}.",
            "check --labels or --numbers.",
        )
    left = len(positions) - len(inside)
    say(
        "Warning: with --prior data the mechanism file holds the shares of the data, which no epsilon covers: "
        "keep it as secret as the data.",
        err=True,
    )
    text = f"shares in {data.name}" + (f"; {left:,} rows with other values are left out" if left else "")
    return Prior.from_counts(column.space, np.bincount(inside, minlength=len(column.space))), text


def promise_for(
    column: Column, epsilon: str | float, distances: Path | None = None, *, asymmetric: bool = False
) -> MetricPrivacy:
    """Return the guarantee of ``--epsilon``: by distances, for any two values, or per unit of numbers."""
    from ..core import hamming

    space = column.space
    if distances is not None:
        unit = str(epsilon).partition("/")[2].strip()
        return promise_of(epsilon, metric_from(distances, space, unit, asymmetric=asymmetric), "--epsilon")
    if not (isinstance(epsilon, str) and "/" in epsilon):
        return promise_of(epsilon, hamming(space), "--epsilon")
    check_rate(space, epsilon, "--epsilon")
    return promise_of(epsilon, space.metric("absolute"), "--epsilon")


def check_rate(space: Space, epsilon: str, name: str) -> None:
    """Refuse an epsilon per unit, the value of the option `name`, of categories or of bins of several numbers."""
    from ..core import NumberBins

    if not isinstance(space, NumberBins):
        raise InputError(
            f"{name} {epsilon} is per unit, but categories have no distances.", f"write a pure number: {name} 1."
        )
    if space.width > 1:
        last = space.first + space.width * len(space) - 1
        raise InputError(
            f"{name} {epsilon} is per unit, but numbers in neighbouring bins can be nearer than the bins are.",
            f"write a pure number, or take bins of one: --numbers {space.first}..{last}.",
        )


def _number_bins(text: str, unit: str, circle: int | None) -> Space:
    from ..core import NumberBins

    match = _RANGE.fullmatch(text)
    if match is None:
        raise InputError(
            f"--numbers {text!r} is not a range.", "write 18..99, or 18..99:5 for bins of five numbers."
        )
    first, last, width = int(match[1]), int(match[2]), int(match[3] or 1)
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
        space = NumberBins(first, width, count, unit, period=circle)
    if len(space) < 2:
        raise InputError(f"--numbers {text!r} makes a single bin.", "use narrower bins.")
    return space


def _labels_of(text: str) -> tuple[list[str], str]:
    path = Path(text)
    if "," not in text:
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError, ValueError):
            raise InputError(
                f"--labels {text!r} is neither several labels nor a file that can be read.",
                "write a,b,c, or name a text file with one label on each line.",
            ) from None
        names, source = [line.strip() for line in lines if line.strip()], f"labels from {path.name}"
    else:
        quoted = next(csv.reader([" ".join(text.splitlines())], skipinitialspace=True))
        names, source = [part.strip() for part in quoted], "labels as given"
    if not all(names):
        raise InputError(f"--labels {text!r} holds an empty label.", "leave out the comma that is too many.")
    if len(names) < 2:
        raise InputError("--labels holds fewer than two labels.", "name every possible answer.")
    return names, source


def _labels_in(data: Path, name: str) -> list[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        texts = pc.unique(_read(data, name).cast(pa.string())).to_pylist()
        names = [text for text in texts if text not in (None, "")]
    except pa.ArrowException:
        raise DataError(f"the column {name!r} holds no labels.", "name a column of texts or numbers.") from None
    if not 2 <= len(names) <= _MOST_LABELS:
        sample = ", ".join(names[:5])
        raise DataError(
            f"the column {name!r} holds {len(names):,} different values{row_value(f' ({sample}, ...)', '')}; "
            f"categories have 2 to {_MOST_LABELS:,}.",
            "name the possible values: --labels a,b,c; or a range of numbers: --numbers 18..99:5.",
        )
    for value in names:
        if reason := invisible_character(value):
            raise DataError(
                f"a label in the column {name!r}{row_value(f', {plain(value)!r},', '')} has {reason}.",
                "take such characters out of the column: released tables would hold them.",
            )
    return sorted(names)


def _check_numbers(data: Path, name: str, space: Space) -> None:
    """Refuse a column of times, also as numbers since 1970 outside the range."""
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


def split_values(
    columns: Sequence[str], labels: Sequence[str], numbers: Sequence[str]
) -> list[tuple[str | None, str | None]]:
    """Return ``--labels`` and ``--numbers`` of each column.

    An option may name its columns: ``age=18..97:5;income=0..9``; with several columns ``--numbers`` must.
    Other ``--labels`` go to the columns that are left, in order.
    """
    pairs: dict[str, dict[str, str]] = {"--labels": {}, "--numbers": {}}
    rest: dict[str, list[str]] = {"--labels": [], "--numbers": []}
    for name, arguments in (("--labels", labels), ("--numbers", numbers)):
        for text in (part for entry in arguments for part in _split_columns(entry, columns)):
            column, values = _split_name(name, text, columns)
            if column is None:
                rest[name].append(values)
            elif column in pairs[name]:
                raise InputError(f"{name} names the column {column!r} twice.", "give its values once.")
            else:
                pairs[name][column] = values
    left = [column for column in columns if column not in pairs["--labels"] and column not in pairs["--numbers"]]
    if len(columns) == 1:
        for name, texts in rest.items():
            count = len(texts) + len(pairs[name])
            if count > 1:
                raise InputError(f"{count} {name} were given for 1 --column.", "give the column one.")
            pairs[name] |= dict(zip(columns, texts, strict=False))
    elif rest["--numbers"]:
        text = rest["--numbers"][0]
        raise InputError(
            f"--numbers {text} does not say which of the {len(columns)} columns it is for.",
            f"name the column: --numbers {shlex.quote(f'{(left or columns)[0]}={text}')}.",
        )
    elif rest["--labels"]:
        if len(left) != len(rest["--labels"]):
            raise InputError(
                f"{len(rest['--labels'])} --labels were given for {len(left)} --column.",
                f"give each column its own, in order, or name the column: --labels {columns[0]}=flu,cold.",
            )
        pairs["--labels"] |= dict(zip(left, rest["--labels"], strict=True))
    return [(pairs["--labels"].get(column), pairs["--numbers"].get(column)) for column in columns]


def _split_columns(text: str, columns: Sequence[str]) -> list[str]:
    """Return the parts of an option that begin with a column's name, after ";" or "," outside double quotes."""
    names = sorted(columns, key=len, reverse=True)
    begins = rf"(?:{'|'.join(map(re.escape, names))})="
    if not re.match(begins, text):
        return [text]
    parts = re.split(rf'\s*[;,]\s*(?={begins})(?=(?:[^"]*"[^"]*")*[^"]*$)', text)
    heads = [part.partition("=")[0] for part in parts]
    return parts if len(set(heads)) == len(heads) else [text]


def circles_of(columns: Sequence[str], circular: Sequence[str]) -> dict[str, int]:
    """Return the length of the circle of each column that ``--circular`` gives one."""
    lengths: dict[str, int] = {}
    for text in circular:
        column, length = _split_name("--circular", text, columns)
        if column is None and len(columns) > 1:
            raise InputError(
                f"--circular {text} does not say which of the {len(columns)} columns it is for.",
                f"name the column: --circular {shlex.quote(f'{columns[0]}={text}')}.",
            )
        column = column or columns[0]
        if re.fullmatch(r"\s*[0-9]{1,16}\s*", length) is None or int(length) < 2:
            raise InputError(
                f"--circular {text} is not the length of a circle.", "use a whole number such as 24 for hours."
            )
        if column in lengths:
            raise InputError(f"--circular names the column {column!r} twice.", "give its circle once.")
        lengths[column] = int(length)
    return lengths


def _split_name(option_name: str, text: str, columns: Sequence[str]) -> tuple[str | None, str]:
    """Return the column that a text begins with (None for none), and the rest."""
    column = max((name for name in columns if text.startswith(f"{name}=")), key=len, default=None)
    if column is not None:
        values = text.removeprefix(f"{column}=")
        if re.search(rf"[;,]\s*{re.escape(column)}=", values):
            raise InputError(
                f"{option_name} {text} names the column {column!r} more than once.",
                "write its name once, in front of the first label",
                "if the labels begin like this, write them into a text file, one on each line: --labels FILE.",
            )
        return column, values
    other, sign, _ = text.partition(",")[0].partition("=")
    if not (other and sign) or ("," not in text and os.path.isfile(text)):
        return None, text
    near = next(iter(get_close_matches(other, columns, 1)), columns[0])
    raise InputError(
        f"{option_name} {text} begins with {other!r}, which is none of the columns: "
        f"{', '.join(map(repr, columns))}.",
        f"name a column: {option_name} {shlex.quote(f'{near}={text[len(other) + 1 :]}')}.",
        "if labels hold '=', write them into a text file, one on each line: --labels FILE."
        if option_name == "--labels"
        else "",
    )
