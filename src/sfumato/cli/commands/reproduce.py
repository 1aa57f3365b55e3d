"""``sfumato reproduce``: a published study done again, with its claims judged."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import InputError, MissingCompanionError
from ..messages import say
from ..options import Latitude, Longitude, People, SkipDamaged, UserColumn
from ..outputs import check_folder
from ..progress import working

if TYPE_CHECKING:
    from ...geo import Visits


def command(
    name: Annotated[str | None, typer.Argument(help="The study; without it, they are listed.")] = None,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Files of visits to run it on, each a source. By default a built-in synthetic city."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run a small case, in less than a minute.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder of the results. [default: the study's name]")
    ] = None,
    processes: Annotated[int, typer.Option(help="How many parts to do at a time.")] = 1,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
    people: People = None,
    skip_damaged: SkipDamaged = False,
) -> None:
    """Do a published study again, and judge its claims.

    The folder gets a page (index.html), tables, figures and claims. After an interruption the same command goes on
    with the parts that are missing.
    """
    if find_spec("sfumato_papers") is None:
        raise MissingCompanionError("`sfumato reproduce`", "sfumato-papers")
    from sfumato_papers.reproduction import NAMES, Setting, paper_of, run

    if name is None:
        for each in map(paper_of, NAMES):
            say(f"{each.name:22s} {each.title} (about {each.minutes:g} minutes; --quick: one)")
        return
    paper = paper_of(name)
    folder = output or Path(paper.name)
    check_folder(folder)
    if files and not paper.visits:
        raise InputError(f"the study {paper.name!r} needs no visits.", "leave the files out.")
    if skip_damaged and not files:
        raise InputError(
            "--skip-damaged was given without a folder of visits.", "name the folder, or leave it out."
        )
    data = (
        _visits_by_name(files or [], lat, lon, user_column, people, skip_damaged=skip_damaged)
        if paper.visits
        else {}
    )
    setting = Setting(quick, data, bool(files))
    try:
        with working("Reproducing"):
            results = run(
                paper,
                setting,
                folder,
                processes=processes,
                command=_command_line(
                    paper.name,
                    files or [],
                    quick,
                    folder,
                    {"--lat": lat, "--lon": lon, "--user-column": user_column, "--people": people},
                    skip_damaged=skip_damaged,
                ),
                progress=say,
            )
    except KeyboardInterrupt:
        say(f"Interrupted. The parts that are done are kept in {folder}; the same command goes on.", err=True)
        raise typer.Exit(130) from None
    for claim in results.claims:
        source = f"{claim.where} (ours)" if claim.ours else claim.where
        quoted = f" In its words: \u201c{claim.quote}\u201d" if claim.quote else ""
        say(f"{source}: {claim.verdict}. {claim.says}{quoted} {claim.found}")
    say(f"{results.counts} Written: {folder / 'index.html'}")


def _visits_by_name(
    files: list[Path],
    lat: str | None,
    lon: str | None,
    user_column: str | None,
    people: str | None,
    *,
    skip_damaged: bool,
) -> dict[str, Visits]:
    """Return the visits of each file by its name without ending, or those of the built-in city."""
    from ...geo import synthetic_city
    from ..place_options import visits_from

    if not files:
        return {"synthetic city": synthetic_city()}
    visits: dict[str, Visits] = {}
    for path in files:
        if path.stem in visits:
            raise InputError(f"two files have the name {path.stem!r}.", "rename one of them.")
        skip = skip_damaged and (path.is_dir() or not any(each.is_dir() for each in files))
        visits[path.stem] = visits_from(path, lat, lon, user_column, people, skip_damaged=skip)[0]
    return visits


def _command_line(
    name: str,
    files: list[Path],
    quick: bool,
    folder: Path,
    options: Mapping[str, str | None],
    *,
    skip_damaged: bool,
) -> str:
    """Return the command line that does this again."""
    words = ["sfumato", "reproduce", name, *(path.name for path in files), *(["--quick"] if quick else [])]
    words += [word for option, value in options.items() if value is not None for word in (option, value)]
    words += ["--skip-damaged"] if skip_damaged else []
    return shlex.join([*words, "--output", folder.name])
