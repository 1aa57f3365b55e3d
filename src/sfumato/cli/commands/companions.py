"""``sfumato studio`` and ``sfumato reproduce``, which need companion packages."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import InputError, MissingCompanionError
from ..messages import say, working
from ..options import KeyFile, VisitsOptions, options_of
from ..outputs import check_folder
from .ledger import open_ledger

if TYPE_CHECKING:
    from ...geo import Visits


def studio(
    file: Annotated[
        Path | None, typer.Argument(help="Data or a mechanism file (.sfm) to open. [default: an empty page]")
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes one that is free.", min=0, max=65535)] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    folder: Annotated[
        Path | None, typer.Option(help="Where workspaces are kept; by default a folder of this user.")
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(help="Show the budgets of this ledger: a path or an address such as postgresql://..."),
    ] = None,
    key_file: KeyFile = None,
    basemap: Annotated[
        Path | None, typer.Option(help="Draw maps on this PMTiles file. [default: the built-in map of the world]")
    ] = None,
) -> None:
    """Open a page on which a mechanism is chosen by its outcome.

    The page is for this machine and this user alone: its address holds a token. Data stay here. Ctrl-C ends it.
    """
    if find_spec("sfumato_studio") is None:
        raise MissingCompanionError("`sfumato studio`", "sfumato-studio")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small, and requests are threads already
    from sfumato_studio.serving import serve

    def ready(address: str) -> None:
        say(f"The studio is at {address}")
        say("Keep this address to yourself; Ctrl-C ends the studio.")
        sys.stdout.flush()

    budgets = None if ledger is None else open_ledger(ledger, key_file)
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "share"
    default = Path(base, "sfumato", "studio")
    serve(folder or default, port=port, show=show, file=file, ledger=budgets, basemap=basemap, ready=ready)


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions(VisitsOptions):
    """The options of ``sfumato reproduce``."""

    name: Annotated[str | None, typer.Argument(help="The study; without it, they are listed.")] = None
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files of visits to run it on. [default: a synthetic city]")
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="Run a small case, in less than a minute.")] = False
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder of the results. [default: the study's name]")
    ] = None
    processes: Annotated[int, typer.Option(help="How many parts to do at a time.")] = 1


@options_of(ReproduceOptions)
def reproduce(options: ReproduceOptions) -> None:
    """Reproduce a published study, and check its claims.

    Writes a page (index.html), tables, figures and claims to a folder. After an interruption the same command
    goes on.
    """
    if find_spec("sfumato_papers") is None:
        raise MissingCompanionError("`sfumato reproduce`", "sfumato-papers")
    from sfumato_papers.reproduction import NAMES, Setting, paper_of, run

    if options.name is None:
        for study in map(paper_of, NAMES):
            say(f"{study.name:22s} {study.title} (about {study.minutes:g} minutes; --quick: one)")
        return
    paper = paper_of(options.name)
    folder = options.output or Path(paper.name)
    check_folder(folder)
    files = options.files or []
    if files and not paper.visits:
        raise InputError(f"the study {paper.name!r} needs no visits.", "leave the files out.")
    if options.skip_damaged and not files:
        raise InputError(
            "--skip-damaged was given without a folder of visits.", "name the folder, or leave it out."
        )
    setting = Setting(options.quick, _visits_by_name(options) if paper.visits else {}, bool(files))
    try:
        with working("Reproducing"):
            results = run(
                paper,
                setting,
                folder,
                processes=options.processes,
                command=_command_line(options, paper.name, folder),
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


def _visits_by_name(options: ReproduceOptions) -> dict[str, Visits]:
    """Return the visits of each file by its name without ending, or those of the invented city of the studies."""
    from sfumato_papers.invented_city import invented_city

    from ..place_options import visits_of

    files = options.files or []
    if not files:
        return {"synthetic city": invented_city()}
    visits: dict[str, Visits] = {}
    for path in files:
        if path.stem in visits:
            raise InputError(f"two files have the name {path.stem!r}.", "rename one of them.")
        skip = options.skip_damaged and (path.is_dir() or not any(file.is_dir() for file in files))
        visits[path.stem], _ = visits_of(path, replace(options, skip_damaged=skip))
    return visits


def _command_line(options: ReproduceOptions, name: str, folder: Path) -> str:
    words = ["sfumato", "reproduce", name, *(path.name for path in options.files or [])]
    words += ["--quick"] if options.quick else []
    for field in ("lat", "lon", "user_column", "people"):
        value = getattr(options, field)
        words += [] if value is None else [f"--{field.replace('_', '-')}", value]
    words += ["--skip-damaged"] if options.skip_damaged else []
    return shlex.join([*words, "--output", folder.name])
