"""``sfumato design-users``: a mechanism for each user of a table, from their own visits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...errors import InputError
from ..messages import PARTIAL, StopOnInterrupt, option, say, working
from ..options import DEFAULT_EPSILON, LatticeOptions, options_of
from ..outputs import check_folder
from ..place_options import POINTS_GAP, name_of, region_of, visits_of

if TYPE_CHECKING:
    from ...files.many import DesignFolder, DesignNews

_LEAKAGE: Final = (
    "Each mechanism is made of its user's own visits. Its region, its lattice and its reported places depend on "
    "them: a second release, which no guarantee here covers. With one --region and --spacing for all, only the "
    "reported places do. Keep the folder as secret as the visits."
)
_MOST_NAMES: Final = 20


@dataclass(frozen=True, kw_only=True)
class DesignUsersOptions(LatticeOptions):
    """The options of ``sfumato design-users``."""

    epsilon: Annotated[str, typer.Option(help="The epsilon to guarantee each user.")] = DEFAULT_EPSILON
    least_visits: Annotated[int, typer.Option(help="Leave out users with fewer visits in the region.")] = 20
    processes: Annotated[int | None, typer.Option(help="Worker processes. [default: one for each core]")] = None
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder. [default: VISITS-designs]")
    ] = None


@options_of(DesignUsersOptions)
def command(options: DesignUsersOptions) -> None:
    """Design a mechanism for each user, from their own visits.

    'sfumato release --by' takes the folder. After an interruption the same command goes on.
    Exit code 1 if a user has no design, 3 if a design was not finished.
    """
    from ... import design_each_user
    from ...core import CoordinatePrivacy
    from ...optimal import cores
    from ...rounding import amount_at_most, plural

    output, processes = options.output, options.processes
    if processes is not None and processes < 1:
        raise InputError(f"--processes {processes} does no work.", "use at least 1.")
    if output is not None and output.suffix:
        raise InputError(f"--output {str(output)!r} looks like a file.", "name a folder.")
    folder = output or Path(f"{name_of(options.visits)}-designs")
    check_folder(folder)
    with option("--epsilon"):
        promise = CoordinatePrivacy(options.epsilon)
    area = region_of(options.region)
    visits, _ = visits_of(options.visits, options)
    shape: Any = options.lattice
    heading = "Designing (Ctrl-C ends after the running designs; a second one ends at once)"
    with StopOnInterrupt() as stop, working(heading) as update:

        def report(news: DesignNews) -> None:
            update(
                f"{news.count:,} of {news.total:,} designs, {news.per_minute:,.1f} a minute, "
                f"{news.seconds_left / 60:,.0f} min left"
            )
            if news.row is None:
                say(f"{news.name}: no design: {news.reason}", err=True)

        designs = design_each_user(
            visits,
            folder,
            epsilon=options.epsilon,
            spacing=options.spacing,
            lattice=shape,
            region=area,
            near=options.near,
            loss=options.loss,
            smoothing=options.smoothing,
            least_visits=options.least_visits,
            gap=POINTS_GAP if options.gap is None else options.gap,
            time_limit=options.time_limit,
            processes=processes or cores(),
            stop=stop,
            progress=report,
        )
    rows = list(designs.rows.values())
    if rows:
        weakest = CoordinatePrivacy(promise.epsilon, promise.unit, max(row.slack_m for row in rows))
        say(f"{plural(len(rows), 'design')}. Each guarantees: {weakest.sentence('that are served')}.")
        noise = sum(row.kind == "noise" for row in rows)
        losses = sorted(row.loss for row in rows)
        half, most = (amount_at_most(losses[place], rows[0].unit) for place in ((len(losses) - 1) // 2, -1))
        say(f"{plural(len(rows) - noise, 'program')}, and planar noise for {plural(noise, 'user')} (lower loss).")
        say(f"Average distance to the report: at most {half} for half of the users, and at most {most} for all.")
        say(_LEAKAGE)
    _print_unfinished(designs, options.least_visits)
    say(f"Written: {folder} ({designs.additions:,} new, {len(rows) - designs.additions:,} that were there)")
    if designs.failed or not designs.is_finished:
        raise typer.Exit(1 if designs.failed else PARTIAL)


def _print_unfinished(designs: DesignFolder, least_visits: int) -> None:
    from ...core.naming import list_names
    from ...rounding import plural

    if designs.few:
        say(
            f"{plural(designs.few, 'user')} with fewer than {least_visits:,} visits (--least-visits): no design. "
            "sfumato release refuses their rows: leave them out of the table."
        )
    short = [name for name, row in designs.rows.items() if not row.finished]
    if short:
        names = list_names(short, _MOST_NAMES)
        say(f"NOT FINISHED: {plural(len(short), 'design')} did not reach the gap: {names}.")
    if designs.failed:
        say(f"NO DESIGN for {plural(len(designs.failed), 'user')}: {list_names(designs.failed, _MOST_NAMES)}.")
    if designs.waiting:
        say(f"STOPPED: {plural(designs.waiting, 'design')} not begun. The same command goes on.")
