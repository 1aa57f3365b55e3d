"""``sfumato design``: a proved mechanism from places, with its file and a report."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...errors import InputError
from ..best import check_bound_time
from ..goals import SEARCHED, asked_for, goal_of, searched
from ..messages import PARTIAL, option, say
from ..options import (
    DEFAULT_EPSILON,
    AttackerFinds,
    BoundTime,
    Cell,
    Cells,
    Gap,
    HeldOut,
    Hexagons,
    Latitude,
    LatticeKind,
    Longitude,
    LossOrGoal,
    Near,
    Objective,
    Picture,
    PrivacyMetric,
    Region,
    Smoothing,
    Spacing,
    TimeLimit,
    User,
    UserColumn,
    VisitsOrCity,
)
from ..outputs import check_ending, check_outputs
from ..places import max_loss_of, name_of, prior_of, visits_from
from ..progress import StopOnInterrupt, progress_line
from ..sites import POINTS_GAP, site_of_cells, site_of_points, wants_cells
from ..written import write_design, write_noise

if TYPE_CHECKING:
    from ...core import Prior
    from ...geo import Visits
    from ...optimal import Design, NoiseDesign
    from ..sites import Site

_HOLDS_PLACES: Final = (
    "Note: with --distortion the mechanism file also holds where the visits were, so that the attacker's error "
    "can be proved again from it: keep it as secret as the visits."
)
_SOON_S: Final = 20.0  # seconds that nobody needs to be told of


def command(
    visits: VisitsOrCity = None,
    epsilon: Annotated[
        str | None,
        typer.Option(help=f"The metric privacy to promise, such as 0.6/km. [default: {DEFAULT_EPSILON}]"),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(help="Protect only places this near to each other: '500 m'; --epsilon is then a number."),
    ] = None,
    distortion: Annotated[
        str | None, typer.Option(help="The best attacker errs by at least this on average: '800 m'.")
    ] = None,
    max_loss: Annotated[
        str | None,
        typer.Option(help="Make the attacker's error as large as this average loss allows: '500 m'."),
    ] = None,
    loss: LossOrGoal = "euclidean",
    attacker_finds: AttackerFinds = None,
    objective: Objective = "expected",
    metric: PrivacyMetric = "euclidean",
    spacing: Spacing = None,
    lattice: LatticeKind = "square",
    near: Near = None,
    cell: Cell = None,
    cells: Cells = None,
    hexagons: Hexagons = None,
    region: Region = None,
    user: User = None,
    smoothing: Smoothing = 0.0,
    held_out: HeldOut = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the mechanism file (.sfm) here, with the report beside it."),
    ] = None,
    time_limit: TimeLimit = 600.0,
    gap: Gap = None,
    solver: Annotated[
        str, typer.Option(help="auto, structured (our interior point), highs, simplex or clarabel.")
    ] = "auto",
    pairs: Annotated[
        str,
        typer.Option(help="Rows of the program: generated, all, or spanner (for comparisons; costs some loss)."),
    ] = "generated",
    bound_time: BoundTime = 0.0,
    keep: Annotated[
        str,
        typer.Option(help="For points: better (the program or planar noise, as loses less), program, or noise."),
    ] = "better",
    picture: Picture = True,
    lat: Latitude = None,
    lon: Longitude = None,
    user_column: UserColumn = None,
) -> None:
    """Design the mechanism of least loss, and prove it.

    The privacy is what the options ask for; without any it is an epsilon of 1/km, for any
    two points wherever they are. Points are rounded at random to a lattice, whose spacing
    is chosen and said. With --cell, --cells or --hexagons there are cells instead, and the
    promise is about their centres.
    Writes the mechanism file (.sfm), a report (.md) and maps (.png); files of these names
    are replaced. The mechanism file holds the prior: anyone with it can see how often each
    place is visited, and with --distortion also where the visits were. Exit code 3 if the optimum was not reached.
    """
    from ...core import DistortionPrivacy
    from ...evidence import PlaceDistortion
    from ...optimal import Design

    check_ending(output, ".sfm")
    target = output or Path(name_of(visits)).with_suffix(".sfm")
    check_outputs([target.with_suffix(each) for each in (".sfm", ".md", *([".png"] if picture else []))], [visits])
    if max_loss is not None and distortion is not None:
        raise InputError(
            "--distortion was given beside --max-loss, which looks for the most distortion.",
            "leave one of them out.",
        )
    if max_loss is not None and objective != "expected":
        raise InputError(
            "--objective was given beside --max-loss.", "leave it out: --max-loss limits the expected loss."
        )
    if max_loss is not None and keep == "noise":
        raise InputError(
            "--keep noise was given beside --max-loss, which only a program can keep.", "leave one of them out."
        )
    aim = asked_for(
        loss,
        attacker_finds,
        {
            "--epsilon": epsilon,
            "--distortion": distortion,
            "--max-loss": max_loss,
            "--objective": None if objective == "expected" else objective,
            "--pairs": None if pairs == "generated" else pairs,
        },
    )
    kind = "euclidean" if aim == "--loss" else loss
    if within is not None and epsilon is None and not (distortion is None and max_loss is None):
        raise InputError("--within was given without --epsilon.", "add --epsilon 1.")
    on_cells = wants_cells(
        {"--cell": cell, "--cells": cells, "--hexagons": hexagons},
        {
            "--spacing": spacing,
            "--near": near,
            "--lattice": None if lattice == "square" else lattice,
            "--keep": None if keep == "better" else keep,
            "--bound-time": bound_time or None,
        },
        {
            "--within": within,
            "--metric": None if metric == "euclidean" else metric,
            "--objective": None if objective != "worst-case" else objective,
        },
    )
    check_bound_time(bound_time, promised=epsilon is not None or (distortion is None and max_loss is None))
    found, source = visits_from(visits, lat, lon, user_column)
    apart: Visits | None = None
    if held_out is not None:
        with option("--held-out"):
            found, apart = (found if user is None else found.of_user(user)).held_out(held_out)
        source += f" ({len(apart):,} visits that are held out left out)"
    if epsilon is None and within is None and distortion is None and max_loss is None and aim is None:
        epsilon = DEFAULT_EPSILON
    if on_cells:
        site = site_of_cells(
            found,
            user,
            kind,
            objective,
            metric,
            epsilon,
            within,
            region=region,
            cell=cell,
            cells=cells,
            hexagons=hexagons,
            time_limit=time_limit,
        )
    else:
        site = site_of_points(
            found,
            user,
            kind,
            epsilon,
            region=region,
            spacing=spacing,
            kind=lattice,
            near=near,
            time_limit=time_limit,
            most=None if aim is None and distortion is None and max_loss is None else SEARCHED,
        )
        gap = POINTS_GAP if gap is None and distortion is None and max_loss is None else gap
    prior, text = prior_of(site.places, found, user, smoothing, source)
    used = found if user is None else found.of_user(user)
    used = used.select(site.places.inside(used.lat, used.lon))
    if aim is not None:
        goal = goal_of(aim, loss if attacker_finds is None else attacker_finds, found, user, site.costs.unit)
        search = searched(
            site,
            prior,
            goal,
            within,
            gap=POINTS_GAP if gap is None else gap,
            solver=solver,
            time_limit=time_limit,
            medians=None if on_cells or kind != "euclidean" else used,
            keep=keep,
        )
        site = replace(site, search=search.sentences)
        made = search.design
        if isinstance(made, Design):
            write_design(
                made, site, used, apart, text, target, solver=solver, picture=picture, bound_time=bound_time
            )
        else:
            write_noise(made, site, used, apart, text, target, picture=picture, bound_time=bound_time)
        if not search.finished:
            raise typer.Exit(PARTIAL)
        return
    guarantees = list(site.promises)
    if distortion is not None:
        with option("--distortion"):
            asked = (
                PlaceDistortion(distortion, site.places, used)
                if metric == "euclidean"
                else DistortionPrivacy(distortion, site.distances)
            )
            if not asked.minimum > 0:
                raise InputError(
                    f"a distortion of {distortion} asks for nothing: every mechanism has it.",
                    "leave it out, or ask for more.",
                )
            if isinstance(asked, PlaceDistortion):
                asked.check_possible(prior)
                say(_HOLDS_PLACES, err=True)
            guarantees.append(asked)
    if metric == "euclidean" and not (distortion is None and max_loss is None):
        _say_how_long(len(site.places), time_limit)
    limit = None if max_loss is None else max_loss_of(max_loss, site.costs.unit)
    unit = site.costs.unit if limit is None else site.distances.unit
    with StopOnInterrupt() as stop, progress_line(unit) as report:
        result = _solved(
            prior,
            site,
            used if metric == "euclidean" else None,
            limit,
            guarantees=guarantees,
            objective=objective,
            keep=keep,
            medians=None if on_cells or kind != "euclidean" or distortion is not None else used,
            pairs=pairs,
            gap=gap,
            solver=solver,
            time_limit=time_limit,
            stop=stop,
            progress=report,
        )
    if isinstance(result, Design):
        write_design(
            result, site, used, apart, text, target, solver=solver, picture=picture, bound_time=bound_time
        )
    else:
        write_noise(result, site, used, apart, text, target, picture=picture, bound_time=bound_time)


def _say_how_long(places: int, time_limit: float) -> None:
    """Say how long a design for the error of the true point takes, and why, where that is not soon."""
    from ...optimal import seconds_for_points

    seconds = seconds_for_points(places)
    if seconds > _SOON_S:
        least = min(seconds, time_limit)
        say(
            f"Note: the attacker may guess any point, so a few programs with {places:,} places are solved in "
            f"turn: about {_duration(least)} on an idle machine. When --time-limit ends, the best proved "
            "mechanism is written.",
            err=True,
        )


def _duration(seconds: float) -> str:
    return f"{math.ceil(seconds / 10) * 10:,} seconds" if seconds < 90 else f"{math.ceil(seconds / 60):,} minutes"


def _solved(
    prior: Prior,
    site: Site,
    visits: Visits | None,
    limit: float | None,
    *,
    objective: str,
    keep: str,
    medians: Visits | None,
    **request: Any,
) -> Design | NoiseDesign:
    """Return the design of least loss, or of most distortion where the loss has a limit.

    With visits, the distortion is that of the true point; else that of the places.
    """
    from ...evidence import PlaceDistortion
    from ...optimal import design, design_private

    if limit is None:
        found: Design | NoiseDesign = design(
            prior, loss=site.costs, objective=objective, keep=keep, medians=medians, **request
        )
        return found
    errors = site.distances if visits is None else PlaceDistortion(0, site.places, visits)
    return design_private(prior, loss=site.costs, distance=errors, max_loss=limit, **request)
