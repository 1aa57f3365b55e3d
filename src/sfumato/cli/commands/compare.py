"""``sfumato compare``: mechanisms for points or on cells, at equal epsilon or equal loss."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...errors import InputError
from ..mechanism_files import is_mechanism_file
from ..messages import PARTIAL, option, say
from ..options import (
    DEFAULT_EPSILON,
    Cell,
    Cells,
    Dark,
    Epsilons,
    Figure,
    Region,
    Spacing,
    TableOrPage,
    User,
    VisitsOptions,
    options_of,
)
from ..outputs import check_drawable, check_ending, check_outputs, theme_of
from ..place_options import (
    amounts_of,
    cells_over,
    max_loss_of,
    metric_on,
    prior_of,
    promise_of,
    region_of,
    visits_of,
)

if TYPE_CHECKING:
    from ...comparison import Comparison, PlaceComparison, PlaceRow, PriorComparison, PriorRow
    from ...files import MechanismFile
    from ...geo import Visits

_BOUND_TIME: Final = 60.0
_UNIT: Final = "km"


@dataclass(frozen=True, kw_only=True)
class CompareOptions(VisitsOptions):
    """The options of ``sfumato compare``."""

    sources: Annotated[
        list[Path] | None,
        typer.Argument(help="A file of visits [default: a synthetic city], and mechanism files (.sfm)."),
    ] = None
    epsilons: Epsilons = None
    max_loss: Annotated[str | None, typer.Option(help="Give all mechanisms this average loss: '500 m'.")] = None
    region: Region = None
    spacing: Spacing = None
    cells: Cells = None
    cell: Cell = None
    user: User = None
    metric: Annotated[str | None, typer.Option(help="With cells: the distance of epsilon.")] = None
    smoothing: Annotated[float | None, typer.Option(help="With cells: add this many visits to each.")] = None
    remap: Annotated[bool | None, typer.Option(help="With cells: also with the optimal remap (default).")] = None
    dummies: Annotated[int | None, typer.Option(help="With cells: also with this many dummies.")] = None
    time_limit: Annotated[float, typer.Option(help="Seconds for the whole comparison.")] = 240.0
    bound_time: Annotated[
        float | None, typer.Option(help=f"Seconds for each lower bound; 0 for none. [default: {_BOUND_TIME:g}]")
    ] = None
    output: TableOrPage = None
    figure: Figure = None
    dark: Dark = False


@options_of(CompareOptions)
def command(options: CompareOptions) -> None:
    """Compare mechanisms at equal epsilon or loss.

    For points by default, with a lower bound for every mechanism; on cells with --cells or --cell.
    Several epsilons make a table each. A mechanism file has a row with the epsilon proved of it.
    Exit code 3 if there was not time for all, or a mechanism that may exist could not be made.
    """
    from ...reports.theme import check_suffix

    if options.epsilons is not None and options.max_loss is not None:
        raise InputError(
            "both --epsilons and --max-loss were given.", "choose what the mechanisms have in common."
        )
    on_cells = options.cell is not None or options.cells is not None
    if on_cells:
        options.refuse(("spacing", "bound_time"), "was given with cells.", "leave one of them out.")
    else:
        options.refuse(
            ("metric", "smoothing", "remap", "dummies"),
            "is for cells, but points are compared.",
            "add --cells 12x9, or leave it out.",
        )
    check_ending(options.output, ".csv", page=True)
    if options.figure is not None:
        check_suffix(options.figure)
        check_drawable()
    elif options.dark:
        raise InputError("--dark was given, but no figure is drawn.", "add --figure compared.png.")
    check_outputs([options.output, options.figure], options.sources or [])
    path, files = _sources(options.sources or [])
    visits, source = visits_of(path, options)
    compare = _compare_cells if on_cells else _compare_points
    if not compare(options, visits, source, files).complete:
        raise typer.Exit(PARTIAL)


def _sources(paths: Sequence[Path]) -> tuple[Path | None, dict[str, MechanismFile]]:
    """Return the file of visits, and the mechanism files by name, recognised by their content."""
    from ...files import read_mechanism_file

    files: dict[str, MechanismFile] = {}
    visits: list[Path] = []
    for path in paths:
        if not is_mechanism_file(path):
            visits.append(path)
        elif path.name in files:
            raise InputError(f"two mechanism files have the name {path.name!r}.", "rename one of them.")
        else:
            files[path.name] = read_mechanism_file(path)
    if len(visits) > 1:
        raise InputError(
            f"{str(visits[1])!r} is no mechanism file, and {str(visits[0])!r} is taken for the visits.",
            "name one file of visits.",
        )
    return (visits[0] if visits else None), files


def _common(options: CompareOptions, unit: str) -> tuple[list[float], float | None]:
    """Return the epsilons per unit, or none and the loss that all mechanisms have."""
    if options.max_loss is not None:
        return [], max_loss_of(options.max_loss, unit)
    with option("--epsilons"):
        return amounts_of(options.epsilons or DEFAULT_EPSILON, unit, per=True, noun="epsilon"), None


def _compare_points(
    options: CompareOptions, visits: Visits, source: str, files: Mapping[str, MechanismFile]
) -> PlaceComparison:
    from ...comparison import ANY, NOT_REACHED, compare_places
    from ...core import CoordinatePrivacy
    from ...rounding import about, plural
    from ..screen import Screen

    user = options.user
    sample = visits if user is None else visits.of_user(user)
    subject = source if user is None else f"{plural(len(sample), 'visit')} of user {user} in {source}"
    area = region_of(options.region)
    rates, limit = _common(options, _UNIT)
    with option("--epsilons"):
        rates = [CoordinatePrivacy(rate, _UNIT).epsilon for rate in rates]
    screen, began = Screen(stderr=True), time.monotonic()

    def report(row: PlaceRow) -> None:
        at = "" if row.name in files else f" at epsilon {about(row.epsilon, 5)}/{_UNIT}"
        screen.print(f"{time.monotonic() - began:.0f} s: {row.name}{_outcome(row, at)}", soft_wrap=True)

    with screen.status("Comparing") as status:
        comparison = compare_places(
            sample,
            epsilon=rates or None,
            max_loss=limit,
            region=area,
            spacing=options.spacing,
            time_limit=options.time_limit,
            bound_time=_BOUND_TIME if options.bound_time is None else options.bound_time,
            files=files,
            progress=lambda name: status.update(f"Comparing: {name}"),
            emit=report,
        )
    sentences = list(comparison.sentences())
    if comparison.timed_out:
        unproved = any(row.problem == NOT_REACHED and row.name == ANY for row in comparison.rows)
        sentences.append(f"--time-limit{' and --bound-time give' if unproved else ' gives'} more time.")
    _publish(options, comparison, subject, sentences)
    return comparison


def _outcome(row: PlaceRow, at: str) -> str:
    from ...comparison import ANY
    from ...reports.sentences import loses_words
    from ...rounding import amount_at_least

    if row.problem:
        return f": {row.problem}"
    if row.name == ANY:
        return f"{at} loses at least {amount_at_least(row.loss.lower, _UNIT)}"
    return f"{at} {loses_words(row.loss.upper, _UNIT)}"


def _compare_cells(
    options: CompareOptions, visits: Visits, source: str, files: Mapping[str, MechanismFile]
) -> PriorComparison:
    from ...comparison import compare
    from ...optimal import check_size
    from ..screen import Screen

    places = cells_over(visits, options.region, options.cell, options.cells)
    check_size(len(places), len(places), options.time_limit)
    prior, subject = prior_of(places, visits, options.user, options.smoothing or 0.0, source)
    distances = metric_on(places, options.metric or "euclidean", "--metric")
    rates, limit = _common(options, distances.unit)
    rates = [promise_of(rate, distances, "--epsilons").epsilon for rate in rates]
    screen = Screen(stderr=True)
    with screen.status("Comparing") as status:
        comparison = compare(
            prior,
            distances,
            epsilon=rates or None,
            max_loss=limit,
            remap=options.remap is not False,
            dummies=options.dummies or 0,
            time_limit=options.time_limit,
            files=files,
            progress=lambda name: status.update(f"Comparing: {name}"),
            emit=lambda row: screen.print(_cell_line(row, distances.unit, row.name in files), soft_wrap=True),
        )
    sentences = [*comparison.sentences(), *(["--time-limit gives more time."] if comparison.timed_out else [])]
    _publish(options, comparison, subject, sentences)
    return comparison


def _cell_line(row: PriorRow, unit: str, is_file: bool) -> str:
    from ...core.units import per_unit
    from ...reports.sentences import loses_words
    from ...rounding import about

    at = "" if is_file or row.epsilon is None else f" at epsilon {about(row.epsilon, 5)}{per_unit(unit)}"
    return f"{row.name}{at}: {row.problem or loses_words(row.loss, unit)}"


def _publish(options: CompareOptions, comparison: Comparison[Any], source: str, sentences: Iterable[str]) -> None:
    from ...reports import save_picture
    from ..screen import Screen, print_table

    console = Screen()
    for table in comparison.tables(source):
        print_table(console, table.caption, table.headings, table.rows)
    for sentence in sentences:
        console.print(sentence)
    output = options.output
    if output is not None:
        if output.suffix.lower() == ".html":
            comparison.page(source).save(output)
        else:
            comparison.save(output)
        say(f"Written: {output}", err=True)
    if options.figure is not None:
        save_picture(comparison.figure(), options.figure, theme_of(dark=options.dark))
        say(f"Written: {options.figure}", err=True)
