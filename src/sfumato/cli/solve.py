"""Solution of a design for places: its program, or the search for an epsilon."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..errors import InputError
from .messages import option, say
from .options import DesignOptions, SolverOptions
from .place_options import max_loss_of
from .progress import StopOnInterrupt, progress_line, working

if TYPE_CHECKING:
    from ..core import Asked, DistortionPrivacy, Prior
    from ..geo import Visits
    from ..optimal import Design, DesignGoal, EpsilonTrial, FoundEpsilon, Solver
    from ..proofs import PlaceDistortion
    from .place_options import Site

_SOON_S: Final = 20.0  # seconds that need no announcement
_USUAL_GAP: Final = 1e-6
_HOLDS_PLACES: Final = (
    "Note: with --distortion the mechanism file also holds where the visits were, so that the attacker's error "
    "can be proved from it. Keep it as secret as the visits."
)
_METHODS: Final = {"best": "better", "table": "program", "noise": "noise"}
_AMOUNT: Final = re.compile(r"\s*[-+]?\.?\d.*", re.DOTALL)


def goal_option(options: DesignOptions) -> str | None:
    """Return the option whose goal an epsilon is searched for; None where there is none."""
    goals = ["--loss"] if _AMOUNT.fullmatch(options.loss) else []
    goals += ["--attacker-finds"] if options.attacker_finds is not None else []
    if not goals:
        return None
    if len(goals) > 1:
        raise InputError(
            "--loss with an amount and --attacker-finds were both given, and an epsilon is searched for one goal.",
            "leave one of them out.",
        )
    options.refuse(
        ("epsilon", "distortion", "max_loss", "objective", "pairs"),
        f"was given with {goals[0]}, which searches for the epsilon of the least loss.",
        "leave one of them out.",
    )
    return goals[0]


def goal_of(name: str, options: DesignOptions, visits: Visits, unit: str) -> DesignGoal:
    """Return the goal that ``--loss`` or ``--attacker-finds`` names; the unit is that of the loss."""
    from ..core import units
    from ..optimal import AttackerGoal, LossGoal

    with option(name):
        if options.attacker_finds is not None:
            return AttackerGoal.parse(options.attacker_finds, visits, options.user)
        units.parse(options.loss, unit=unit, what="the loss")
        return LossGoal(options.loss)


def search_epsilon(
    options: DesignOptions, site: Site, prior: Prior, goal: DesignGoal, *, gap: float, medians: Visits | None
) -> FoundEpsilon:
    """Return the epsilon that reaches a goal, with its design."""
    from ..core import CoordinatePrivacy, MetricPrivacy, ThresholdPrivacy
    from ..geo import Lattice
    from ..optimal import find_epsilon
    from ..reports import coordinate_extremes, extremes
    from ..rounding import exactly

    def promise(epsilon: float) -> CoordinatePrivacy | MetricPrivacy:
        if isinstance(site.places, Lattice):
            return CoordinatePrivacy(epsilon)
        if options.protect_within is None:
            return MetricPrivacy(epsilon, site.distances)
        return ThresholdPrivacy(epsilon, site.distances, options.protect_within)

    heading = "Searching for epsilon (Ctrl-C stops with the best design so far)"
    with StopOnInterrupt() as stop, working(heading) as update:

        def report(trial: EpsilonTrial) -> None:
            shown = goal.shown(trial.measured, site.costs.unit)
            update(f"Epsilon {exactly(trial.epsilon)}: {shown}, {trial.seconds:.0f} s")

        answer = find_epsilon(
            prior,
            loss=site.costs,
            goal=goal,
            promise=promise,
            gap=gap,
            solver=options.solver,
            time_limit=options.time_limit,
            medians=medians,
            keep=method_of(options),
            stop=stop,
            progress=report,
        )
    promised = promise(answer.epsilon)
    if isinstance(promised, MetricPrivacy):
        remarks = extremes(promised)
    else:
        remarks = coordinate_extremes(promised, site.places) if isinstance(site.places, Lattice) else []
    for remark in remarks:
        say(f"Warning: {remark}", err=True)
    return answer


def _say_how_long(places: int, time_limit: float) -> None:
    """Print how long a design for the error of the true point takes, where that is over 20 seconds."""
    from ..optimal import seconds_for_points

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


def say_forecast(
    prior: Prior,
    site: Site,
    guarantees: Sequence[Asked],
    *,
    objective: str,
    pairs: str,
    gap: float | None,
    twice: bool,
) -> None:
    """Print the expected time, memory and solver of a design that takes over 20 seconds.

    It takes `twice` as long where the program is solved again with moved reports.
    """
    from ..optimal import forecast

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


def method_of(options: DesignOptions) -> str:
    """Return what ``--method`` chooses, as `sfumato.design` names it."""
    if options.method not in _METHODS:
        raise InputError(f"--method {options.method} is unknown.", "use best, table or noise.")
    return _METHODS[options.method]


def solver_of(options: SolverOptions) -> Solver | str:
    """Return the solver of ``--solver``, with its state in the folder of ``--checkpoints``."""
    from ..optimal import resumable

    return options.solver if options.checkpoints is None else resumable(options.solver, options.checkpoints)


def solve_program(
    options: DesignOptions,
    site: Site,
    prior: Prior,
    visits: Visits,
    *,
    medians: Visits | None,
    gap: float | None,
    of_visits: bool,
) -> tuple[Design, bool]:
    """Return the design of least loss, or of most distortion, and whether it was not interrupted.

    With Euclidean distances the attacker's error is from the true points of visits, else from the places.
    Reports on a lattice are moved to the medians of the visits in `medians`.
    """
    from ..optimal import design, design_private
    from ..proofs import PlaceDistortion

    guarantees = list(site.promises)
    points = visits if options.metric == "euclidean" else None
    if options.distortion is not None:
        guarantees.append(_error_guarantee(options.distortion, site, prior, points, of_visits=of_visits))
    if points is not None and not (options.distortion is None and options.max_loss is None):
        _say_how_long(len(site.places), options.time_limit)
    elif options.solver == "auto" and options.method != "noise" and options.max_loss is None:
        with working("Estimating how long the design takes"):
            say_forecast(
                prior,
                site,
                guarantees,
                objective=options.objective,
                pairs=options.pairs,
                gap=gap,
                twice=medians is not None,
            )
    limit = None if options.max_loss is None else max_loss_of(options.max_loss, site.costs.unit)
    unit = site.costs.unit if limit is None else site.distances.unit
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
                keep=method_of(options),
                medians=medians,
                **request,
            )
        else:
            errors = site.distances if points is None else PlaceDistortion(0, site.places, points)
            result = design_private(prior, loss=site.costs, distance=errors, max_loss=limit, **request)
    if stop.requested and result.finished:  # the best of what was tried until then
        result = result if result.has_program else replace(result, finished=False)
        say(
            "Note: stopped by Ctrl-C. The mechanism is proved; a longer run may find one that loses less.",
            err=True,
        )
    return result, not stop.requested


def _error_guarantee(
    distortion: str, site: Site, prior: Prior, visits: Visits | None, *, of_visits: bool
) -> DistortionPrivacy | PlaceDistortion:
    """Return the attacker's error as a guarantee: from the true points of visits, else from the places."""
    from ..core import DistortionPrivacy
    from ..proofs import PlaceDistortion

    with option("--distortion"):
        guarantee: DistortionPrivacy | PlaceDistortion
        if visits is None:
            guarantee = DistortionPrivacy(distortion, site.distances)
        else:
            guarantee = PlaceDistortion(distortion, site.places, visits)
        if not guarantee.minimum > 0:
            raise InputError(
                f"a distortion of {distortion} asks for nothing: every mechanism has it.",
                "leave it out, or ask for more.",
            )
        if isinstance(guarantee, PlaceDistortion):
            guarantee.check_possible(prior)
            if of_visits:
                say(_HOLDS_PLACES, err=True)
    return guarantee
