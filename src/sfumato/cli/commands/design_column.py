"""``sfumato design-column``: private answers to a column of categories or numbers, or to several."""

from __future__ import annotations

import csv
import os
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import typer

from ...errors import DataError, InputError, row_value
from ...escaping import invisible_character, plain
from ..audit_knowledge import family_promise, metric_from
from ..design_output import write_column
from ..mechanism_files import Reporting, file_name
from ..messages import PARTIAL, StopOnInterrupt, option, progress_line, say
from ..options import ColumnOptions, options_of
from ..outputs import check_drawable, check_ending, check_folder, check_outputs, picture_of
from ..place_options import promise_of
from .design import solver_of

if TYPE_CHECKING:
    from ...core import DesignGuarantee, Mechanism, Metric, MetricPrivacy, Prior, Space
    from ...optimal import RobustDesign

_SURVEY: Final = 10_000  # answers that the accuracy is stated for
_RANGE: Final = re.compile(r"\s*([-+]?\d{1,16})\s*\.\.\s*([-+]?\d{1,16})\s*(?::\s*(\d{1,16}))?\s*")
_MOST_LABELS: Final = 1_000


@options_of(ColumnOptions)
def command(options: ColumnOptions) -> None:
    """Design private answers for a column of a table.

    Several columns divide epsilon (--split), each with a mechanism file in a folder.
    Without --labels or --numbers, the possible values are read from the table.
    Exit code 3 if the optimum was not reached. More: docs/how-to/categories.md.
    """
    from ...optimal import design
    from ...reports import check_drawn
    from ..robust_design import check_alone, design_worst, priors_in_rows, priors_of_column

    columns, epsilon, split = options.column, options.epsilon or "", options.split
    options.check_family()
    if not epsilon and options.family is None:
        raise InputError("--epsilon is missing.", "write --epsilon 1, or 0.1/year for numbers.")
    if len(set(columns)) < len(columns):
        raise InputError("--column names a column twice.", "name each once.")
    if split is not None and len(columns) == 1:
        raise InputError("--split was given with one column.", "leave it out, or name more columns.")
    if options.priors is not None:
        check_alone(options, ("family", "prior"))
        if len(columns) > 1:
            raise InputError(f"--priors was given with {len(columns)} columns.", "design one column at a time.")
    values = split_values(columns, options.labels or (), options.numbers or ())
    circles = circles_of(columns, options.circular or ())
    joint, count, folder = split == "joint", len(columns), None
    if options.distances is None:
        options.refuse(("asymmetric",), "was given without a file of distances.", "add --distances FILE.")
    elif count > 1:
        raise InputError("--distances was given with several columns.", "design one column at a time.")
    elif not epsilon:
        raise InputError("--distances was given without --epsilon, which it is for.", "add --epsilon 1.")
    elif values[0] == (None, None):
        raise InputError(
            "--distances was given without the order of its rows.", "name the values: --labels a,b,c."
        )
    if joint or count == 1:
        check_ending(options.output, ".sfm")
        targets = [options.output or Path("mechanism.sfm" if joint else file_name(columns[0]))]
    else:
        folder = options.output or Path("mechanisms")
        if folder.suffix.lower() == ".sfm":
            raise InputError(
                f"the output {str(folder)!r} is a file, but {count} columns that divide epsilon have one each.",
                f"name a folder, such as {folder.stem}, or make one file of all columns: --split joint.",
            )
        check_folder(folder)
        targets = [folder / file_name(name) for name in columns]
    reporting = Reporting.of(options)
    if len(targets) > 1:
        alone = ("family", "report", "require", "frontier_time", "figure", "dark")
        options.refuse(alone, "is for one mechanism.", "use sfumato report for each file.")
    if options.figure is None:
        options.refuse(("dark",), "was given, but no figure is drawn.", "add --figure bars.png.")
    else:
        picture_of(options, options.figure)
        check_drawable()
    outputs = [*targets, *(path.with_suffix(".md") for path in targets), reporting.path, options.figure]
    if folder is None:
        check_outputs(outputs, [options.table])
    # With --distances the epsilon counts per unit of the file, which is not that of the numbers.
    rates = ("" if options.distances else epsilon, options.attribute_epsilon or "")
    unit = next(filter(None, (rate.partition("/")[2].strip() for rate in rates)), "")
    secrets = [
        column_of(options.table, name, labels, numbers, unit, circles.get(name))
        for name, (labels, numbers) in zip(columns, values, strict=True)
    ]
    parts: Sequence[str | float] = [epsilon]
    if joint:
        secrets = [joint_of(secrets)]
    elif len(columns) > 1:
        parts = _parts(epsilon, split or "even", len(columns))
    reporting.check_radii(secrets[0].space)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        check_outputs(outputs, [options.table])
    if options.figure is not None:
        check_drawn(secrets[0].space)
    is_finished = True
    for column, part, target in zip(secrets, parts, targets, strict=True):
        guarantee = promise_for(column, part, options.distances, asymmetric=options.asymmetric) if part else None
        loss = _loss(column, options.loss)
        guarantees: list[DesignGuarantee] = [] if guarantee is None else [guarantee]
        in_rows = partial(priors_in_rows, options, column.name, column.space, name="--family")
        guarantees += family_promise(options, column.space, _loss(column, "euclidean"), in_rows)
        robust: RobustDesign | None = None
        names: tuple[str, ...] = ()
        if options.priors is not None:
            several = priors_of_column(options, column.name, column.space, loss)
            robust = design_worst(several, guarantees, options)
            source, names, result = several.source, tuple(several.priors), robust.design
        else:
            prior, source = prior_from_data(column, options.table, options.prior)
            with StopOnInterrupt() as stop, progress_line("") as report:
                result = design(
                    prior,
                    loss=loss,
                    guarantees=guarantees,
                    objective=options.objective,
                    pairs=options.pairs,
                    gap=options.gap,
                    solver=solver_of(options),
                    time_limit=options.time_limit,
                    stop=stop,
                    progress=report,
                )
        remarks = _remarks(result.mechanism, guarantee, options.loss)
        is_finished &= write_column(
            result,
            f"{source} ({column.labels})",
            target,
            remarks=remarks,
            reporting=reporting,
            options=options,
            robust=robust,
            names=names,
        )
    if len(columns) > 1:
        if joint:
            of = f" of {epsilon}" if epsilon else ""
            say(f"The {len(columns)} columns of a person are one secret, with one epsilon{of}.")
        else:
            say(f"Together the {len(columns)} columns of one person spend at most epsilon {epsilon}.")
        flags, files = " ".join(f"--column {shlex.quote(name)}" for name in columns), str(folder or targets[0])
        say(f"Release them in one run: sfumato release {shlex.quote(files)} TABLE OUTPUT {flags}")
    if not is_finished:
        raise typer.Exit(PARTIAL)


