"""``sfumato sweep``: designs for many epsilons, distortions or people, as a table and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ...errors import InputError
from ..from_fields import options_of
from ..goals import SEARCHED
from ..messages import PARTIAL, option, say
from ..outputs import check_ending, check_outputs, draw, picture_of
from ..places import amounts_of, name_of, promise_of, visits_from
from ..progress import StopOnInterrupt
from ..sites import POINTS_GAP, site_of_cells, site_of_points, wants_cells
from ..sweep_options import SweepOptions
from ..swept import meaning_of, news_of, print_points

if TYPE_CHECKING:
    from ...geo import Places, Visits
    from ...optimal import Point


@options_of(SweepOptions)
def command(asked: SweepOptions) -> None:
    """Design for many epsilons, and show what privacy costs.

    There is a design for every epsilon alone, and for every epsilon with every
    distortion. The promise is for any two points, wherever they are; all designs are on
    one lattice, whose spacing is chosen for the largest epsilon and said. Each is the program
    or planar noise, whichever loses less. With --cell, --cells or --hexagons there are cells
    instead, and the promise is about their centres.
    Writes a table (.csv) and a figure (.png); files of these names are replaced. Exit
    code 3 if a design was not finished, or is impossible.
    """
    from ...core import Metric, Prior
    from ...optimal import sweep
    from ...reports import save_rows
    from ...reports.frontier import frontier
    from ..screen import Screen

    if asked.epsilons is None and asked.distortions is None:
        raise InputError(
            "there is nothing to sweep over.", "add --epsilons '0.15..0.9/km:6', or --distortions '500 m, 1 km'."
        )
    on_cells = wants_cells(asked, of_lattice=("spacing", "near", "lattice"), of_cells=("metric",))
    check_ending(asked.output, ".csv")
    target = asked.output or Path(f"{name_of(asked.visits)}-sweep.csv")
    drawn = picture_of(asked.figure, target, wanted=asked.picture, dark=asked.dark)
    check_outputs([target, drawn], [asked.visits])
    if not on_cells:
        rates, least = _asked(asked.epsilons, asked.distortions, "km")
    found, _ = visits_from(
        asked.visits, asked.lat, asked.lon, asked.user_column, asked.people, skip_damaged=asked.skip_damaged
    )
    if on_cells:
        site = site_of_cells(asked, found, asked.loss)
        rates, least = _asked(asked.epsilons, asked.distortions, site.distances.unit)
        for rate in rates:
            promise_of(rate, site.distances, "--epsilons")
    else:
        site = site_of_points(asked, found, asked.loss, max(rates, default=None), most=SEARCHED)
        _warn(site.places, rates)
    people = _people(site.places, found, asked.user, asked.users)
    unit = site.distances.unit
    averaged = not isinstance(site.costs, Metric)
    errors = Screen(stderr=True)
    with StopOnInterrupt() as stop, errors.status("Sweeping (Ctrl-C stops after the running design)"):

        def report(point: Point) -> None:
            errors.print(news_of(point), soft_wrap=True)

        points = sweep(
            {
                who: Prior.from_visits(site.places, visited, smoothing=asked.smoothing)
                for who, visited in people.items()
            },
            loss={who: site.places.loss(visited, asked.loss) for who, visited in people.items()}
            if averaged
            else site.costs,
            metric=site.distances if on_cells else None,
            visits=people if asked.metric == "euclidean" else None,
            medians=not on_cells and asked.loss == "euclidean" and not least,
            epsilons=rates or [None],
            distortions=[None, *least] if rates else least,
            objective=asked.objective,
            gap=POINTS_GAP if asked.gap is None and not on_cells else asked.gap,
            time_limit=asked.time_limit,
            stop=stop,
            progress=report,
        )
    screen = Screen()
    print_points(
        screen, points, unit, vertices=not on_cells, ties=on_cells and site.costs.name != site.distances.name
    )
    meaning = meaning_of(site, rates, true_errors=asked.metric == "euclidean")
    if meaning:
        screen.print(meaning)
    save_rows(points, target)
    written = [target]
    if drawn is not None and any(point.design is not None for point in points):
        written += draw(lambda: frontier(points, unit), drawn, "figure was", dark=asked.dark)
    say(f"Written: {', '.join(map(str, written))}")
    if any(point.design is None or not point.design.finished for point in points):
        raise typer.Exit(PARTIAL)


def _asked(epsilons: str | None, distortions: str | None, unit: str) -> tuple[list[float], list[float]]:
    """Return the epsilons and the distortions that the options ask for."""
    with option("--epsilons"):
        rates = amounts_of(epsilons, unit, per=True, what="epsilon")
    with option("--distortions"):
        return rates, amounts_of(distortions, unit, per=False, what="the distortion")


def _people(places: Places, visits: Visits, user: str | None, users: int | None) -> dict[str, Visits]:
    """Return the visits by name: everyone's, one user's, or those of the users with the most visits."""
    if users is None:
        return {"everyone": visits} if user is None else {f"user {user}": visits.of_user(user)}
    if user is not None:
        raise InputError("both --user and --users were given.", "choose one.")
    inside = visits.select(places.inside(visits.lat, visits.lon))
    names = list(inside.users())[:users]
    if users < 1 or not names:
        raise InputError(
            f"--users {users} finds no user.",
            "ask for at least one, in visits with a user column, or state --people file (or folder).",
        )
    return {f"user {name}": inside.of_user(name) for name in names}


def _warn(places: Places, rates: list[float]) -> None:
    """Warn of epsilons below the largest that hide nothing, or reveal nothing."""
    from ...core import CoordinatePrivacy
    from ...geo import Lattice
    from ...reports import coordinate_extremes

    if isinstance(places, Lattice):
        for rate in sorted(set(rates))[:-1]:
            for remark in coordinate_extremes(CoordinatePrivacy(rate), places):
                say(f"Warning: {remark}", err=True)
