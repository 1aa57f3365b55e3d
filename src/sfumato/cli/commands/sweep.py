"""``sfumato sweep``: designs for many epsilons, distortions or people, as a table and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ...errors import InputError
from ..messages import PARTIAL, StopOnInterrupt, option, say
from ..options import SweepOptions, options_of
from ..outputs import check_ending, check_outputs, draw, picture_of
from ..place_options import (
    POINTS_GAP,
    SEARCHED,
    amounts_of,
    name_of,
    promise_of,
    site_of_cells,
    site_of_points,
    visits_of,
    wants_cells,
)

if TYPE_CHECKING:
    from ...geo import Places, Visits
    from ...optimal import Point
    from ..place_options import Site
    from ..screen import Screen

_KINDS: Final = {"table": "table", "noise": "planar noise"}


@options_of(SweepOptions)
def command(options: SweepOptions) -> None:
    """Design for many epsilons, and show what privacy costs.

    One design for each epsilon, and for each epsilon with each distortion.
    All are on one lattice or on the same cells.
    Writes a table (.csv) and a figure (.png); replaces such files.
    Exit code 3 if a design was not finished, or is impossible.
    """
    from ...core import Metric, Prior
    from ...optimal import sweep
    from ...reports import frontier, save_rows
    from ..screen import Screen

    if options.epsilons is None and options.distortions is None:
        raise InputError(
            "there is nothing to sweep over.", "add --epsilons '0.15..0.9/km:6', or --distortions '500 m, 1 km'."
        )
    on_cells = wants_cells(options, of_lattice=("spacing", "near", "lattice"), of_cells=("metric",))
    check_ending(options.output, ".csv")
    target = options.output or Path(f"{name_of(options.visits)}-sweep.csv")
    picture = picture_of(options, target)
    check_outputs([target, picture], [options.visits])
    if not on_cells:
        rates, least = _amounts(options, "km")
    visits, _ = visits_of(options.visits, options)
    if on_cells:
        site = site_of_cells(options, visits, options.loss)
        rates, least = _amounts(options, site.distances.unit)
        for rate in rates:
            promise_of(rate, site.distances, "--epsilons")
    else:
        site = site_of_points(
            options, visits, options.loss, max(rates, default=None), most=SEARCHED, errors=bool(least)
        )
        _warn(site.places, rates)
    people = _people(site.places, visits, options.user, options.users)
    unit = site.distances.unit
    averaged = not isinstance(site.costs, Metric)
    errors = Screen(stderr=True)
    with StopOnInterrupt() as stop, errors.status("Sweeping (Ctrl-C stops after the running design)"):
        points = sweep(
            {
                person: Prior.from_visits(site.places, visited, smoothing=options.smoothing)
                for person, visited in people.items()
            },
            loss={person: site.places.loss(visited, options.loss) for person, visited in people.items()}
            if averaged
            else site.costs,
            metric=site.distances if on_cells else None,
            visits=people if options.metric == "euclidean" else None,
            medians=not on_cells and options.loss == "euclidean" and not least,
            epsilons=rates or [None],
            distortions=[None, *least] if rates else least,
            objective=options.objective,
            gap=POINTS_GAP if options.gap is None and not (on_cells or least) else options.gap,
            time_limit=options.time_limit,
            stop=stop,
            progress=lambda point: errors.print(_point_line(point), soft_wrap=True),
        )
    screen = Screen()
    ties = on_cells and bool((site.costs.array != site.distances.array).any())
    _print_points(screen, points, unit, vertices=not on_cells, ties=ties)
    if meaning := _meaning(site, rates, on_cells, averaged=averaged, true_errors=options.metric == "euclidean"):
        screen.print(meaning)
    save_rows(points, target)
    paths = [target]
    if picture is not None and any(point.design is not None for point in points):
        paths += draw(lambda: frontier(points, unit), picture, "figure was", dark=options.dark)
    say(f"Written: {', '.join(map(str, paths))}")
    if any(point.design is None or not point.design.is_finished for point in points):
        raise typer.Exit(PARTIAL)


def _amounts(options: SweepOptions, unit: str) -> tuple[list[float], list[float]]:
    with option("--epsilons"):
        rates = amounts_of(options.epsilons, unit, per=True, noun="epsilon")
    with option("--distortions"):
        return rates, amounts_of(options.distortions, unit, per=False, noun="the distortion")


def _people(places: Places, visits: Visits, user: str | None, users: int | None) -> dict[str, Visits]:
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


def _meaning(site: Site, rates: list[float], on_cells: bool, *, averaged: bool, true_errors: bool) -> str:
    """Return what epsilon and the amounts are about, and why the lattice has its spacing."""
    from ...core.naming import BORDER
    from ...rounding import at_most

    sentences = []
    if not on_cells:
        sentences += ["Epsilon is between any two points."] if rates else []
        sentences.append(
            "Loss and errors are distances from the true point, and the attacker may guess any point."
        )
    else:
        sentences += [BORDER] if rates else []
        if averaged:
            sentences.append("Loss is the distance from the true point.")
        if true_errors:
            sentences.append("The attacker's error is the distance from the true point to any guess.")
    if site.reason and len(rates) > 1:
        sentences.append(f"All designs are on one lattice, for the largest epsilon, {at_most(max(rates), 6)}/km.")
    return " ".join([*sentences, site.reason]).strip()


def _point_line(point: Point) -> str:
    from ...reports.sentences import loses_words
    from ...rounding import about

    parts = [point.name]
    parts += [] if point.epsilon is None else [f"epsilon {about(point.epsilon, 6)}"]
    parts += [] if point.minimum is None else [f"distortion {about(point.minimum, 6)}"]
    if point.design is None:
        return f"{', '.join(parts)}: no design"
    loss = loses_words(point.loss, point.loss_unit)
    return f"{', '.join(parts)}: {_KINDS[point.design.kind]}, {loss} ({point.design.seconds:.1f} s)"


def _print_points(console: Screen, points: list[Point], unit: str, *, vertices: bool, ties: bool) -> None:
    """Print a sweep and remarks; the unit is that of errors, and with `vertices` secrets are on a lattice."""
    from ...core.units import per_unit
    from ...reports.sentences import stopped_words
    from ...rounding import amount_at_least, amount_at_most, at_most, gap_at_most, percent_at_most
    from ..screen import print_table

    headings = (
        "prior",
        f"epsilon{per_unit(unit)}",
        "distortion asked",
        *(["mechanism"] if vertices else []),
        "loss",
        "gap",
        "attacker's error",
        "finds the vertex" if vertices else "finds the secret",
        "seconds",
    )
    rows = []
    for point in points:
        epsilon = "" if point.epsilon is None else at_most(point.epsilon, 6)
        minimum = "" if point.minimum is None else amount_at_least(point.minimum, unit)
        first = (point.name, epsilon, minimum)
        if point.design is None:
            rows.append((*first, *([""] if vertices else []), "none", "", "", "", ""))
            continue
        kind = [_KINDS[point.design.kind]] if vertices else []
        loss = percent_at_most(point.loss) if not point.loss_unit else amount_at_most(point.loss, point.loss_unit)
        error, took = amount_at_least(point.distortion, unit), f"{point.design.seconds:.1f}"
        gap = hits = "-"
        if point.design.has_program:
            gap, hits = gap_at_most(point.design.certificate.gap), percent_at_most(point.hit_rate)
        rows.append((*first, *kind, loss, gap, error, hits, took))
    print_table(console, "Frontier", headings, rows, text=(0, 3) if vertices else (0,))
    for reason in sorted({f"{point.name}: {point.reason}" for point in points if point.design is None}):
        console.print(f"No design for {reason}")
    short = [point.design for point in points if point.design is not None and not point.design.is_finished]
    if short:
        reasons = ", ".join(sorted({stopped_words(design) for design in short}))
        console.print(f"NOT FINISHED: {len(short)} of {len(points)} designs ({reasons}).")
    for sentence in _remarks(points, ties=ties):
        console.print(sentence)


def _remarks(points: list[Point], *, ties: bool) -> Iterator[str]:
    """Yield how ties were broken, and where planar noise was taken or not considered."""
    from ...core.naming import slack_words
    from ...reports.sentences import tie_words

    designs = [point.design for point in points if point.design]
    programs = [design for design in designs if design.has_program]
    noises = [design for design in designs if not design.has_program]
    if ties:  # where loss and the attacker's error are the same distance, equal loss is equal privacy
        gaps = [design.tie_gap for design in programs if design.tie_gap is not None]
        if gaps:
            yield tie_words(max(gaps), f"In {len(gaps)} of {len(programs)} designs, among ")
        if left := len(programs) - len(gaps):
            yield (
                f"In {left} of {len(programs)} designs no tie was broken: with another mechanism of equal loss an "
                "attacker may achieve more or less."
            )
    if noises:
        yield (
            f"Planar noise with a remap was taken in {len(noises)} of {len(points)} designs, where it loses less "
            f"than the program. {slack_words(max(design.slack_m for design in noises))}"
        )
    for reason in dict.fromkeys(point.without_noise for point in points if point.without_noise):
        count = sum(point.without_noise == reason for point in points)
        yield f"In {count} of {len(designs)} designs planar noise was not considered: {reason}."
