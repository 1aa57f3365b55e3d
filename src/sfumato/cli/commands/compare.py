"""``sfumato compare``: several mechanisms on one prior, at equal epsilon or equal loss."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import InputError
from ..messages import say
from ..options import (
    DEFAULT_EPSILON,
    Cell,
    Cells,
    Latitude,
    Longitude,
    PrivacyMetric,
    Region,
    Smoothing,
    TableOutput,
    User,
    UserColumn,
    VisitsOrCity,
)
from ..outputs import check_ending, check_outputs
from ..places import cells_over, max_loss_of, metric_on, prior_of, promise_of, visits_from

if TYPE_CHECKING:
    from ...studies import Comparison, ComparisonRow


def command(
    visits: VisitsOrCity = None,
    epsilon: Annotated[
        str | None, typer.Option(help=f"Give all mechanisms this proved epsilon. [default: {DEFAULT_EPSILON}]")
    ] = None,
    max_loss: Annotated[
        str | None, typer.Option(help="Give all mechanisms this average loss instead: '500 m'.")
    ] = None,
    metric: PrivacyMetric = "euclidean",
    cell: Cell = None,
    cells: Cells = None,
    region: Region = None,
    user: User = None,
    smoothing: Smoothing = 0.0,
    remap: Annotated[bool, typer.Option(help="Also compare each mechanism followed by the optimal remap.")] = True,
    dummies: Annotated[
        int, typer.Option(help="With --epsilon: also compare each mechanism with this many dummies.")
    ] = 0,
    output: TableOutput = None,
    figure: Annotated[Path | None, typer.Option(help="Write the figure (.png).")] = None,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
) -> None:
    """Compare mechanisms, the certified optimum among them.

    Distances are in kilometres, for privacy, loss and the attacker's error alike.
    """
    from ...optimal import check_size
    from ...studies import compare, comparison_figure
    from ..screen import Screen

    if epsilon is not None and max_loss is not None:
        raise InputError("both --epsilon and --max-loss were given.", "choose what the mechanisms have in common.")
    check_ending(output, ".csv")
    check_ending(figure, ".png")
    check_outputs([output, figure], [visits])
    found, source = visits_from(visits, lat, lon, user_column)
    places = cells_over(found, region, cell, cells, None)
    check_size(len(places), len(places), math.inf)
    prior, text = prior_of(places, found, user, smoothing, source)
    distances = metric_on(places, metric, "--metric")
    limit = None if max_loss is None else max_loss_of(max_loss, distances.unit)
    common = DEFAULT_EPSILON if epsilon is None else epsilon
    if limit is None:
        promise_of(common, distances, "--epsilon")
    with Screen(stderr=True).status("Comparing") as status:
        comparison = compare(
            prior,
            distances,
            epsilon=common if limit is None else None,
            max_loss=limit,
            remap=remap,
            dummies=dummies,
            progress=lambda name: status.update(f"Comparing: {name}"),
        )
    _print(comparison, text)
    if output is not None:
        comparison.save(output)
        say(f"Written: {output}", err=True)
    if figure is not None:
        from ...report import save_picture

        save_picture(comparison_figure(comparison), figure)
        say(f"Written: {figure}", err=True)


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
        if row.problem:
            console.print(f"{row.name} is skipped: {row.problem}")


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
