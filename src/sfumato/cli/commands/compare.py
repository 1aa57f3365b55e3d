"""``sfumato compare``: several mechanisms for points or on cells, at equal epsilon or equal loss."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...errors import InputError
from ..comparing import compared, print_comparison, refuse_of_cells
from ..messages import PARTIAL, say
from ..options import (
    DEFAULT_EPSILON,
    Cell,
    Cells,
    Latitude,
    Longitude,
    Region,
    TableOutput,
    User,
    UserColumn,
    VisitsOrCity,
)
from ..outputs import check_ending, check_outputs
from ..places import cells_over, max_loss_of, metric_on, prior_of, promise_of, visits_from

if TYPE_CHECKING:
    from ...geo import Visits
    from ...studies import Comparison, ComparisonRow, PlaceComparison


_BOUND_TIME: Final = 60.0


def command(
    visits: VisitsOrCity = None,
    epsilon: Annotated[
        str | None, typer.Option(help=f"Give all mechanisms this proved epsilon. [default: {DEFAULT_EPSILON}]")
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
    output: TableOutput = None,
    figure: Annotated[Path | None, typer.Option(help="Write the figure (.png).")] = None,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
) -> None:
    """Compare mechanisms, and the best conceivable.

    Mechanisms for points stand beside a loss that no mechanism can go below. Losses and
    attackers' errors are distances from the true point. With --cell or --cells
    the mechanisms of the literature on cells are compared, the certified optimum among them, with
    distances between the centres of cells. Several epsilons are separated by commas. Exit code 3
    if there was not time for all.
    """
    from ...rounding import counted
    from ...studies import comparison_figure, places_figure

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
    check_ending(output, ".csv")
    check_ending(figure, ".png")
    check_outputs([output, figure], [visits])
    found, source = visits_from(visits, lat, lon, user_column)
    common = DEFAULT_EPSILON if epsilon is None else epsilon
    comparison: Comparison | PlaceComparison
    if on_cells:
        comparison, text = _on_cells(
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
        _print(comparison, text)
    else:
        theirs = found if user is None else found.of_user(user)
        whose = source if user is None else f"{counted(len(theirs), 'visit')} of user {user} in {source}"
        comparison = compared(theirs, common, max_loss, region, spacing, time_limit, bound_time)
        print_comparison(comparison, whose)
    if output is not None:
        comparison.save(output)
        say(f"Written: {output}", err=True)
    if figure is not None:
        from ...report import save_picture
        from ...studies import PlaceComparison

        drawn = (
            places_figure(comparison) if isinstance(comparison, PlaceComparison) else comparison_figure(comparison)
        )
        save_picture(drawn, figure)
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
    from ...optimal import check_size
    from ...studies import compare
    from ..screen import Screen

    places = cells_over(visits, region, cell, cells, None)
    check_size(len(places), len(places), time_limit)
    prior, text = prior_of(places, visits, user, smoothing or 0.0, source)
    distances = metric_on(places, metric, "--metric")
    limit = None if max_loss is None else max_loss_of(max_loss, distances.unit)
    if limit is None:
        promise_of(epsilon, distances, "--epsilon")
    screen = Screen(stderr=True)
    with screen.status("Comparing") as status:
        comparison = compare(
            prior,
            distances,
            epsilon=epsilon if limit is None else None,
            max_loss=limit,
            remap=remap is not False,
            dummies=dummies or 0,
            time_limit=time_limit,
            progress=lambda name: status.update(f"Comparing: {name}"),
            found=lambda row: screen.print(_news(row, distances.unit), soft_wrap=True),
        )
    return comparison, text


def _news(row: ComparisonRow, unit: str) -> str:
    from ...rounding import amount_at_most

    return f"{row.name}: {row.problem or f'loses at most {amount_at_most(row.loss, unit)}'}"


def _print(comparison: Comparison, source: str) -> None:
    from ...core.units import per_unit
    from ...rounding import amount, amount_at_least, amount_at_most, at_least, at_most, percent
    from ...studies.comparison import DRAWS
    from ..screen import Screen, print_table

    console = Screen()
    unit = comparison.unit
    if comparison.equal == "loss":
        common = f"equal loss, {amount_at_most(comparison.value, unit)}"
    else:
        common = f"equal epsilon, {at_most(comparison.value, 5)}{per_unit(unit)}"
    headings = (
        "mechanism",
        f"epsilon{per_unit(unit)} (proved)",
        "loss",
        "attacker's error",
        "finds the secret",
        "information (bits)",
        "remaining entropy (bits)",
    )
    present = [row for row in comparison.rows if not row.problem]
    rows = [(row.name, *_cells(row, unit)) for row in present]
    print_table(console, f"Mechanisms at {common} ({source})", headings, rows)
    optimum = next((row for row in present if row.loss_lower_bound is not None), None)
    if optimum is not None and optimum.loss_lower_bound is not None:
        bound = amount_at_least(optimum.loss_lower_bound, unit)
        common_epsilon = comparison.value if comparison.equal == "epsilon" else optimum.epsilon_upper
        at = f"{at_least(common_epsilon, 5)}{per_unit(unit)}"
        alone = " with one report" if comparison.margin is not None else ""
        console.print(f"Proved: no mechanism of epsilon {at} loses less than {bound} on average{alone}.")
    console.print(
        f"Without a report the attacker errs by about {amount(comparison.blind_error, unit)}, or finds the secret "
        f"about {percent(comparison.blind_hit_rate)} of the time."
    )
    if comparison.margin is not None:
        within = amount_at_most(comparison.margin, unit)
        console.print(
            "With dummies the loss is that of the best answer in a tuple, and epsilon is that of one report."
        )
        console.print(
            f"The attacker's columns are then estimates from {DRAWS:,} simulated tuples, the error ± {within}."
        )
    for row in comparison.rows:
        if row.stopped:
            console.print(f"{row.name} was {row.stopped}.")
        elif row.problem:
            console.print(f"{row.name} is skipped: {row.problem}{'' if row.problem.endswith('.') else '.'}")
    if not comparison.complete:
        console.print("--time-limit gives more time.")


def _cells(row: ComparisonRow, unit: str) -> tuple[str, ...]:
    from ...rounding import amount_at_least, amount_at_most, at_least, at_most, percent_at_most

    return (
        at_most(row.epsilon_upper, 5) if math.isfinite(row.epsilon_upper) else "none",
        amount_at_most(row.loss, unit),
        amount_at_least(row.attacker_error, unit),
        percent_at_most(row.hit_rate),
        at_most(row.information_bits, 3),
        at_least(row.entropy_bits, 3),
    )
