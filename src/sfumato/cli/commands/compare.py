"""``sfumato compare``: several mechanisms for points or on cells, at equal epsilon or equal loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...errors import InputError
from ..comparing import compared, print_comparison, refuse_of_cells
from ..messages import PARTIAL, option, say
from ..options import (
    DEFAULT_EPSILON,
    Cell,
    Cells,
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
)
from ..outputs import check_drawable, check_ending, check_outputs, check_picture, theme_of
from ..places import amounts_of, cells_over, max_loss_of, metric_on, prior_of, promise_of, visits_from

if TYPE_CHECKING:
    from ...comparison import Comparison, ComparisonRow, PlaceComparison
    from ...geo import Visits


_BOUND_TIME: Final = 60.0


def command(
    visits: VisitsOrCity = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="Give all mechanisms this proved epsilon, or several: '0.5/km, 1/km' or '0.5..2/km:4'. "
            f"[default: {DEFAULT_EPSILON}]"
        ),
    ] = None,
    max_loss: Annotated[
        str | None, typer.Option(help="Give all mechanisms this average loss instead: '500 m'.")
    ] = None,
    spacing: Annotated[
        str | None, typer.Option(help="The spacing of lattices: '500 m'. By default what suits epsilon.")
    ] = None,
    region: Region = None,
    user: User = None,
    cell: Cell = None,
    cells: Cells = None,
    metric: Annotated[
        str | None,
        typer.Option(help="With cells: what epsilon counts per, euclidean (default), manhattan, great-circle."),
    ] = None,
    smoothing: Annotated[
        float | None, typer.Option(help="With cells: add this to the number of visits of every cell.")
    ] = None,
    remap: Annotated[
        bool | None,
        typer.Option(help="With cells: also compare each mechanism followed by the optimal remap (default)."),
    ] = None,
    dummies: Annotated[
        int | None,
        typer.Option(help="With cells and --epsilon: also compare each mechanism with this many dummies."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds for the whole comparison; what there is no time for is named.")
    ] = 240.0,
    bound_time: Annotated[
        float | None,
        typer.Option(
            help="Seconds to prove each bound that no mechanism for points beats, at most; 0 leaves it out. "
            f"[default: {_BOUND_TIME:g}]"
        ),
    ] = None,
    output: TableOrPage = None,
    figure: Figure = None,
    dark: Dark = False,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
    people: People = None,
    skip_damaged: SkipDamaged = False,
) -> None:
    """Compare mechanisms, and the best conceivable.

    Mechanisms for points stand beside a loss that no mechanism can go below. Losses and
    attackers' errors are distances from the true point. With --cell or --cells
    the mechanisms of the literature on cells are compared, the certified optimum among them, with
    distances between the centres of cells. Several epsilons, separated by commas, make a table each
    and a figure of loss against epsilon. Exit code 3 if there was not time for all, or a mechanism
    that may exist could not be made.
    """
    from ...comparison import comparison_figure, comparison_page, places_figure
    from ...rounding import counted

    if epsilon is not None and max_loss is not None:
        raise InputError("both --epsilon and --max-loss were given.", "choose what the mechanisms have in common.")
    on_cells = cell is not None or cells is not None
    if not on_cells:
        refuse_of_cells({"--metric": metric, "--smoothing": smoothing, "--remap": remap, "--dummies": dummies})
    else:
        for name, value in (("--spacing", spacing), ("--bound-time", bound_time)):
            if value is not None:
                raise InputError(f"{name} was given beside cells.", "leave one of them out.")
    bound_time = _BOUND_TIME if bound_time is None else bound_time
    check_ending(output, ".csv", page=True)
    check_picture(figure)
    if dark and figure is None:
        raise InputError("--dark was given, but no figure is drawn.", "add --figure compared.png.")
    if figure is not None:
        check_drawable()
    check_outputs([output, figure], [visits])
    found, source = visits_from(visits, lat, lon, user_column, people, skip_damaged=skip_damaged)
    common = DEFAULT_EPSILON if epsilon is None else epsilon
    comparison: Comparison | PlaceComparison
    if on_cells:
        comparison, whose = _on_cells(
            found,
            source,
            common,
            max_loss,
            metric or "euclidean",
            region,
            cell,
            cells,
            user,
            smoothing,
            remap,
            dummies,
            time_limit,
        )
        _print(comparison, whose)
    else:
        theirs = found if user is None else found.of_user(user)
        whose = source if user is None else f"{counted(len(theirs), 'visit')} of user {user} in {source}"
        comparison = compared(theirs, common, max_loss, region, spacing, time_limit, bound_time)
        print_comparison(comparison, whose)
    if output is not None:
        if output.suffix.lower() == ".html":
            comparison_page(comparison, whose).save(output)
        else:
            comparison.save(output)
        say(f"Written: {output}", err=True)
    if figure is not None:
        from ...comparison import PlaceComparison
        from ...reports import save_picture

        drawn = (
            places_figure(comparison) if isinstance(comparison, PlaceComparison) else comparison_figure(comparison)
        )
        save_picture(drawn, figure, theme_of(dark=dark))
        say(f"Written: {figure}", err=True)
    if not comparison.complete:
        raise typer.Exit(PARTIAL)


def _on_cells(
    visits: Visits,
    source: str,
    epsilon: str,
    max_loss: str | None,
    metric: str,
    region: str | None,
    cell: str | None,
    cells: str | None,
    user: str | None,
    smoothing: float | None,
    remap: bool | None,
    dummies: int | None,
    time_limit: float,
) -> tuple[Comparison, str]:
    """Return the comparison on cells, and where its prior comes from."""
    from ...comparison import compare
    from ...optimal import check_size
    from ..screen import Screen

    places = cells_over(visits, region, cell, cells, None)
    check_size(len(places), len(places), time_limit)
    prior, text = prior_of(places, visits, user, smoothing or 0.0, source)
    distances = metric_on(places, metric, "--metric")
    limit = None if max_loss is None else max_loss_of(max_loss, distances.unit)
    rates = []
    if limit is None:
        with option("--epsilon"):
            rates = amounts_of(epsilon, distances.unit, per=True, what="epsilon")
        rates = [promise_of(rate, distances, "--epsilon").epsilon for rate in rates]
    screen = Screen(stderr=True)
    with screen.status("Comparing") as status:
        comparison = compare(
            prior,
            distances,
            epsilon=rates if limit is None else None,
            max_loss=limit,
            remap=remap is not False,
            dummies=dummies or 0,
            time_limit=time_limit,
            progress=lambda name: status.update(f"Comparing: {name}"),
            found=lambda row: screen.print(_news(row, distances.unit), soft_wrap=True),
        )
    return comparison, text


def _news(row: ComparisonRow, unit: str) -> str:
    from ...core.units import per_unit
    from ...rounding import about, amount_at_most

    at = "" if row.epsilon is None else f" at epsilon {about(row.epsilon, 5)}{per_unit(unit)}"
    return f"{row.name}{at}: {row.problem or f'loses at most {amount_at_most(row.loss, unit)}'}"


def _print(comparison: Comparison, source: str) -> None:
    from ...comparison import row_tables, row_words
    from ..screen import Screen, print_table

    console = Screen()
    for table in row_tables(comparison, source):
        print_table(console, table.caption, table.headings, table.rows)
    for sentence in row_words(comparison):
        console.print(sentence)
    if comparison.timed_out:
        console.print("--time-limit gives more time.")
