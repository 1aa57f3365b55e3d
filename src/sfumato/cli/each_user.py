"""``sfumato design --each-user``: a folder with a mechanism file for each user, made over processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ..errors import InputError
from .design_options import DesignOptions
from .messages import PARTIAL, option, say
from .options import DEFAULT_EPSILON, LEAST_VISITS
from .outputs import check_folder
from .places import name_of, visits_from
from .progress import StopOnInterrupt, designs_line
from .sites import POINTS_GAP

if TYPE_CHECKING:
    from ..files.many import DesignFolder, DesignNews, DesignRow

_OF_ONE: Final = (
    "report",
    "frontier_time",
    "require",
    "within",
    "distortion",
    "max_loss",
    "attacker_finds",
    "objective",
    "metric",
    "cell",
    "cells",
    "hexagons",
    "population",
    "user",
    "held_out",
    "outline",
    "figure",
    "dark",
    "solver",
    "checkpoints",
    "pairs",
    "bound_time",
    "keep",
)

_OWN: Final = (
    "Each mechanism is made of its user's own visits. Its region, its lattice and the places that it reports tell "
    "of them; this is a second release, which no promise here covers. With one --region and --spacing for all, "
    "only the reported places do. Keep the folder as secret as the visits."
)


def design_each_user(asked: DesignOptions) -> None:
    """Design for each user of a table of visits, and print what became of it.

    Args:
        asked: The options.

    Raises:
        InputError: If options do not fit each other.
    """
    from .. import design_each_user as design
    from ..core import CoordinatePrivacy
    from ..geo import Region
    from ..optimal.structured import cores
    from ..rounding import counted

    asked.refuse(_OF_ONE, "was given with --each-user, but it is for one design.", "leave one of them out.")
    output, processes = asked.output, asked.processes
    if processes is not None and processes < 1:
        raise InputError(f"--processes {processes} does no work.", "use at least 1.")
    if output is not None and output.suffix:
        raise InputError(
            f"--output {str(output)!r} looks like a file, but --each-user writes a folder.", "name a folder."
        )
    folder = output or Path(f"{name_of(asked.visits)}-designs")
    check_folder(folder)
    with option("--epsilon"):
        promise = CoordinatePrivacy(asked.epsilon or DEFAULT_EPSILON)
    with option("--region"):
        area = None if asked.region is None else Region.parse(asked.region)
    found, _ = visits_from(
        asked.visits, asked.lat, asked.lon, asked.user_column, asked.people, skip_damaged=asked.skip_damaged
    )
    shape: Any = asked.lattice
    least = LEAST_VISITS if asked.least_visits is None else asked.least_visits
    with StopOnInterrupt() as stop, designs_line() as progress:

        def told(news: DesignNews) -> None:
            progress(news)
            if news.row is None:
                say(f"{news.name}: no design: {news.reason}", err=True)

        made = design(
            found,
            folder,
            epsilon=asked.epsilon or DEFAULT_EPSILON,
            spacing=asked.spacing,
            lattice=shape,
            region=area,
            near=asked.near,
            loss=asked.loss,
            smoothing=asked.smoothing,
            least_visits=least,
            gap=POINTS_GAP if asked.gap is None else asked.gap,
            time_limit=asked.time_limit,
            processes=processes or cores(),
            stop=stop,
            progress=told,
        )
    rows = list(made.rows.values())
    if rows:
        slack = max(row.slack_m for row in rows)
        kept = CoordinatePrivacy(promise.epsilon, promise.unit, slack)
        say(f"{counted(len(rows), 'design')}. Each promises: {kept.sentence('that are served')}.")
        for sentence in _losses(rows):
            say(sentence)
        say(_OWN)
    for sentence in _short(made, least):
        say(sentence)
    say(f"Written: {folder} ({made.made:,} new, {len(rows) - made.made:,} that were there)")
    if made.failed:
        raise typer.Exit(1)
    if not made.finished:
        raise typer.Exit(PARTIAL)


def _losses(rows: list[DesignRow]) -> list[str]:
    from ..rounding import amount_at_most, counted

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


def _short(made: DesignFolder, least_visits: int) -> list[str]:
    from ..rounding import counted

    said = []
    if made.few:
        said.append(
            f"{counted(made.few, 'user')} with fewer than {least_visits:,} visits (--least-visits): no design. "
            "sfumato release refuses their rows: leave them out of the table."
        )
    short = [name for name, row in made.rows.items() if not row.finished]
    if short:
        said.append(f"NOT FINISHED: {counted(len(short), 'design')} did not reach the gap: {_named(short)}.")
    if made.failed:
        said.append(f"NO DESIGN for {counted(len(made.failed), 'user')}: {_named(list(made.failed))}.")
    if made.waiting:
        said.append(f"STOPPED: {counted(made.waiting, 'design')} not begun. The same command goes on.")
    return said


def _named(names: list[str]) -> str:
    shown = 20
    more = f", and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