def promise_for(
    column: Column, epsilon: str | float, distances: Path | None = None, *, asymmetric: bool = False
) -> MetricPrivacy:
    """Return the guarantee of ``--epsilon``: by distances, for any two values, or per unit of numbers."""
    from ...core import NumberBins, hamming

    space = column.space
    if distances is not None:
        unit = str(epsilon).partition("/")[2].strip()
        return promise_of(epsilon, metric_from(distances, space, unit, asymmetric=asymmetric), "--epsilon")
    if not (isinstance(epsilon, str) and "/" in epsilon):
        return promise_of(epsilon, hamming(space), "--epsilon")
    if not isinstance(space, NumberBins):
        raise InputError(
            f"--epsilon {epsilon} is per unit, but categories have no distances.",
            "write a pure number: --epsilon 1.",
        )
    if space.width > 1:
        last = space.first + space.width * len(space) - 1
        raise InputError(
            f"--epsilon {epsilon} is per unit, but numbers in neighbouring bins can be nearer than the bins are.",
            f"write a pure number, or take bins of one: --numbers {space.first}..{last}.",
        )
    return promise_of(epsilon, space.metric("absolute"), "--epsilon")


def _loss(column: Column, kind: str) -> Metric:
    from ...core import NumberBins, hamming

    ordered = isinstance(column.space, NumberBins)
    if kind == "hamming" or (kind == "euclidean" and not ordered):
        return hamming(column.space)
    if ordered and kind in ("euclidean", "absolute"):
        return column.space.metric("absolute")
    raise InputError(
        f"--loss {kind} is not one of {'numbers' if ordered else 'categories'}.",
        "use absolute or hamming." if ordered else "use hamming, or name a range: --numbers 18..99.",
    )


