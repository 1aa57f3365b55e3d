"""``sfumato design --column``: private answers, a mechanism file for each column."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ..errors import InputError
from .column_values import Column, circles_of, column_of, joint_of, prior_from_data, split_values
from .design_output import write_column
from .mechanism_files import file_name
from .messages import PARTIAL, say
from .options import DesignOptions
from .outputs import check_drawable, check_ending, check_folder, check_outputs, picture_of
from .place_options import promise_of
from .progress import StopOnInterrupt, progress_line
from .reporting import Reporting
from .solve import solver_of

if TYPE_CHECKING:
    from ..core import Mechanism, Metric, MetricPrivacy

_OF_PLACES: Final = (
    *("within", "distortion", "max_loss", "attacker_finds", "metric"),
    *("spacing", "lattice", "near", "cell", "cells", "hexagons", "region", "population", "user"),
    *("each_user", "least_visits", "processes", "smoothing", "held_out", "outline", "bound_time", "keep"),
    *("lat", "lon", "user_column", "people", "skip_damaged"),
)
_SURVEY: Final = 10_000  # answers that the accuracy is stated for


def design_columns(options: DesignOptions, columns: Sequence[str]) -> None:
    """Design, write and print a mechanism for each column."""
    from ..optimal import design
    from ..reports import check_drawn

    options.refuse(_OF_PLACES, "was given with --column, but it is about places.", "leave one of them out.")
    epsilon, split = options.epsilon, options.split
    if epsilon is None:
        raise InputError("--column was given without --epsilon.", "add --epsilon 1.")
    if len(set(columns)) < len(columns):
        raise InputError("--column names a column twice.", "name each once.")
    if split is not None and len(columns) == 1:
        raise InputError("--split was given with one column.", "leave it out, or name more columns.")
    values = split_values(columns, options.labels or (), options.numbers or ())
    circles = circles_of(columns, options.circular or ())
    joint = split == "joint"
    targets, folder = _targets(options.output, columns, joint=joint)
    reporting = Reporting.of(options)
    if len(targets) > 1:
        options.refuse(
            ("report", "require", "frontier_time", "figure", "dark"),
            "is for one mechanism.",
            "use sfumato report for each file.",
        )
    _check_figure(options)
    outputs = [
        *(path for each in targets for path in (each, each.with_suffix(".md"))),
        reporting.path,
        options.figure,
    ]
    if folder is None:
        check_outputs(outputs, [options.visits])
    unit = epsilon.partition("/")[2].strip()
    secrets = [
        column_of(options.visits, name, labels, numbers, unit, circles.get(name))
        for name, (labels, numbers) in zip(columns, values, strict=True)
    ]
    parts: Sequence[str | float] = [epsilon]
    if joint:
        secrets = [joint_of(secrets)]
    elif len(columns) > 1:
        parts = [_part(epsilon, share) for share in _shares(split, len(columns))]
    reporting.check_radii(secrets[0].space)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        check_outputs(outputs, [options.visits])
    if options.figure is not None:
        check_drawn(secrets[0].space)
    finished = True
    for column, part, target in zip(secrets, parts, targets, strict=True):
        prior, source = prior_from_data(column, options.visits, options.prior)
        guarantee = _promise(column, part)
        with StopOnInterrupt() as stop, progress_line("") as report:
            result = design(
                prior,
                loss=_loss(column, options.loss),
                guarantees=guarantee,
                objective=options.objective,
                pairs=options.pairs,
                gap=options.gap,
                solver=solver_of(options),
                time_limit=options.time_limit,
                stop=stop,
                progress=report,
            )
        remarks = _remarks(result.mechanism, guarantee, options.loss)
        finished &= write_column(
            result,
            f"{source} ({column.labels})",
            target,
            remarks=remarks,
            reporting=reporting,
            options=options,
        )
    for sentence in _next_steps(columns, folder or targets[0], epsilon, joint=joint):
        say(sentence)
    if not finished:
        raise typer.Exit(PARTIAL)


def _check_figure(options: DesignOptions) -> None:
    """Check before the work that the bars that are asked for can be drawn; without ``--figure`` there are none."""
    if options.figure is None:
        options.refuse(("dark",), "was given, but no figure is drawn.", "add --figure bars.png.")
        return
    picture_of(options.figure, options.figure, wanted=options.picture, dark=options.dark)
    check_drawable()


def _targets(output: Path | None, columns: Sequence[str], *, joint: bool) -> tuple[list[Path], Path | None]:
    """Return the files to write, and the folder they are in where there are several."""
    if joint or len(columns) == 1:
        check_ending(output, ".sfm")
        return [output or Path("mechanism.sfm" if joint else file_name(columns[0]))], None
    folder = output or Path("mechanisms")
    if folder.suffix.lower() == ".sfm":
        raise InputError(
            f"the output {str(folder)!r} is a file, but {len(columns)} columns that divide epsilon have one each.",
            f"name a folder, such as {folder.stem}, or make one file of all columns: --split joint.",
        )
    check_folder(folder)
    return [folder / file_name(each) for each in columns], folder


def _next_steps(columns: Sequence[str], written: Path, epsilon: str, *, joint: bool) -> list[str]:
    """Return what several columns promise together, and how they are released."""
    if len(columns) == 1:
        return []
    named = " ".join(f"--column {shlex.quote(each)}" for each in columns)
    promise = (
        f"The {len(columns)} columns of a person are one secret, with one epsilon of {epsilon}."
        if joint
        else f"Together the {len(columns)} columns of one person spend at most epsilon {epsilon}."
    )
    return [promise, f"Release them in one run: sfumato release {shlex.quote(str(written))} TABLE OUTPUT {named}"]


def _promise(column: Column, epsilon: str | float) -> MetricPrivacy:
    from ..core import NumberBins, hamming

    space = column.space
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
    from ..core import NumberBins, hamming

    ordered = isinstance(column.space, NumberBins)
    if kind == "hamming" or (kind == "euclidean" and not ordered):
        return hamming(column.space)
    if ordered and kind in ("euclidean", "absolute"):
        return column.space.metric("absolute")
    raise InputError(
        f"--loss {kind} is not one of {'numbers' if ordered else 'categories'}.",
        "use absolute or hamming." if ordered else "use hamming, or name a range: --numbers 18..99.",
    )


def _shares(split: str | None, count: int) -> list[Fraction]:
    if split is None or split == "even":
        return [Fraction(1, count)] * count
    try:
        shares = [Fraction(part.strip()) for part in split.split(",")]
    except (ValueError, ZeroDivisionError):
        shares = []
    if len(shares) != count or min(shares) <= 0 or sum(shares) != 1:
        raise InputError(
            f"--split {split!r} does not divide epsilon among {count} columns.",
            f"write {count} shares with sum 1, such as {','.join(['1/' + str(count)] * count)}",
            "use even, or joint for one joint space.",
        )
    return shares


def _part(epsilon: str, share: Fraction) -> float:
    from ..rounding import float_below

    try:
        whole = Fraction(epsilon.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"--epsilon {epsilon} cannot be divided among columns.", "write a pure number: --epsilon 1."
        ) from None
    return float_below(whole * share)


def _remarks(mechanism: Mechanism, guarantee: MetricPrivacy, loss: str) -> list[str]:
    """Return how well shares are known from reports, or that they cannot be known, or from too many only."""
    import numpy as np

    from ..estimation import accuracy, identifiability
    from ..mechanisms import RandomisedResponse

    known, k = identifiability(mechanism), len(mechanism.secrets)
    if known.complete and guarantee.metric.name == "hamming" and 1e-6 <= guarantee.epsilon <= 40 and k > 1:
        p, q = RandomisedResponse(mechanism.secrets, guarantee.epsilon).support
        response = q + (p - q) * np.eye(k)
        if mechanism.shape == (k, k) and np.allclose(mechanism.matrix, response, rtol=1e-9, atol=0):
            known_within = accuracy(k, epsilon=guarantee.epsilon, answers=_SURVEY).sentences[0]
            return [f"For example: {known_within[:1].lower()}{known_within[1:]}"]
    if known.least_reports <= _SURVEY:
        return []
    return [f"{known}{' To estimate shares, design with --loss hamming.' if loss != 'hamming' else ''}"]
