"""``sfumato sweep``: designs for many epsilons, distortions or people, as a table and a figure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...errors import InputError
from ..messages import PARTIAL, option, say
from ..options import (
    Cell,
    Cells,
    Gap,
    Hexagons,
    Latitude,
    Longitude,
    Loss,
    Objective,
    Picture,
    PrivacyMetric,
    Region,
    Smoothing,
    TableOutput,
    TimeLimit,
    User,
    UserColumn,
    VisitsOrCity,
)
from ..outputs import check_ending, check_outputs, draw
from ..places import cells_over, metric_on, name_of, promise_of, visits_from
from ..progress import StopOnInterrupt

if TYPE_CHECKING:
    from ...core import Prior
    from ...geo import Places, Visits
    from ...optimal import Design, Point
    from ..screen import Screen

_RANGE: Final = re.compile(r"\s*([0-9.eE+-]+)\s*\.\.\s*([0-9.eE+-]+)\s*(.*?)\s*:\s*(\d+)\s*")


def command(
    visits: VisitsOrCity = None,
    epsilons: Annotated[
        str | None, typer.Option(help="The epsilons: '0.15/km, 0.3/km', or '0.15..0.9/km:6' for six equal steps.")
    ] = None,
    distortions: Annotated[
        str | None,
        typer.Option(help="The least errors of the best attacker, with or instead of --epsilons: '500 m, 1 km'."),
    ] = None,
    users: Annotated[
        int | None, typer.Option(help="One prior for each of the N users with the most visits.")
    ] = None,
    loss: Loss = "euclidean",
    objective: Objective = "expected",
    metric: PrivacyMetric = "euclidean",
    cell: Cell = None,
    cells: Cells = None,
    hexagons: Hexagons = None,
    region: Region = None,
    user: User = None,
    smoothing: Smoothing = 0.0,
    output: TableOutput = None,
    time_limit: TimeLimit = 600.0,
    gap: Gap = None,
    picture: Picture = True,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
) -> None:
    """Design for many epsilons, and show what privacy costs.

    There is a design for every epsilon alone, and for every epsilon with every
    distortion. Writes a table (.csv)
    and a figure (.png); files of these names are replaced. Exit code 3 if a design was
    not finished, or is impossible.
    """
    from ...optimal import check_size, sweep
    from ...report import save_rows
    from ...report.frontier import frontier
    from ..screen import Screen

    if epsilons is None and distortions is None:
        raise InputError(
            "there is nothing to sweep over.", "add --epsilons '0.15..0.9/km:6', or --distortions '500 m, 1 km'."
        )
    check_ending(output, ".csv")
    target = output or Path(f"{name_of(visits)}-sweep.csv")
    check_outputs([target, *([target.with_suffix(".png")] if picture else [])], [visits])
    found, _ = visits_from(visits, lat, lon, user_column)
    places = cells_over(found, region, cell, cells, hexagons)
    check_size(len(places), len(places), time_limit)
    distances = metric_on(places, metric, "--metric")
    costs = metric_on(places, loss, "--loss")
    priors = _priors(places, found, user, users, smoothing)
    with option("--epsilons"):
        rates = _amounts(epsilons, distances.unit, per=True, what="epsilon")
    with option("--distortions"):
        least = _amounts(distortions, distances.unit, per=False, what="the distortion")
    for rate in rates:
        promise_of(rate, distances, "--epsilons")
    with (
        StopOnInterrupt() as stop,
        Screen(stderr=True).status("Sweeping (Ctrl-C stops after the running design)") as status,
    ):

        def report(point: Point) -> None:
            status.update(f"{point.who}, epsilon {point.epsilon}: done")

        points = sweep(
            priors,
            loss=costs,
            metric=distances,
            epsilons=rates or [None],
            distortions=[None, *least] if rates else least,
            objective=objective,
            gap=gap,
            time_limit=time_limit,
            stop=stop,
            progress=report,
        )
    _print(Screen(), points, distances.unit, ties=costs.name != distances.name)
    save_rows(points, target)
    written = [target]
    if picture and any(point.design is not None for point in points):
        written += draw(lambda: frontier(points, distances.unit), target.with_suffix(".png"), "figure was")
    say(f"Written: {', '.join(map(str, written))}")
    if any(point.design is None or not point.design.finished for point in points):
        raise typer.Exit(PARTIAL)


def _amounts(text: str | None, unit: str, *, per: bool, what: str) -> list[float]:
    """Read ``"0.15/km, 0.3/km"`` or ``"0.15..0.9/km:6"`` (six equal steps)."""
    from ...core import units

    if text is None:
        return []
    match = _RANGE.fullmatch(text)
    if match is None:
        values = [units.parse(part.strip(), per=per, unit=unit, what=what) for part in text.split(",")]
    else:
        low, high = (units.parse(match[k] + match[3], per=per, unit=unit, what=what) for k in (1, 2))
        steps = int(match[4])
        if steps < 2 or not low < high:
            raise InputError(
                f"the range {text!r} is empty.", "write low..high/unit:steps, such as '0.15..0.9/km:6'."
            )
        values = [low + (high - low) * k / (steps - 1) for k in range(steps)]
    if not min(values) > 0:
        raise InputError(f"{text!r} holds {min(values):g}, and every value must be above 0.", "start above 0.")
    return values


def _priors(
    places: Places, visits: Visits, user: str | None, users: int | None, smoothing: float
) -> dict[str, Prior]:
    """Return the priors by name: everyone's, one user's, or those of the users with the most visits."""
    from ...core import Prior

    if users is None:
        name = "everyone" if user is None else f"user {user}"
        return {name: Prior.from_visits(places, visits, user=user, smoothing=smoothing)}
    if user is not None:
        raise InputError("both --user and --users were given.", "choose one.")
    inside = visits.select(places.inside(visits.lat, visits.lon))
    names = list(inside.users())[:users]
    if users < 1 or not names:
        raise InputError(f"--users {users} finds no user.", "ask for at least one, in visits with a user column.")
    return {f"user {name}": Prior.from_visits(places, inside, user=name, smoothing=smoothing) for name in names}


def _print(console: Screen, points: list[Point], unit: str, *, ties: bool) -> None:
    from ...core.units import per_unit
    from ...rounding import amount_at_least, amount_at_most, at_most, gap_at_most, percent_at_most
    from ..screen import print_table

    headings = (
        "prior",
        f"epsilon{per_unit(unit)}",
        "distortion asked",
        "loss",
        "gap",
        "attacker errs by",
        "finds the secret",
        "seconds",
    )
    rows = []
    for point in points:
        epsilon = "" if point.epsilon is None else at_most(point.epsilon, 6)
        minimum = "" if point.minimum is None else amount_at_least(point.minimum, unit)
        if point.design is None:
            rows.append((point.who, epsilon, minimum, "none", "", "", "", ""))
            continue
        c = point.design.certificate
        loss = percent_at_most(c.value) if not c.loss_unit else amount_at_most(c.value, c.loss_unit)
        errs, hits = amount_at_least(point.distortion, unit), percent_at_most(point.hit_rate)
        rows.append(
            (point.who, epsilon, minimum, loss, gap_at_most(c.gap), errs, hits, f"{point.design.seconds:.1f}")
        )
    print_table(console, "Frontier", headings, rows)
    for reason in sorted({f"{point.who}: {point.reason}" for point in points if point.design is None}):
        console.print(f"No design for {reason}")
    short = [point.design for point in points if point.design is not None and not point.design.finished]
    if short:
        reasons = ", ".join(sorted({design.status.value for design in short}))
        console.print(f"NOT FINISHED: {len(short)} of {len(points)} designs ({reasons}).")
    if ties:  # where loss and the attacker's error are the same distance, equal loss is equal privacy
        for sentence in _ties([point.design for point in points if point.design is not None]):
            console.print(sentence)


def _ties(designs: list[Design]) -> list[str]:
    """Say which of several mechanisms of equal loss were chosen."""
    from ...rounding import gap_at_most

    broken = [design.tie_gap for design in designs if design.tie_gap is not None]
    left = len(designs) - len(broken)
    said = []
    if broken:
        said.append(
            f"In {len(broken)} of {len(designs)} designs, among mechanisms of equal loss, one with the most "
            f"distortion privacy was chosen (within {gap_at_most(max(broken))} of the most)."
        )
    if left:
        said.append(
            f"In {left} of {len(designs)} designs no tie was broken: with another mechanism of equal loss an "
            "attacker may achieve more or less."
        )
    return said