def _parts(epsilon: str, split: str, count: int) -> list[float]:
    """Return the epsilon of each column, rounded down."""
    from ...rounding import float_below

    shares = [Fraction(1, count)] * count if split == "even" else []
    if not shares:
        with suppress(ValueError, ZeroDivisionError):
            shares = [Fraction(part.strip()) for part in split.split(",")]
    if len(shares) != count or min(shares) <= 0 or sum(shares) != 1:
        raise InputError(
            f"--split {split!r} does not divide epsilon among {count} columns.",
            f"write {count} shares with sum 1, such as {','.join(['1/' + str(count)] * count)}",
            "use even, or joint for one joint space.",
        )
    try:
        whole = Fraction(epsilon.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"--epsilon {epsilon} cannot be divided among columns.", "write a pure number: --epsilon 1."
        ) from None
    return [float_below(whole * share) for share in shares]


def _remarks(mechanism: Mechanism, guarantee: MetricPrivacy | None, loss: str) -> list[str]:
    import numpy as np

    from ...estimation import accuracy, identifiability
    from ...mechanisms import RandomisedResponse

    known, k = identifiability(mechanism), len(mechanism.secrets)
    if (
        guarantee is not None
        and known.complete
        and guarantee.for_any_two
        and 1e-6 <= guarantee.epsilon <= 40
        and k > 1
    ):
        p, q = RandomisedResponse(mechanism.secrets, guarantee.epsilon).support
        response = q + (p - q) * np.eye(k)
        if mechanism.shape == (k, k) and np.allclose(mechanism.matrix, response, rtol=1e-9, atol=0):
            known_within = accuracy(k, epsilon=guarantee.epsilon, answers=_SURVEY).sentences[0]
            return [f"For example: {known_within[:1].lower()}{known_within[1:]}"]
    if known.least_reports <= _SURVEY:
        return []
    return [f"{known}{' To estimate shares, design with --loss hamming.' if loss != 'hamming' else ''}"]


class Column(NamedTuple):
    """A column to make private, its possible values and their source in words."""

    name: str
    space: Space
    labels: str
    columns: tuple[str, ...] = ()  # that it combines


def column_of(
    data: Path | None,
    name: str,
    labels: str | None,
    numbers: str | None,
    unit: str = "",
    circle: int | None = None,
) -> Column:
    """Return a column with the values of ``--labels`` or ``--numbers``; warn where they are read from the data."""
    from ...core import Space
    from ...tables import check_seen

    if labels is not None and numbers is not None:
        raise InputError(
            "--labels and --numbers were both given.", "name the categories, or the range of numbers."
        )
    if numbers is not None:
        space = _number_bins(numbers, unit, circle)
        if data is not None:
            _check_numbers(data, name, space)
        around = "" if circle is None else f" around a circle of {circle}"
        return Column(name, space, f"numbers {numbers.strip()}{around}, as given")
    if circle is not None:
        raise InputError(f"--circular {circle} was given without --numbers.", "name the range: --numbers 0..23.")
    if labels is not None:
        names, source = _labels_of(labels)
        with option("--labels"):
            check_seen(names, "label")
            return Column(name, Space(names), source)
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
    return Column(name, Space(values), f"labels read from {data.name}, which are seen in the file")


def joint_of(columns: Sequence[Column]) -> Column:
    """Return several columns as one, whose values are their combinations."""
    from ...core import JointSpace

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

    from ...core import Prior
    from ...releases import positions_in

    if kind == "uniform":
        return Prior.uniform(column.space), "all values equally likely, independent of the data"
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
    left = len(positions) - len(inside)
    say(
        "Warning: with --prior data the mechanism file holds the shares of the data, which no epsilon covers: "
        "keep it as secret as the data.",
        err=True,
    )
    text = f"shares in {data.name}" + (f"; {left:,} rows with other values are left out" if left else "")
    return Prior.from_counts(column.space, np.bincount(inside, minlength=len(column.space))), text


def _number_bins(text: str, unit: str, circle: int | None) -> Space:
    from ...core import NumberBins

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

    from ...releases import positions_in
    from ...tables import read_columns, times

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
    from ...tables import read_columns

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
