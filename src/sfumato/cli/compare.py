"""``sfumato compare``: several mechanisms on one prior, at equal epsilon or equal loss."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .console import say, warn_of_extremes
from .outputs import check_outputs
from .places import cells_over, prior_of, visits_from
from .wording import option

if TYPE_CHECKING:
    from ..studies import Comparison, Row


def compare(
    visits: Annotated[
        Path | None,
        typer.Argument(help="Visits: CSV, Parquet, GeoParquet, GPX, ... Without it, a built-in synthetic city."),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Compare at this proved epsilon: '1/km' (the default).")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="Compare at this average loss instead: '500 m'.")] = None,
    metric: Annotated[str, typer.Option(help="euclidean, manhattan or great-circle.")] = "euclidean",
    cell: Annotated[str | None, typer.Option(help="Size of the cells: '500 m' or '750 m x 533 m'.")] = None,
    cells: Annotated[str | None, typer.Option(help="Number of cells: columns x rows, '20x15'.")] = None,
    region: Annotated[
        str | None, typer.Option(help="'south,west,north,east' or '8 km x 6 km around 48.85,2.35'.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Only this user's visits; by default everyone's.")] = None,
    smoothing: Annotated[float, typer.Option(help="Added to the visits of every cell.")] = 0.0,
    remap: Annotated[bool, typer.Option(help="Also each mechanism followed by the optimal remap.")] = True,
    dummies: Annotated[
        int, typer.Option(help="With --epsilon: also each mechanism's reports among this many dummies.")
    ] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table (.csv).")] = None,
    figure: Annotated[Path | None, typer.Option(help="Write the figure (.png).")] = None,
    lat: Annotated[str | None, typer.Option(help="Name of the latitude column.")] = None,
    lon: Annotated[str | None, typer.Option(help="Name of the longitude column.")] = None,
    user_column: Annotated[str | None, typer.Option(help="Name of the user column.")] = None,
) -> None:
    """Compare mechanisms side by side, with the certified optimum as the line to reach.

    Distances count in kilometres, for privacy, loss and the attacker's error alike.
    """
    from ..core import MetricPrivacy, units
    from ..optimal import check_size
    from ..studies import compare as compared
    from ..studies import comparison_figure
    from .screen import Screen

    if epsilon is not None and loss is not None:
        raise InputError("both --epsilon and --loss were given.", "choose what the mechanisms have in common.")
    for path, suffix in ((output, ".csv"), (figure, ".png")):
        if path is not None and path.suffix.lower() != suffix:
            raise InputError(f"{str(path)!r} does not end in {suffix}.", f"name a {suffix} file.")
    check_outputs([output, figure], [visits])
    found, source = visits_from(visits, lat, lon, user_column)
    places = cells_over(found, region, cell, cells, None)
    check_size(len(places), len(places), math.inf)
    prior, text = prior_of(places, found, user, smoothing, source)
    with option("--metric"):
        distances = places.metric(metric, unit="km")
    if loss is not None:
        with option("--loss"):
            limit = units.parse(loss, unit="km", what="the loss")
            if not limit > 0:
                raise InputError(f"a loss of {loss} is not positive.", "ask for a positive one, such as '500 m'.")
    else:
        with option("--epsilon"):
            warn_of_extremes([MetricPrivacy(epsilon or "1/km", distances)])
    with Screen(stderr=True).status("Comparing") as status:
        comparison = compared(
            prior,
            distances,
            epsilon=None if loss is not None else epsilon or "1/km",
            loss=loss,
            remap=remap,
            dummies=dummies,
            progress=lambda name: status.update(f"Comparing: {name}"),
        )
    _print(comparison, text)
    if output is not None:
        comparison.save(output)
        say(f"Written: {output}", err=True)
    if figure is not None:
        from ..report import save_picture

        save_picture(comparison_figure(comparison), figure)
        say(f"Written: {figure}", err=True)


def _print(comparison: Comparison, source: str) -> None:
    from ..core.units import per_unit
    from ..rounding import amount, amount_at_least, amount_at_most, at_least, at_most, percent
    from ..studies.tuples import DRAWS
    from .screen import Screen
    from .tables import print_table

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
    present = [row for row in comparison.rows if not row.failure]
    rows = [(row.name, *_cells(row, unit)) for row in present]
    print_table(console, f"Mechanisms at {common} ({source})", headings, rows)
    spreads = [row.spread for row in comparison.rows if row.spread is not None]
    optimum = next((row for row in present if row.loss_lower_bound is not None), None)
    if optimum is not None and optimum.loss_lower_bound is not None:
        bound = amount_at_least(optimum.loss_lower_bound, unit)
        common_epsilon = comparison.value if comparison.equal == "epsilon" else optimum.epsilon_upper
        at = f"{at_least(common_epsilon, 5)}{per_unit(unit)}"
        alone = " with one report" if spreads else ""
        console.print(f"Proved: no mechanism of epsilon {at} loses less than {bound} on average{alone}.")
    console.print(
        f"Without a report the attacker errs by about {amount(comparison.blind_error, unit)}, or finds the secret "
        f"about {percent(comparison.blind_hit_rate)} of the time."
    )
    if spreads:
        within = amount_at_most(2 * max(spreads), unit)
        console.print("Among dummies the loss is that of a tuple's best answer, and epsilon is as for one report.")
        console.print(
            f"There the attacker's columns are estimates from {DRAWS:,} simulated tuples, the error ± {within}."
        )
    for row in comparison.rows:
        if row.failure:
            console.print(f"{row.name} is skipped: {row.failure}")


def _cells(row: Row, unit: str) -> tuple[str, ...]:
    from ..rounding import amount_at_least, amount_at_most, at_least, at_most, percent_at_most

    return (
        at_most(row.epsilon_upper, 5) if math.isfinite(row.epsilon_upper) else "none",
        amount_at_most(row.loss, unit),
        amount_at_least(row.attacker_error, unit),
        percent_at_most(row.hit_rate),
        at_most(row.information_bits, 3),
        at_least(row.entropy_bits, 3),
    )
