"""``sfumato design``: one mechanism for places, from visits or from points."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ...errors import InputError
from ..design_output import DesignOutput, PriorData, check_bound_time, write_places
from ..messages import PARTIAL, option, say
from ..options import DEFAULT_EPSILON, DesignOptions, options_of
from ..outputs import check_ending, check_outputs, picture_of
from ..place_options import (
    POINTS_GAP,
    SEARCHED,
    name_of,
    prior_of,
    site_of_cells,
    site_of_points,
    visits_of,
    wants_cells,
)
from ..progress import working
from ..reporting import Reporting
from ..solve import goal_of, goal_option, search_epsilon, solve_program

if TYPE_CHECKING:
    from ...reports.maps import Outline


@options_of(DesignOptions)
def command(options: DesignOptions) -> None:
    """Design the mechanism of least loss for places.

    Writes a mechanism file (.sfm), a report (.md) and maps (.png); replaces such files.
    The mechanism file holds the prior: how often each place is visited.
    With --region and no visits the design is for points spread evenly.
    Exit code 3 if the optimum was not reached. More: docs/command-line.md.
    """
    check_ending(options.output, ".sfm")
    evenly = options.visits is None and options.population is None and options.region is not None
    name = "region" if evenly else name_of(options.visits or options.population)
    target = options.output or Path(name).with_suffix(".sfm")
    picture = picture_of(options.figure, target, wanted=options.picture, dark=options.dark)
    reporting = Reporting.of(options)
    reporting.check_radii()
    files = [target.with_suffix(".sfm"), target.with_suffix(".md"), picture, reporting.path]
    check_outputs(files, [options.visits, options.population, options.outline])
    background = _outline(options)
    _check_limit(options)
    goal_name = goal_option(options)
    errors = bool(options.non_default("distortion", "max_loss"))
    if options.checkpoints is not None and goal_name is not None:
        raise InputError(
            f"--checkpoints was given with {goal_name}, which solves many programs.",
            "leave out --checkpoints, or give --epsilon.",
        )
    if options.protect_within is not None and options.epsilon is None and errors:
        raise InputError("--protect-within was given without --epsilon.", "add --epsilon 1.")
    on_cells = wants_cells(
        options,
        of_lattice=("spacing", "near", "lattice", "method", "bound_time"),
        of_cells=("protect_within", "metric"),
    )
    check_bound_time(options.bound_time, promised=options.epsilon is not None or not errors)
    data = _prior_data(options)
    epsilon = options.epsilon
    if epsilon is None and options.protect_within is None and not errors and goal_name is None:
        epsilon = DEFAULT_EPSILON
    loss = "euclidean" if goal_name == "--loss" else options.loss
    if on_cells:
        site = site_of_cells(options, data.visits, loss, epsilon, options.protect_within)
    else:
        most = None if goal_name is None and not errors else SEARCHED
        site = site_of_points(options, data.visits, loss, epsilon, most=most, errors=errors)
    if background is not None and options.outline is not None:
        from ...reports.maps import check_there

        check_there(background, site.places)
    gap = POINTS_GAP if options.gap is None and not on_cells and not errors else options.gap
    with working("Counting visits"):
        prior, source = prior_of(site.places, data.visits, options.user, options.smoothing, data.source)
        used = data.visits if options.user is None else data.visits.of_user(options.user)
        used = used.select(site.places.inside(used.lat, used.lon))
    medians = None if on_cells or loss != "euclidean" else used
    if goal_name is not None:
        goal = goal_of(goal_name, options, data.visits, site.costs.unit)
        search = search_epsilon(
            options, site, prior, goal, gap=POINTS_GAP if gap is None else gap, medians=medians
        )
        site, design, finished = replace(site, search=search.sentences), search.design, search.finished
    else:
        design, finished = solve_program(
            options,
            site,
            prior,
            used,
            medians=medians if options.distortion is None else None,
            gap=gap,
            of_visits=data.of == "visits",
        )
    data = data._replace(visits=used, source=source)
    write_places(design, DesignOutput(options, site, data, target, picture, background, reporting))
    if not finished:
        raise typer.Exit(PARTIAL)


def _check_limit(options: DesignOptions) -> None:
    """Refuse options that ``--max-loss`` excludes."""
    if options.max_loss is None:
        return
    options.refuse(
        ["distortion"],
        "was given with --max-loss, which finds the largest distortion.",
        "leave one of them out.",
    )
    options.refuse(
        ["objective"], "was given with --max-loss.", "leave it out: --max-loss limits the expected loss."
    )
    if options.method == "noise":
        raise InputError(
            "--method noise was given with --max-loss, which needs a table.", "leave one of them out."
        )


def _outline(options: DesignOptions) -> Outline | None:
    """Return the background of the maps: ``--outline``, or the outline of the built-in city."""
    from ...reports.maps import invented_outline, outline

    if not options.picture:
        if options.outline is not None:
            raise InputError("--outline was given with --no-picture.", "leave one of them out.")
        return None
    if options.outline is None:
        return None if options.non_default("visits", "region", "population") else invented_outline()
    return outline(options.outline)


def _prior_data(options: DesignOptions) -> PriorData:
    """Return the visits, some of them held out, or points instead."""
    if options.population is not None or (options.visits is None and options.region is not None):
        return _points(options)
    visits, source = visits_of(options)
    if options.held_out is None:
        return PriorData(visits, source)
    with option("--held-out"):
        whole = visits if options.user is None else visits.of_user(options.user)
        visits, held_out = whole.held_out(options.held_out)
    return PriorData(visits, f"{source} ({len(held_out):,} visits that are held out left out)", held_out)


def _points(options: DesignOptions) -> PriorData:
    """Return points of a population, or spread evenly over a region."""
    from ...geo import Region, read_visits, repeat_by_weight, spread_evenly

    options.refuse(
        ("user", "held_out", "user_column", "people", "skip_damaged"),
        "is about visits, but this design is for points.",
        "leave it out, or name a file of visits.",
    )
    if options.population is not None:
        if options.visits is not None:
            raise InputError(
                "both a file of visits and --population were given.", "leave one of them out: each is a prior."
            )
        name = options.population.name
        with option("--population"):
            points = read_visits(options.population, lat=options.lat, lon=options.lon)
            spread = repeat_by_weight(points, name)
        for remark in points.notes:
            say(f"Note: {remark}", err=True)
        source, remark = f"{len(points):,} weighted points in {name}", f"The design depends on {name} alone."
        return PriorData(spread, source, of="points", remark=remark)
    options.refuse(("lat", "lon"), "was given without a file of visits.", "name the file, or leave it out.")
    with option("--region"):
        region = Region.parse(options.region or "")
        columns = re.fullmatch(r"\s*(\d{1,3})\s*[x×]\s*(\d{1,3})\s*", options.cells or "")
        spread = spread_evenly(region, (1, 1) if columns is None else (int(columns[1]), int(columns[2])))
    say("Note: no visits were given, so the design is for points spread evenly over the region.", err=True)
    source = f"points spread evenly over the region of {region.size}"
    remark = "The design depends on the region alone, and so on no one's data."
    return PriorData(spread, source, of="points", remark=remark)
