"""Goals from the options of a command, and the search for the epsilon that reaches them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ..errors import InputError
from .design_options import DesignOptions
from .messages import option, say
from .progress import StopOnInterrupt

if TYPE_CHECKING:
    from ..core import Prior
    from ..geo import Visits
    from ..optimal import DesignGoal, EpsilonTrial, FoundEpsilon
    from .sites import Site

SEARCHED: Final = 200
"""Vertices of a lattice on which a search takes about a minute on two cores."""

_AMOUNT: Final = re.compile(r"\s*[-+]?\.?\d.*", re.DOTALL)


def asked_for(asked: DesignOptions) -> str | None:
    """Return the option whose goal an epsilon is searched for; None where there is none.

    Args:
        asked: The options.

    Raises:
        InputError: If both goals were given, or an option that has no place beside a search.
    """
    goals = ["--loss"] if _AMOUNT.fullmatch(asked.loss) else []
    goals += ["--attacker-finds"] if asked.attacker_finds is not None else []
    if not goals:
        return None
    if len(goals) > 1:
        raise InputError(
            "--loss with an amount and --attacker-finds were both given, and an epsilon is searched for one goal.",
            "leave one of them out.",
        )
    asked.refuse(
        ("epsilon", "distortion", "max_loss", "objective", "pairs"),
        f"was given beside {goals[0]}, which searches for the epsilon of the least loss.",
        "leave one of them out.",
    )
    return goals[0]


def goal_of(name: str, asked: DesignOptions, visits: Visits, unit: str) -> DesignGoal:
    """Return the goal that an option names.

    Args:
        name: ``--loss`` or ``--attacker-finds``.
        asked: The options.
        visits: The visits of the prior.
        unit: The unit of the loss.
    """
    from ..core import units
    from ..optimal import AttackerGoal, LossGoal

    with option(name):
        if asked.attacker_finds is not None:
            return AttackerGoal.parse(asked.attacker_finds, visits, asked.user)
        units.parse(asked.loss, unit=unit, what="the loss")
        return LossGoal(asked.loss)


def searched(site: Site, prior: Prior, goal: DesignGoal, within: str | None, **request: Any) -> FoundEpsilon:
    """Return the epsilon that reaches a goal, with its design.

    Args:
        site: Where the designs are made.
        prior: The prior on its places.
        goal: The goal.
        within: ``--within``, on cells.
        request: More of `find_epsilon`.
    """
    from ..core import CoordinatePrivacy, MetricPrivacy, ThresholdPrivacy
    from ..geo import Lattice
    from ..optimal import find_epsilon
    from ..reports import coordinate_extremes, extremes

    def promise(epsilon: float) -> CoordinatePrivacy | MetricPrivacy:
        if isinstance(site.places, Lattice):
            return CoordinatePrivacy(epsilon)
        if within is None:
            return MetricPrivacy(epsilon, site.distances)
        return ThresholdPrivacy(epsilon, site.distances, within)

    with StopOnInterrupt() as stop, _line(site.costs.unit, goal) as report:
        found = find_epsilon(
            prior, loss=site.costs, goal=goal, promise=promise, stop=stop, progress=report, **request
        )
    promised = promise(found.epsilon)
    if isinstance(promised, MetricPrivacy):
        remarks = extremes(promised)
    else:
        remarks = coordinate_extremes(promised, site.places) if isinstance(site.places, Lattice) else []
    for remark in remarks:
        say(f"Warning: {remark}", err=True)
    return found


@contextmanager
def _line(unit: str, goal: DesignGoal) -> Iterator[Callable[[EpsilonTrial], None]]:
    """Show one live line of the search on the error stream; nothing where it is not a terminal."""
    from ..rounding import exactly
    from .screen import Screen

    with Screen(stderr=True).status("Searching for epsilon (Ctrl-C stops with the best design so far)") as status:

        def report(trial: EpsilonTrial) -> None:
            status.update(
                f"Epsilon {exactly(trial.epsilon)}: {goal.shown(trial.measured, unit)}, {trial.seconds:.0f} s"
            )

        yield report
