"""``sfumato design`` for places: one mechanism from visits, as its options ask for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ..errors import InputError
from .best import check_bound_time
from .design_options import DesignOptions
from .goals import SEARCHED, asked_for, goal_of, searched
from .messages import PARTIAL, option, say
from .options import DEFAULT_EPSILON
from .outputs import check_ending, check_outputs, picture_of
from .places import max_loss_of, name_of, prior_of, visits_from
from .progress import StopOnInterrupt, progress_line, working
from .reported import Reporting
from .sites import POINTS_GAP, Site, site_of_cells, site_of_points, wants_cells
from .solved import say_forecast, say_how_long, solved, solver_asked
from .written import DesignOutput, write_places

if TYPE_CHECKING:
    from ..core import DistortionPrivacy, Prior
    from ..geo import Visits
    from ..optimal import Design
    from ..proofs import PlaceDistortion
    from ..reports.maps import Outline

_HOLDS_PLACES: Final = (
    "Note: with --distortion the mechanism file also holds where the visits were, so that the attacker's error "
    "can be proved again from it: keep it as secret as the visits."
)


@dataclass(frozen=True, slots=True)
class _Data:
    """The visits of a design.

    Attributes:
        found: Those that it is made from.
        apart: Those that were held out; None for none.
        source: Where they come from, in words.
        of: The word for them.
        remark: What the design depends on, where they are no visits.
    """

    found: Visits
    apart: Visits | None
    source: str
    of: str = "visits"
    remark: str = ""


def design_places(asked: DesignOptions) -> None:
    """Design, write and print one mechanism for places.

    Args:
        asked: The options.

    Raises:
        InputError: If the options do not fit each other.
    """
    check_ending(asked.output, ".sfm")
    target = asked.output or Path(_name(asked)).with_suffix(".sfm")
    drawn = picture_of(asked.figure, target, wanted=asked.picture, dark=asked.dark)
    reporting = Reporting.of(asked)
    reporting.check_radii()
    written = [target.with_suffix(".sfm"), target.with_suffix(".md"), drawn, reporting.path]
    check_outputs(written, [asked.visits, asked.population, asked.outline])
    background = _outline(asked)
    _check_limit(asked)
    aim = asked_for(asked)
    errs = not (asked.distortion is None and asked.max_loss is None)  # whether the attacker's error is asked for
    if asked.checkpoints is not None and aim is not None:
        raise InputError(
            f"--checkpoints was given with {aim}, which solves many programs.",
            "leave out --checkpoints, or give --epsilon.",
        )
    if asked.within is not None and asked.epsilon is None and errs:
        raise InputError("--within was given without --epsilon.", "add --epsilon 1.")
    on_cells = wants_cells(
        asked,
        of_lattice=("spacing", "near", "lattice", "keep", "bound_time"),
        of_cells=("within", "metric"),
    )
    check_bound_time(asked.bound_time, promised=asked.epsilon is not None or not errs)
    data = _data(asked)
    epsilon = asked.epsilon
    if epsilon is None and asked.within is None and not errs and aim is None:
        epsilon = DEFAULT_EPSILON
    loss = "euclidean" if aim == "--loss" else asked.loss
    if on_cells:
        site = site_of_cells(asked, data.found, loss, epsilon, asked.within)
    else:
        site = site_of_points(
            asked, data.found, loss, epsilon, most=None if aim is None and not errs else SEARCHED
        )
    if background is not None and asked.outline is not None:
        from ..reports.maps import check_there

        check_there(background, site.places)
    gap = POINTS_GAP if asked.gap is None and not on_cells and not errs else asked.gap
    with working("Counting visits"):
        prior, source = prior_of(site.places, data.found, asked.user, asked.smoothing, data.source)
        used = data.found if asked.user is None else data.found.of_user(asked.user)
        used = used.select(site.places.inside(used.lat, used.lon))
    medians = None if on_cells or loss != "euclidean" else used
    if aim is not None:
        goal = goal_of(aim, asked, data.found, site.costs.unit)
        search = searched(
            site,
            prior,
            goal,
            asked.within,
            gap=POINTS_GAP if gap is None else gap,
            solver=asked.solver,
            time_limit=asked.time_limit,
            medians=medians,
            keep=asked.keep,
        )
        site, result, finished = replace(site, search=search.sentences), search.design, search.finished
    else:
        result, finished = _solved(
            asked, site, prior, used, medians if asked.distortion is None else None, gap, data.of
        )
    output = DesignOutput(
        site,
        used,
        data.apart,
        source,
        target,
        drawn,
        asked.dark,
        asked.bound_time,
        background,
        reporting,
        data.of,
        data.remark,
    )
    write_places(result, output, solver=asked.solver)
    if not finished:
        raise typer.Exit(PARTIAL)


def _name(asked: DesignOptions) -> str:
    """Return the name of the mechanism file, without its ending."""
    if asked.visits is None and asked.population is None and asked.region is not None:
        return "region"
    return name_of(asked.visits or asked.population)


def _check_limit(asked: DesignOptions) -> None:
    """Refuse what has no place beside ``--max-loss``."""
    if asked.max_loss is None:
        return
    asked.refuse(
        ["distortion"],
        "was given beside --max-loss, which looks for the most distortion.",
        "leave one of them out.",
    )
    asked.refuse(
        ["objective"], "was given beside --max-loss.", "leave it out: --max-loss limits the expected loss."
    )
    if asked.keep == "noise":
        raise InputError(
            "--keep noise was given beside --max-loss, which only a program can keep.", "leave one of them out."
        )


def _outline(asked: DesignOptions) -> Outline | None:
    """Return what the maps are drawn on: the outline asked for, or that of the built-in city."""
    from ..reports.maps import invented_outline, outline

    if not asked.picture:
        if asked.outline is not None:
            raise InputError("--outline was given with --no-picture.", "leave one of them out.")
        return None
    if asked.outline is None:
        return None if asked.given("visits", "region", "population") else invented_outline()
    return outline(asked.outline)


def _data(asked: DesignOptions) -> _Data:
    """Read the visits, and hold some of them out; or take points instead."""
    if asked.population is not None or (asked.visits is None and asked.region is not None):
        return _points(asked)
    found, source = visits_from(
        asked.visits, asked.lat, asked.lon, asked.user_column, asked.people, skip_damaged=asked.skip_damaged
    )
    if asked.held_out is None:
        return _Data(found, None, source)
    with option("--held-out"):
        found, apart = (found if asked.user is None else found.of_user(asked.user)).held_out(asked.held_out)
    return _Data(found, apart, f"{source} ({len(apart):,} visits that are held out left out)")


def _points(asked: DesignOptions) -> _Data:
    """Return points in place of visits: of a population, or spread evenly over a region."""
    from ..geo import Region, read_visits, repeat_by_weight, spread_evenly

    why = "is about visits, but points stand for them here."
    asked.refuse(
        ("user", "held_out", "user_column", "people", "skip_damaged"),
        why,
        "leave it out, or name a file of visits.",
    )
    if asked.population is not None:
        if asked.visits is not None:
            raise InputError(
                "both a file of visits and --population were given.", "leave one of them out: each is a prior."
            )
        with option("--population"):
            points = read_visits(asked.population, lat=asked.lat, lon=asked.lon)
            found = repeat_by_weight(points, asked.population.name)
        for remark in points.notes:
            say(f"Note: {remark}", err=True)
        source = f"{len(points):,} weighted points in {asked.population.name}"
        return _Data(found, None, source, "points", f"The design depends on {asked.population.name} alone.")
    asked.refuse(("lat", "lon"), "was given without a file of visits.", "name the file, or leave it out.")
    with option("--region"):
        region = Region.parse(asked.region or "")
        columns = re.fullmatch(r"\s*(\d{1,3})\s*[x×]\s*(\d{1,3})\s*", asked.cells or "")
        found = spread_evenly(region, (1, 1) if columns is None else (int(columns[1]), int(columns[2])))
    say("Note: no visits were given, so the design is for points spread evenly over the region.", err=True)
    source = f"points spread evenly over the region of {region.size}"
    return _Data(found, None, source, "points", "The design depends on the region alone, and so on no one's data.")


def _solved(
    asked: DesignOptions,
    site: Site,
    prior: Prior,
    used: Visits,
    medians: Visits | None,
    gap: float | None,
    of: str,
) -> tuple[Design, bool]:
    """Return the design of least loss, or of most distortion, and whether Ctrl-C did not stop it."""
    guarantees = list(site.promises)
    points = asked.metric == "euclidean"  # the attacker's error is that of the true point
    if asked.distortion is not None:
        guarantees.append(_error_asked(asked.distortion, site, prior, used if points else None, of=of))
    if points and not (asked.distortion is None and asked.max_loss is None):
        say_how_long(len(site.places), asked.time_limit)
    elif asked.solver == "auto" and asked.keep != "noise" and asked.max_loss is None:
        with working("Estimating how long the design takes"):
            say_forecast(
                prior,
                site,
                guarantees,
                objective=asked.objective,
                pairs=asked.pairs,
                gap=gap,
                twice=medians is not None,
            )
    limit = None if asked.max_loss is None else max_loss_of(asked.max_loss, site.costs.unit)
    unit = site.costs.unit if limit is None else site.distances.unit
    with StopOnInterrupt() as stop, progress_line(unit) as report:
        result = solved(
            prior,
            site,
            used if points else None,
            limit,
            guarantees=guarantees,
            objective=asked.objective,
            keep=asked.keep,
            medians=medians,
            pairs=asked.pairs,
            gap=gap,
            solver=solver_asked(asked),
            time_limit=asked.time_limit,
            stop=stop,
            progress=report,
        )
    if stop.asked and result.finished:  # the best of what was tried until then
        result = result if result.has_program else replace(result, finished=False)
        say(
            "Note: stopped by Ctrl-C. The mechanism is proved; a longer run may find one that loses less.",
            err=True,
        )
    return result, not stop.asked


def _error_asked(
    distortion: str, site: Site, prior: Prior, visits: Visits | None, *, of: str
) -> DistortionPrivacy | PlaceDistortion:
    """Return the attacker's error as a guarantee: of the true points of visits, or else of the places."""
    from ..core import DistortionPrivacy
    from ..proofs import PlaceDistortion

    with option("--distortion"):
        found: DistortionPrivacy | PlaceDistortion
        if visits is None:
            found = DistortionPrivacy(distortion, site.distances)
        else:
            found = PlaceDistortion(distortion, site.places, visits)
        if not found.minimum > 0:
            raise InputError(
                f"a distortion of {distortion} asks for nothing: every mechanism has it.",
                "leave it out, or ask for more.",
            )
        if isinstance(found, PlaceDistortion):
            found.check_possible(prior)
            if of == "visits":
                say(_HOLDS_PLACES, err=True)
    return found
