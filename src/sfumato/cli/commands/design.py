"""``sfumato design``: a proved mechanism from places, with its file and a report; with ``--each-user`` many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ...errors import InputError
from ..design_columns import design_columns
from ..design_places import design_places
from ..messages import PARTIAL, option, say
from ..options import DEFAULT_EPSILON, LEAST_VISITS, DesignOptions, options_of
from ..outputs import check_folder
from ..place_options import POINTS_GAP, name_of, region_of, visits_of
from ..progress import StopOnInterrupt, working

if TYPE_CHECKING:
    from ...files.many import DesignFolder, DesignNews, DesignRow

_OF_ONE: Final = (
    *("report", "frontier_time", "require", "within", "distortion", "max_loss", "attacker_finds", "objective"),
    *("metric", "cell", "cells", "hexagons", "population", "user", "held_out", "outline", "figure", "dark"),
    *("solver", "checkpoints", "pairs", "bound_time", "keep"),
)

_LEAKAGE: Final = (
    "Each mechanism is made of its user's own visits. Its region, its lattice and the places that it reports tell "
    "of them; this is a second release, which no promise here covers. With one --region and --spacing for all, "
    "only the reported places do. Keep the folder as secret as the visits."
)


@options_of(DesignOptions)
def command(options: DesignOptions) -> None:
    """Design the mechanism of least loss, and prove it.

    The privacy is what the options ask for; without any it is an epsilon of 1/km, for any
    two points wherever they are. Points are rounded at random to a lattice, whose spacing
    is chosen and said. With --cell, --cells or --hexagons there are cells instead, and the
    promise is about their centres.
    Writes the mechanism file (.sfm), a report (.md) and maps (.png); files of these names
    are replaced. The mechanism file holds the prior: anyone with it can see how often each
    place is visited, and with --distortion also where the visits were. Exit code 3 if the optimum was not reached.
    With --region and no visits the design is for points spread evenly, and depends on no one's data.
    With --each-user there is a mechanism file for each user, in a folder that 'sfumato release --by' takes.
    """
    if options.column:
        design_columns(options, options.column)
        return
    options.refuse(
        ("labels", "numbers", "circular", "split", "prior"), "was given without --column.", "name the column."
    )
    if options.each_user:
        _design_each_user(options)
        return
    options.refuse(
        ("least_visits", "processes"), "was given without --each-user.", "add --each-user, or leave it out."
    )
    design_places(options)


def _design_each_user(options: DesignOptions) -> None:
    """Design for each user of a table of visits, and print the results."""
    from ... import design_each_user
    from ...core import CoordinatePrivacy
    from ...optimal import cores
    from ...rounding import counted

    options.refuse(_OF_ONE, "was given with --each-user, but it is for one design.", "leave one of them out.")
    output, processes = options.output, options.processes
    if processes is not None and processes < 1:
        raise InputError(f"--processes {processes} does no work.", "use at least 1.")
    if output is not None and output.suffix:
        raise InputError(
            f"--output {str(output)!r} looks like a file, but --each-user writes a folder.", "name a folder."
        )
    folder = output or Path(f"{name_of(options.visits)}-designs")
    check_folder(folder)
    with option("--epsilon"):
        promise = CoordinatePrivacy(options.epsilon or DEFAULT_EPSILON)
    area = region_of(options.region)
    visits, _ = visits_of(options)
    shape: Any = options.lattice
    least = LEAST_VISITS if options.least_visits is None else options.least_visits
    heading = "Designing (Ctrl-C ends after the running designs; a second one ends at once)"
    with StopOnInterrupt() as stop, working(heading) as update:

        def report(news: DesignNews) -> None:
            update(
                f"{news.done:,} of {news.total:,} designs, {news.per_minute:,.1f} a minute, "
                f"{news.seconds_left / 60:,.0f} min left"
            )
            if news.row is None:
                say(f"{news.name}: no design: {news.reason}", err=True)

        designs = design_each_user(
            visits,
            folder,
            epsilon=options.epsilon or DEFAULT_EPSILON,
            spacing=options.spacing,
            lattice=shape,
            region=area,
            near=options.near,
            loss=options.loss,
            smoothing=options.smoothing,
            least_visits=least,
            gap=POINTS_GAP if options.gap is None else options.gap,
            time_limit=options.time_limit,
            processes=processes or cores(),
            stop=stop,
            progress=report,
        )
    rows = list(designs.rows.values())
    if rows:
        slack = max(row.slack_m for row in rows)
        weakest = CoordinatePrivacy(promise.epsilon, promise.unit, slack)
        say(f"{counted(len(rows), 'design')}. Each promises: {weakest.sentence('that are served')}.")
        for sentence in _losses(rows):
            say(sentence)
        say(_LEAKAGE)
    for sentence in _unfinished(designs, least):
        say(sentence)
    say(f"Written: {folder} ({designs.made:,} new, {len(rows) - designs.made:,} that were there)")
    if designs.failed:
        raise typer.Exit(1)
    if not designs.finished:
        raise typer.Exit(PARTIAL)


def _losses(rows: list[DesignRow]) -> list[str]:
    from ...rounding import amount_at_most, counted

    noise = sum(row.kind == "noise" for row in rows)
    losses = sorted(row.loss for row in rows)
    unit = rows[0].unit
    half, most = losses[(len(losses) - 1) // 2], losses[-1]
    return [
        f"{counted(len(rows) - noise, 'program')}, and planar noise for {counted(noise, 'user')}, where it loses "
        "less.",
        f"Half of the users appear at most {amount_at_most(half, unit)} from where they are on average, "
        f"and all at most {amount_at_most(most, unit)}.",
    ]


def _unfinished(designs: DesignFolder, least_visits: int) -> list[str]:
    from ...rounding import counted

    sentences = []
    if designs.few:
        sentences.append(
            f"{counted(designs.few, 'user')} with fewer than {least_visits:,} visits (--least-visits): no design. "
            "sfumato release refuses their rows: leave them out of the table."
        )
    short = [name for name, row in designs.rows.items() if not row.finished]
    if short:
        sentences.append(f"NOT FINISHED: {counted(len(short), 'design')} did not reach the gap: {_listed(short)}.")
    if designs.failed:
        sentences.append(f"NO DESIGN for {counted(len(designs.failed), 'user')}: {_listed(list(designs.failed))}.")
    if designs.waiting:
        sentences.append(f"STOPPED: {counted(designs.waiting, 'design')} not begun. The same command goes on.")
    return sentences


def _listed(names: list[str]) -> str:
    shown = 20
    more = f", and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
