"""``sfumato compare``: several mechanisms for points or on cells, at equal epsilon or equal loss."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...errors import InputError
from ..messages import PARTIAL, option, say
from ..options import (
    DEFAULT_EPSILON,
    Cell,
    Cells,
    CommandOptions,
    Dark,
    Figure,
    Latitude,
    Longitude,
    People,
    Region,
    SkipDamaged,
    TableOrPage,
    User,
    UserColumn,
    VisitsOrCity,
    options_of,
)
from ..outputs import check_drawable, check_ending, check_outputs, check_picture, theme_of
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
    from ...geo import Visits

_BOUND_TIME: Final = 60.0
_UNIT: Final = "km"


@dataclass(frozen=True, slots=True)
class CompareOptions(CommandOptions):
    """The options of ``sfumato compare``."""

    visits: VisitsOrCity = None
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="Give all mechanisms this proved epsilon, or several: '0.5/km, 1/km' or '0.5..2/km:4'. "
            f"[default: {DEFAULT_EPSILON}]"
        ),
    ] = None
    max_loss: Annotated[
        str | None, typer.Option(help="Give all mechanisms this average loss instead: '500 m'.")
    ] = None
    spacing: Annotated[
        str | None, typer.Option(help="The spacing of lattices: '500 m'. By default what suits epsilon.")
    ] = None
    region: Region = None
    user: User = None
    cell: Cell = None
    cells: Cells = None
    metric: Annotated[
        str | None,
        typer.Option(help="With cells: what epsilon counts per, euclidean (default), manhattan, great-circle."),
    ] = None
    smoothing: Annotated[
        float | None, typer.Option(help="With cells: add this to the number of visits of every cell.")
    ] = None
    remap: Annotated[
        bool | None,
        typer.Option(help="With cells: also compare each mechanism followed by the optimal remap (default)."),
    ] = None
    dummies: Annotated[
        int | None,
        typer.Option(help="With cells and --epsilon: also compare each mechanism with this many dummies."),
    ] = None
    time_limit: Annotated[
        float, typer.Option(help="Seconds for the whole comparison; what there is no time for is named.")
    ] = 240.0
    bound_time: Annotated[
        float | None,
        typer.Option(
            help="Seconds to prove each bound that no mechanism for points beats, at most; 0 leaves it out. "
            f"[default: {_BOUND_TIME:g}]"
        ),
    ] = None
    output: TableOrPage = None
    figure: Figure = None
    dark: Dark = False
    lat: Latitude = None
    lon: Longitude = None
    user_column: UserColumn = None
    people: People = None
    skip_damaged: SkipDamaged = False


@options_of(CompareOptions)
def command(options: CompareOptions) -> None:
    """Compare mechanisms, and the best conceivable.

    Mechanisms for points stand beside a loss that no mechanism can go below. Losses and
    attackers' errors are distances from the true point. With --cell or --cells
    the mechanisms of the literature on cells are compared, the certified optimum among them, with
    distances between the centres of cells. Several epsilons, separated by commas, make a table each
    and a figure of loss against epsilon. Exit code 3 if there was not time for all, or a mechanism
    that may exist could not be made.
    """
    if options.epsilon is not None and options.max_loss is not None:
        raise InputError("both --epsilon and --max-loss were given.", "choose what the mechanisms have in common.")
    on_cells = options.cell is not None or options.cells is not None
    if on_cells:
        options.refuse(("spacing", "bound_time"), "was given beside cells.", "leave one of them out.")
    else:
        for name in ("metric", "smoothing", "remap", "dummies"):
            value = getattr(options, name)
            if value is not None:
                raise InputError(
                    f"--{name} {value} is for cells, but points are compared.",
                    "add --cells 12x9, or leave it out.",
                )
    check_ending(options.output, ".csv", page=True)
    check_picture(options.figure)
    if options.dark and options.figure is None:
        raise InputError("--dark was given, but no figure is drawn.", "add --figure compared.png.")
    if options.figure is not None:
        check_drawable()
    check_outputs([options.output, options.figure], [options.visits])
    visits, source = visits_of(options)
    comparison = _compare_cells(options, visits, source) if on_cells else _compare_points(options, visits, source)
    if not comparison.complete:
        raise typer.Exit(PARTIAL)


def _epsilon(options: CompareOptions) -> str:
    return DEFAULT_EPSILON if options.epsilon is None else options.epsilon


def _compare_points(options: CompareOptions, visits: Visits, source: str) -> PlaceComparison:
    """Compare mechanisms for points; print and write the comparison."""
    from ...comparison import ANY, NOT_REACHED, compare_places
    from ...core import CoordinatePrivacy
    from ...rounding import counted
    from ..screen import Screen

    user = options.user
    chosen = visits if user is None else visits.of_user(user)
    whose = source if user is None else f"{counted(len(chosen), 'visit')} of user {user} in {source}"
    area = region_of(options.region)
    rates = []
    if options.max_loss is None:
        with option("--epsilon"):
            rates = [
                CoordinatePrivacy(each, _UNIT).epsilon
                for each in amounts_of(_epsilon(options), _UNIT, per=True, what="epsilon")
            ]
    limit = None if options.max_loss is None else max_loss_of(options.max_loss, _UNIT)
    screen, began = Screen(stderr=True), time.monotonic()

    def report(row: PlaceRow) -> None:
        screen.print(f"{time.monotonic() - began:.0f} s: {_point_line(row)}", soft_wrap=True)

    with screen.status("Comparing") as status:
        comparison = compare_places(
            chosen,
            epsilon=rates if limit is None else None,
            max_loss=limit,
            region=area,
            spacing=options.spacing,
            time_limit=options.time_limit,
            bound_time=_BOUND_TIME if options.bound_time is None else options.bound_time,
            progress=lambda name: status.update(f"Comparing: {name}"),
            found=report,
        )
    sentences = list(comparison.sentences())
    if comparison.timed_out:
        unproved = any(row.problem == NOT_REACHED and row.name == ANY for row in comparison.rows)
        sentences.append(f"--time-limit{' and --bound-time give' if unproved else ' gives'} more time.")
    _publish(options, comparison, whose, sentences)
    return comparison


def _point_line(row: PlaceRow) -> str:
    """Return a line about a finished row."""
    from ...comparison import ANY
    from ...rounding import about, amount_at_least, amount_at_most

    if row.problem:
        return f"{row.name}: {row.problem}"
    loss = (
        f"at least {amount_at_least(row.loss.lower, _UNIT)}"
        if row.name == ANY
        else f"at most {amount_at_most(row.loss.upper, _UNIT)}"
    )
    return f"{row.name} at epsilon {about(row.epsilon, 5)}/{_UNIT} loses {loss}"


def _compare_cells(options: CompareOptions, visits: Visits, source: str) -> PriorComparison:
    """Compare mechanisms on cells; print and write the comparison."""
    from ...comparison import compare
    from ...optimal import check_size
    from ..screen import Screen

    places = cells_over(visits, options.region, options.cell, options.cells)
    check_size(len(places), len(places), options.time_limit)
    prior, whose = prior_of(places, visits, options.user, options.smoothing or 0.0, source)
    distances = metric_on(places, options.metric or "euclidean", "--metric")
    limit = None if options.max_loss is None else max_loss_of(options.max_loss, distances.unit)
    rates = []
    if limit is None:
        with option("--epsilon"):
            rates = amounts_of(_epsilon(options), distances.unit, per=True, what="epsilon")
        rates = [promise_of(rate, distances, "--epsilon").epsilon for rate in rates]
    screen = Screen(stderr=True)
    with screen.status("Comparing") as status:
        comparison = compare(
            prior,
            distances,
            epsilon=rates if limit is None else None,
            max_loss=limit,
            remap=options.remap is not False,
            dummies=options.dummies or 0,
            time_limit=options.time_limit,
            progress=lambda name: status.update(f"Comparing: {name}"),
            found=lambda row: screen.print(_cell_line(row, distances.unit), soft_wrap=True),
        )
    sentences = [*comparison.sentences(), *(["--time-limit gives more time."] if comparison.timed_out else [])]
    _publish(options, comparison, whose, sentences)
    return comparison


def _cell_line(row: PriorRow, unit: str) -> str:
    """Return a line about a finished row."""
    from ...core.units import per_unit
    from ...rounding import about, amount_at_most

    at = "" if row.epsilon is None else f" at epsilon {about(row.epsilon, 5)}{per_unit(unit)}"
    return f"{row.name}{at}: {row.problem or f'loses at most {amount_at_most(row.loss, unit)}'}"


def _publish(
    options: CompareOptions,
    comparison: Comparison[Any],
    source: str,
    sentences: Iterable[str],
) -> None:
    """Print the tables of a comparison and the sentences on them; write the table or page, and the figure."""
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
