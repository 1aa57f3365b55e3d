"""``sfumato design``: one mechanism for places, from visits or from points."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ...errors import InputError
from ..design_output import DesignOutput, Kinds, PriorData, check_bound_time, write_places
from ..mechanism_files import Reporting
from ..messages import PARTIAL, StopOnInterrupt, option, progress_line, say, working
from ..options import DEFAULT_EPSILON, DesignOptions, SolverOptions, options_of
from ..outputs import check_ending, check_outputs, picture_of
from ..place_options import (
    POINTS_GAP,
    SEARCHED,
    kinds_on,
    max_loss_of,
    name_of,
    prior_of,
    site_of_cells,
    site_of_points,
    visits_of,
    wants_cells,
)

if TYPE_CHECKING:
    from ...core import DesignGuarantee, DistortionPrivacy, Loss, Metric, Prior
    from ...geo import Visits
    from ...optimal import Design, DesignGoal, EpsilonTrial, FoundEpsilon, RobustDesign, Solver
    from ...proofs import PlaceDistortion
    from ..place_options import Site

_ONE: Final = "leave one of them out."
_SOON_S: Final = 20.0  # seconds that need no announcement
_USUAL_GAP: Final = 1e-6
_HOLDS_PLACES: Final = (
    "Note: with --distortion the mechanism file also holds where the visits were, so that the attacker's error "
    "can be proved from it. Keep it as secret as the visits."
)
_UNIT: Final = re.compile(r"[a-zA-Z%]\s*$")
_AMOUNT: Final = re.compile(r"\s*[-+]?\.?\d.*", re.DOTALL)


@options_of(DesignOptions)
def command(options: DesignOptions) -> None:
    """Design the mechanism of least loss for places.

    Writes a mechanism file (.sfm), a report (.md) and maps (.png); replaces such files.
    The mechanism file holds the prior: how often each place is visited.
    With --region and no visits the design is for points spread evenly.
    Exit code 3 if the optimum was not reached. More: docs/reference/command-line.md.
    """
    from ...reports.maps import check_there, outline
    from ..robust_design import check_alone, design_worst, family_promise, priors_in_groups, priors_of_visits

    check_ending(options.output, ".sfm")
    evenly = options.visits is None and options.population is None and options.region is not None
    name = "region" if evenly else name_of(options.visits or options.population)
    target = options.output or Path(name).with_suffix(".sfm")
    picture = picture_of(options, target)
    reporting = Reporting.of(options)
    reporting.check_radii()
    files = [target.with_suffix(".sfm"), target.with_suffix(".md"), picture, reporting.path]
    check_outputs(files, [options.visits, options.population, options.outline, options.kinds])
    if options.outline is not None and not options.picture:
        raise InputError("--outline was given with --no-picture.", _ONE)
    background = None if options.outline is None else outline(options.outline)
    _check_limit(options)
    if options.priors is not None:
        check_alone(options, ("family", "max_loss", "distortion", "held_out", "user", "population", "bound_time"))
        if options.method == "noise":
            raise InputError("--method noise was given with --priors, which needs a table.", _ONE)
    options.check_family()
    goal_name = _goal_option(options)
    if goal_name is not None and options.priors is not None:
        raise InputError(f"{goal_name} was given with --priors, which needs an epsilon.", "give --epsilon 1/km.")
    errors = bool(options.non_default("distortion", "max_loss", "family"))
    if options.distortion is None and options.max_loss is None:
        options.refuse(
            ("kinds", "kind_column"),
            "was given without a goal about the attacker.",
            "add --max-loss '500 m', or the least chance of a wrong guess: --distortion 0.4.",
        )
    elif options.kinds is None:
        options.refuse(("kind_column",), "was given without --kinds.", "name the map: --kinds places.csv.")
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
    check_bound_time(options.bound_time, has_epsilon=options.epsilon is not None or not errors)
    data = _prior_data(options)
    epsilon = options.epsilon
    if epsilon is None and options.protect_within is None and not errors and goal_name is None:
        epsilon = DEFAULT_EPSILON
    loss = "euclidean" if goal_name == "--loss" else options.loss
    if on_cells:
        site = site_of_cells(options, data.visits, loss, epsilon, options.protect_within)
    else:
        most = None if goal_name is None and not errors and options.priors is None else SEARCHED
        limit_m = _limit_m(options) if options.kinds is None else None
        site = site_of_points(options, data.visits, loss, epsilon, most=most, errors=errors, limit_m=limit_m)
    used = data.visits if options.user is None else data.visits.of_user(options.user)
    families, groups = family_promise(
        options,
        site.places,
        site.distances,
        lambda column: priors_in_groups(options, used, site.places, column, "--family"),
    )
    site = replace(site, promises=(*site.promises, *families))
    if background is not None:
        check_there(background, site.places)
    gap = POINTS_GAP if options.gap is None and not on_cells and not errors else options.gap
    with working("Counting visits"):
        prior, source = prior_of(site.places, data.visits, options.user, options.smoothing, data.source)
        used = used.select(site.places.inside(used.lat, used.lon))
    kinds = (
        None
        if options.kinds is None
        else Kinds.of(kinds_on(site.places, options.kinds, options.kind_column), prior)
    )
    if kinds is None:
        medians = None if on_cells or loss != "euclidean" or options.distortion is not None else used
    else:
        medians = used if getattr(site.costs, "true_point", "") else None
    robust: RobustDesign | None = None
    names: tuple[str, ...] = ()
    if options.priors is not None:
        several = priors_of_visits(options, data.visits, site, data.source)
        robust, names, source = (
            design_worst(several, site.promises, options),
            tuple(several.priors),
            several.source,
        )
        design, is_finished = robust.design, robust.design.is_finished
    elif goal_name is not None:
        goal = _goal_of(goal_name, options, data.visits, site.costs.unit)
        search = _search_epsilon(
            options, site, prior, goal, gap=POINTS_GAP if gap is None else gap, medians=medians
        )
        site, design, is_finished = replace(site, search=search.sentences), search.design, search.is_finished
    else:
        design, is_finished = _solve_program(
            options,
            site,
            prior,
            None if options.kinds is not None or options.metric != "euclidean" else used,
            kinds=kinds,
            medians=medians,
            gap=gap,
            of_visits=data.of == "visits",
        )
    data = data._replace(visits=used, source=source)
    output = DesignOutput(
        options, site, data, target, picture, background, reporting, robust, names, kinds, groups
    )
    write_places(design, output)
    if not is_finished:
        raise typer.Exit(PARTIAL)


def _check_limit(options: DesignOptions) -> None:
    if options.distortion is not None and options.kinds is None and options.metric == "euclidean":
        options.refuse(["smoothing"], "was given with --distortion, which is for places of visits alone.", _ONE)
    if options.max_loss is None:
        return
    leave = "leave one of them out."
    options.refuse(["distortion"], "was given with --max-loss, which finds the largest distortion.", leave)
    options.refuse(["family"], "was given with --max-loss.", leave)
    limited = "leave it out: --max-loss limits the expected loss."
    options.refuse(["objective"], "was given with --max-loss.", limited)
    if options.method == "noise":
        raise InputError("--method noise was given with --max-loss, which needs a table.", leave)


def _limit_m(options: DesignOptions) -> float | None:
    """Return the limit of the loss, or the least error, in metres; None where there is none."""
    from ...core import DistortionPrivacy, Loss

    if options.max_loss is not None:
        return max_loss_of(options.max_loss, "m")
    if options.distortion is None:
        return None
    with option("--distortion"):
        guarantee = DistortionPrivacy(options.distortion, Loss([[0.0]], "m"))
        _check_asks(guarantee, options.distortion)
    return guarantee.minimum


def _check_asks(guarantee: DistortionPrivacy, distortion: str) -> None:
    if not guarantee.minimum > 0:
        raise InputError(
            f"a distortion of {distortion} asks for nothing: every mechanism has it.",
            "leave it out, or ask for more.",
        )


def _prior_data(options: DesignOptions) -> PriorData:
    if options.population is not None or (options.visits is None and options.region is not None):
        return _points(options)
    visits, source = visits_of(options.visits, options)
    if options.held_out is None:
        return PriorData(visits, source)
    with option("--held-out"):
        whole = visits if options.user is None else visits.of_user(options.user)
        visits, held_out = whole.held_out(options.held_out)
    return PriorData(visits, f"{source} ({len(held_out):,} visits that are held out left out)", held_out)


def _points(options: DesignOptions) -> PriorData:
    from ...geo import Region, read_visits, repeat_by_weight, spread_evenly

    options.refuse(
        ("user", "held_out", "priors", "user_column", "people", "skip_damaged"),
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


def _goal_option(options: DesignOptions) -> str | None:
    """Return the option whose goal an epsilon is searched for; None where there is none."""
    loss, leave = _AMOUNT.fullmatch(options.loss), _ONE
    if not loss and options.attacker_finds is None:
        return None
    if loss and options.attacker_finds is not None:
        raise InputError(
            "--loss with an amount and --attacker-finds were both given, and an epsilon is searched for one goal.",
            leave,
        )
    goal = "--loss" if loss else "--attacker-finds"
    why = f"was given with {goal}, which searches for the epsilon of the least loss."
    options.refuse(("epsilon", "distortion", "max_loss", "objective", "pairs", "family"), why, leave)
    return goal


def _goal_of(name: str, options: DesignOptions, visits: Visits, unit: str) -> DesignGoal:
    """Return the goal that ``--loss`` or ``--attacker-finds`` names; the unit is that of the loss."""
    from ...core import units
    from ...optimal import AttackerGoal, LossGoal

    with option(name):
        if options.attacker_finds is not None:
            return AttackerGoal.parse(options.attacker_finds, visits, options.user)
        units.parse(options.loss, unit=unit, subject="the loss")
        return LossGoal(options.loss)


def _search_epsilon(
    options: DesignOptions, site: Site, prior: Prior, goal: DesignGoal, *, gap: float, medians: Visits | None
) -> FoundEpsilon:
    from ...core import CoordinatePrivacy, MetricPrivacy, ThresholdPrivacy
    from ...geo import Lattice
    from ...optimal import find_epsilon
    from ...reports import coordinate_extremes, extremes
    from ...rounding import exactly

    def promise(epsilon: float) -> CoordinatePrivacy | MetricPrivacy:
        if isinstance(site.places, Lattice):
            return CoordinatePrivacy(epsilon)
        if options.protect_within is None:
            return MetricPrivacy(epsilon, site.distances)
        return ThresholdPrivacy(epsilon, site.distances, options.protect_within)

    heading = "Searching for epsilon (Ctrl-C stops with the best design so far)"
    with StopOnInterrupt() as stop, working(heading) as update:

        def report(trial: EpsilonTrial) -> None:
            text = goal.describe(trial.measure, site.costs.unit)
            update(f"Epsilon {exactly(trial.epsilon)}: {text}, {trial.seconds:.0f} s")

        answer = find_epsilon(
            prior,
            loss=site.costs,
            goal=goal,
            promise=promise,
            gap=gap,
            solver=options.solver,
            time_limit=options.time_limit,
            medians=medians,
            method=options.method,
            stop=stop,
            progress=report,
        )
    guarantee = promise(answer.epsilon)
    if isinstance(guarantee, MetricPrivacy):
        remarks = extremes(guarantee)
    else:
        remarks = coordinate_extremes(guarantee, site.places) if isinstance(site.places, Lattice) else []
    for remark in remarks:
        say(f"Warning: {remark}", err=True)
    return answer


def _say_how_long(places: int, time_limit: float) -> None:
    """Print how long a design for the error of the true point takes, where that is over 20 seconds."""
    from ...optimal import seconds_for_points

    seconds = seconds_for_points(places)
    if seconds > _SOON_S:
        least = min(seconds, time_limit)
        time = f"{math.ceil(least / 10) * 10:,} seconds" if least < 90 else f"{math.ceil(least / 60):,} minutes"
        say(
            f"Note: the attacker may guess any point, so a few programs with {places:,} places are solved in "
            f"turn: about {time} on an idle machine. When --time-limit ends, the best proved mechanism is "
            "written.",
            err=True,
        )


def say_forecast(
    prior: Prior,
    site: Site,
    guarantees: Sequence[DesignGuarantee],
    *,
    objective: str,
    pairs: str,
    gap: float | None,
    twice: bool,
) -> None:
    """Print the expected time, memory and solver of a design that takes over 20 seconds.

    It takes `twice` as long where the program is solved again with moved reports.
    """
    from ...optimal import forecast

    estimate = forecast(
        prior,
        loss=site.costs,
        guarantees=guarantees,
        objective=objective,
        pairs=pairs,
        gap=_USUAL_GAP if gap is None else gap,
    )
    estimate = replace(estimate, most_seconds=(2 if twice else 1) * estimate.most_seconds)
    if estimate.most_seconds > _SOON_S:
        why = f" ({estimate.reason})" if estimate.reason else ""
        say(
            f"Note: {estimate.sentence} are expected on an idle machine, by {estimate.method}{why}. After Ctrl-C, "
            "or when --time-limit ends, the best proved mechanism is written.",
            err=True,
        )


def solver_of(options: SolverOptions) -> Solver | str:
    """Return the solver of ``--solver``, with its state in the folder of ``--checkpoints``."""
    from ...optimal import resumable

    return options.solver if options.checkpoints is None else resumable(options.solver, options.checkpoints)


def _solve_program(
    options: DesignOptions,
    site: Site,
    prior: Prior,
    points: Visits | None,
    *,
    kinds: Kinds | None,
    medians: Visits | None,
    gap: float | None,
    of_visits: bool,
) -> tuple[Design, bool]:
    """Return the design of least loss, or of most distortion, and whether it was not interrupted.

    The attacker's error counts from true points, for the kinds of places, or else between the places.
    """
    from ...core import Loss
    from ...optimal import design, maximise_distortion
    from ...proofs import PlaceDistortion

    guarantees, limited = list(site.promises), options.max_loss is not None
    errors = site.distances if kinds is None else kinds.errors
    if options.distortion is not None:
        guarantees.append(_error_guarantee(options.distortion, site, errors, prior, points, of_visits=of_visits))
    is_game = points is not None and not (options.distortion is None and options.max_loss is None)
    is_free = is_game and isinstance(site.costs, Loss) and bool(site.costs.true_point)  # reports anywhere
    if is_game and not is_free:
        _say_how_long(len(site.places), options.time_limit)
    elif (
        options.solver == "auto"
        and options.method != "noise"
        and not options.family
        and (site.promises if is_free else not limited)
    ):
        with working("Estimating how long the design takes"):
            say_forecast(
                prior,
                site,
                site.promises if is_free else guarantees,
                objective=options.objective,
                pairs=options.pairs,
                gap=gap,
                twice=medians is not None or is_free,
            )
    limit = None if options.max_loss is None else max_loss_of(options.max_loss, site.costs.unit)
    # A chance and a loss take turns in the progress of a design for kinds.
    unit = site.costs.unit if limit is None and kinds is None else errors.unit
    with StopOnInterrupt() as stop, progress_line(unit) as report:
        request: dict[str, Any] = {
            "guarantees": guarantees,
            "pairs": options.pairs,
            "gap": gap,
            "solver": solver_of(options),
            "time_limit": options.time_limit,
            "stop": stop,
            "progress": report,
        }
        if limit is None:
            result = design(
                prior,
                loss=site.costs,
                objective=options.objective,
                method=options.method,
                medians=medians,
                **request,
            )
        else:
            distance = errors if points is None else PlaceDistortion(0, site.places, points, kind=_kind(site))
            known = None if kinds is None else medians
            result = maximise_distortion(
                prior, loss=site.costs, distance=distance, max_loss=limit, medians=known, **request
            )
    if stop.requested and result.is_finished:  # the best of what was tried until then
        result = result if result.has_program else replace(result, is_finished=False)
        say(
            "Note: stopped by Ctrl-C. The mechanism is proved; a longer run may find one that loses less.",
            err=True,
        )
    return result, not stop.requested


def _error_guarantee(
    distortion: str, site: Site, errors: Loss | Metric, prior: Prior, visits: Visits | None, *, of_visits: bool
) -> DistortionPrivacy | PlaceDistortion:
    """Return the attacker's error as a guarantee: from the true points of visits, else by the given errors."""
    from ...core import DistortionPrivacy
    from ...proofs import PlaceDistortion

    with option("--distortion"):
        if not errors.unit and _UNIT.search(distortion):
            raise InputError(
                f"{distortion!r} is not a number: with --kinds it is the chance of a wrong guess.",
                "write it as 0.4.",
            )
        guarantee: DistortionPrivacy | PlaceDistortion
        if visits is None:
            guarantee = DistortionPrivacy(distortion, errors)
        else:
            guarantee = PlaceDistortion(distortion, site.places, visits, kind=_kind(site))
        _check_asks(guarantee, distortion)
        if isinstance(guarantee, PlaceDistortion):
            guarantee.check_possible(prior)
            if of_visits:
                say(_HOLDS_PLACES, err=True)
    return guarantee


def _kind(site: Site) -> str:
    """Return the distance of the attacker's error of the true point: that of the loss, if it is one."""
    return getattr(site.costs, "true_point", "") or "euclidean"
