"""The run of a study: its parts, stored as they finish, then tables, claims, figures and a page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from sfumato._system import atomically, worker_pool
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError, MissingExtraError, argument
from sfumato.reports.document import check_pages
from sfumato.reports.theme import blank, save_picture
from sfumato.tables import write_rows

from ..results import TableRow, columns_of
from .claim import PaperClaim, counts
from .environment import environment
from .page import run_page
from .paper import Made, Paper, Setting, StudyPart
from .parts import KeptParts, file_name, kept_parts
from .tables import RunTables

CLAIMS: Final = "claims"
TIMES: Final = "parts-seconds"
PAGE: Final = "index.html"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reproduction(CompactRepr):
    """A paper, reproduced.

    Attributes:
        paper: Its name.
        folder: Where everything lies.
        claims: The paper's claims, judged.
        parts: How many parts there are.
        done: How many of them had been done before.
    """

    paper: str
    folder: Path
    claims: tuple[PaperClaim, ...]
    parts: int
    done: int

    @property
    def counts(self) -> str:
        """The number of claims with each verdict, in a sentence; statements of ours are counted apart."""
        return counts([(claim.ours, claim.verdict) for claim in self.claims])


def run(
    paper: Paper,
    setting: Setting,
    folder: Path,
    *,
    processes: int = 1,
    command: str = "",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run a study, or go on with one: parts that are in the folder are not done again.

    The folder then holds ``index.html``, the tables (CSV), the figures (SVG), ``claims.csv``, ``run.json`` (study,
    size, hashes of the data, version), ``environment.json`` and the parts as they were kept. Tables whose names
    end in ``-seconds`` measure time; all else is the same, to the byte, however often the run was broken off, with
    the same versions on the same kind of machine.

    Args:
        paper: What to reproduce.
        setting: On what.
        folder: The folder of the results, made where it is missing.
        processes: How many parts to do at a time.
        command: The command line, for the page.
        progress: Called with a line for each part.

    Raises:
        FileError: If the folder holds another run, or cannot be used.
        InputError: If ``processes`` is not positive, or another run writes to the folder.
        DataError: If the data lack what the study needs.
        MissingExtraError: If something that it needs is not installed.
    """
    if processes < 1:
        raise InputError(f"{processes} processes are not positive.", f"use {argument('processes', 2)}.")
    check_pages()
    blank(1, 1)
    if "learn" in paper.extras:
        _check_torch(paper)
    tell = progress or (lambda _: None)
    parts = list(paper.parts(setting))
    _check_names(parts)
    with kept_parts(folder, paper.name, setting) as kept:
        return _run(paper, parts, kept, folder, processes, command, tell)


def _run(
    paper: Paper,
    parts: Sequence[StudyPart],
    kept: KeptParts,
    folder: Path,
    processes: int,
    command: str,
    tell: Callable[[str], None],
) -> Reproduction:
    """Run the missing parts, and write all results."""
    found = {part.name: made for part in parts if (made := kept.read(part)) is not None}
    before = len(found)
    if before:
        tell(f"{before} of {len(parts)} parts were done before.")
    left = [part for part in parts if part.name not in found]
    for part, tables_made, seconds in _made(left, processes):
        kept.write(part, tables_made, seconds)
        found[part.name] = (tables_made, seconds)
        tell(f"{len(found)} of {len(parts)}: {part.name}, {seconds:.1f} s")
    # From here on everything is made from what was written.
    _write_tables(folder, [(part, kept.read(part) or found[part.name]) for part in parts])
    tables = RunTables(folder)
    claims = tuple(paper.claims(tables))
    _write(folder, CLAIMS, [columns_of(claim) for claim in claims])
    figures = paper.figures(tables)
    for name, figure in figures.items():
        save_picture(figure, folder / f"{name}.svg")
    with atomically(folder / "environment.json") as temporary:
        temporary.write_text(json.dumps(environment(), indent=1) + "\n", encoding="utf-8")
    run_page(paper, folder, tuple(figures), command).save(folder / PAGE)
    return Reproduction(paper.name, folder, claims, len(parts), before)


def _check_names(parts: Sequence[StudyPart]) -> None:
    names = [file_name(part) for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two parts are named {name!r}.", "give each a name of its own.")


def _made(parts: Sequence[StudyPart], processes: int) -> Iterator[tuple[StudyPart, Made, float]]:
    """Yield the result of each part as it finishes."""
    if processes == 1 or len(parts) < 2:
        for part in parts:
            yield part, *_timed(part)
        return
    with worker_pool(processes) as pool:
        running: dict[Future[tuple[Made, float]], StudyPart] = {pool.submit(_timed, part): part for part in parts}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), *future.result()


def _timed(part: StudyPart) -> tuple[Made, float]:
    begun = time.perf_counter()
    return part.make(*part.arguments), time.perf_counter() - begun


def _write_tables(folder: Path, done: Sequence[tuple[StudyPart, tuple[Made, float]]]) -> None:
    tables: dict[str, list[TableRow]] = {}
    for _, (made, _) in done:
        for name, rows in made.items():
            tables.setdefault(name, []).extend(rows)
    tables[TIMES] = [{"part": part.name, "seconds": seconds} for part, (_, seconds) in done]
    for name, rows in tables.items():
        _write(folder, name, rows)


def _write(folder: Path, name: str, rows: Sequence[TableRow]) -> None:
    if rows:
        write_rows(list(rows[0]), (row.values() for row in rows), folder / f"{name}.csv")


def _check_torch(paper: Paper) -> None:
    """Check before the work that networks can be trained.

    Raises:
        MissingExtraError: If torch is not installed.
    """
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtraError(f"{paper.name!r}", "learn") from None
