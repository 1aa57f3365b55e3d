"""``sfumato report``: the document of a mechanism file, to read, to sign and to keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..._system import owner_only_like
from ...errors import InputError
from ..mechanism_files import among_others, check_report, check_time, command_line, exit_code, read_required
from ..messages import say
from ..options import (
    FrontierTime,
    KeyFile,
    Latitude,
    Longitude,
    Outline,
    People,
    SfmFile,
    SkipDamaged,
    User,
    UserColumn,
    VisitsOptions,
)
from ..outputs import check_outputs


def command(
    file: SfmFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the report here: a page (.html) or JSON (.json). [default: report.html]"
        ),
    ] = None,
    visits: Annotated[
        Path | None,
        typer.Option(
            help="A file of visits: cost, attackers and risks are then about the true points. 'city' "
            "names those of the built-in city."
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(help="A limit: 'within 1850 ft: at most 50 %', or as for audit, 'epsilon <= 0.7/km'."),
    ] = None,
    sweep: Annotated[
        Path | None, typer.Option(help="The table of 'sfumato sweep' to show this design among others.")
    ] = None,
    frontier_time: FrontierTime = 60.0,
    outline: Outline = None,
    source: Annotated[str, typer.Option(help="Where the prior comes from, in a few words.")] = "",
    why: Annotated[str, typer.Option(help="Why this epsilon, in a sentence.")] = "",
    ledger: Annotated[str | None, typer.Option(help="The ledger of budgets, for limits and spending.")] = None,
    key_file: KeyFile = None,
    registry: Annotated[
        Path | None, typer.Option(help="Write an entry for the registry of deployments here (.yaml).")
    ] = None,
    user: User = None,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
    people: People = None,
    skip_damaged: SkipDamaged = False,
) -> None:
    """Write the report of a mechanism, as a page or JSON.

    Every guarantee of the file is proved again; claims of its writer are not used. Exit code 0 if all guarantees,
    linear constraints and requirements hold, 1 if one fails, 3 if one is not decided.
    """
    from ...files import read_mechanism_file
    from ...reports.document import SECONDS, Origin, report
    from ...reports.maps import outline as read_outline
    from ..place_options import optional_visits
    from .ledger import open_ledger

    target = output or Path("report.html")
    check_report(target)
    if registry is not None and registry.suffix.lower() != ".yaml":
        raise InputError(
            f"the entry {str(registry)!r} does not end in .yaml.", f"write it as {registry.stem}.yaml."
        )
    check_outputs([target, *([] if registry is None else [registry])], [file, visits, sweep, outline])
    check_time(frontier_time)
    requirements = read_required(require)
    content = read_mechanism_file(file)
    columns = VisitsOptions(lat=lat, lon=lon, user_column=user_column, people=people, skip_damaged=skip_damaged)
    read = optional_visits(visits, user, columns)
    if read is not None and user is not None:
        read = read.of_user(user)
    books = None if ledger is None else open_ledger(ledger, key_file)
    land = None if outline is None else read_outline(outline)
    seconds = None if frontier_time == SECONDS or sweep is not None else frontier_time
    words = (tuple(require or ()), source, why, ledger or "", user or "")
    how: Any = {"frontier_time": seconds, "command": command_line(), "skip_damaged": skip_damaged}
    origin = Origin(file, visits, sweep, outline, *words, **how)
    with among_others(frontier_time, "Proving, attacking and measuring") as designs:
        document = report(
            content,
            visits=read,
            require=requirements,
            sweep=sweep,
            designs=designs,
            origin=origin,
            outline=land,
            ledger=books,
        )
        with owner_only_like(file):
            if registry is not None:  # refused before anything is written
                document.save(registry)
            document.save(target)
    for sentence in document.sentences:
        say(sentence)
    say(f"Written: {target}")
    if registry is not None:
        say(f"Written: {registry}. Replace every text that begins with FILL IN before you submit it.")
    code = exit_code(document.outcome)
    if code:
        raise typer.Exit(code)
