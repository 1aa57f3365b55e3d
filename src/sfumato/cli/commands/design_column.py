"""``sfumato design-column``: private answers to a column of categories or numbers, or to several."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ...errors import InputError
from ..column_options import (
    Column,
    check_rate,
    circles_of,
    column_of,
    joint_of,
    prior_from_data,
    promise_for,
    split_values,
)
from ..design_output import group_sentences, write_column
from ..mechanism_files import Reporting, file_name
from ..messages import PARTIAL, StopOnInterrupt, progress_line, say
from ..options import ColumnOptions, options_of
from ..outputs import check_drawable, check_ending, check_folder, check_outputs, picture_of
from .design import solver_of

if TYPE_CHECKING:
    from ...core import DesignGuarantee, Mechanism, Metric, MetricPrivacy
    from ...optimal import RobustDesign

_SURVEY: Final = 10_000  # answers that the accuracy is stated for


@options_of(ColumnOptions)
def command(options: ColumnOptions) -> None:
    """Design private answers for a column of a table.

    Several columns divide epsilon (--split), each with a mechanism file in a folder.
    Without --labels or --numbers, the possible values are read from the table.
    Exit code 3 if the optimum was not reached. More: docs/how-to/categories.md.
    """
    from ...optimal import design
    from ...reports import check_drawn
    from ..robust_design import check_alone, design_worst, family_promise, priors_in_rows, priors_of_column

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
        options.refuse(("family",), "is for one mechanism.", "design one column at a time, or use --split joint.")
        alone = ("report", "require", "frontier_time", "figure", "dark")
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
        if "/" in (rate := options.attribute_epsilon or ""):
            check_rate(column.space, rate, "--attribute-epsilon")
        in_rows = partial(priors_in_rows, options, column, name="--family")
        families, groups = family_promise(options, column.space, _loss(column, "euclidean"), in_rows)
        guarantees += families
        robust: RobustDesign | None = None
        names: tuple[str, ...] = ()
        if options.priors is not None:
            several = priors_of_column(options, column, loss)
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
        remarks = [
            *group_sentences(result.mechanism, groups),
            *_remarks(result.mechanism, guarantee, options.loss),
        ]
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
