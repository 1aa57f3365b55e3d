"""Mechanisms side by side on one prior, at equal epsilon or at equal loss, with the certified optimum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..attacks import blind as without_report
from ..core import Metric, MetricPrivacy, Prior, units
from ..core.arguments import checked
from ..errors import InfeasibleError, InputError, argument, python
from ..geo import Lattice
from ..leakage import prior_vulnerability
from ..mechanisms.tupling.mechanism import check_dummies
from ..rounding import amount_at_least
from .compare_runs import PARTS, CompareRun
from .comparison_rows import Comparison, ComparisonRow
from .contestants import Contestant, usual
from .shared_time import SharedTime


@checked
def compare(
    prior: Prior,
    metric: Metric,
    *,
    epsilon: float | str | Sequence[float | str] | None = None,
    max_loss: float | str | None = None,
    loss: Metric | None = None,
    contestants: Sequence[Contestant] | None = None,
    remap: bool = True,
    gap: float = 1e-4,
    dummies: int = 0,
    time_limit: float = float("inf"),
    progress: Callable[[str], None] | None = None,
    found: Callable[[ComparisonRow], None] | None = None,
) -> Comparison:
    """Compare mechanisms at equal epsilon, or at equal expected loss; for points there is `compare_places`.

    At equal epsilon, families that promise metric privacy are compared, each by the
    loosest member whose proved epsilon is at most that. At equal loss every family is
    compared by the member that loses just that much, and the optimum is the mechanism of
    the least epsilon that loses no more.

    Args:
        prior: The prior on the n secrets.
        metric: The metric on them for privacy.
        epsilon: Per unit of the metric; a number or text such as ``"0.6/km"``, or several.
        max_loss: The expected loss of all, instead of epsilon; such as ``"500 m"``.
        loss: The metric for loss and errors; by default that for privacy.
        contestants: The families; by default those that fit (`usual`).
        remap: Whether each family is also compared followed by the optimal remap.
        gap: The relative gap of the certified optimum.
        dummies: At equal epsilon: each mechanism is also compared with every report among this
            many dummies. The loss is then of the best answer, epsilon is proved for one
            report and so holds for the tuple, and the attacker's columns are estimated.
        time_limit: Seconds for everything, most of them for the optimum, which is its best so far where it is
            not done by then; what there is no time for is named. It is looked at between mechanisms.
        progress: Called with the name of each mechanism before it is made.
        found: Called with each row when it is there.

    Raises:
        InputError: If not exactly one of epsilon and max_loss is given, sizes differ, or dummies
            are asked for at equal loss.
        InfeasibleError: If the loss is that of always reporting the same value, or more.
        UnitError: If a unit does not fit.

    Source:
        The measures are those of Oya, Troncoso and Pérez-González, CCS 2017.
    """
    if (epsilon is None) == (max_loss is None):
        raise InputError(
            f"epsilon {epsilon} and max_loss {max_loss} were given.",
            "give one of them: what the mechanisms have in common.",
        )
    if isinstance(prior.space, Lattice):
        raise InputError(
            "the secrets are vertices of a lattice: comparing them says nothing of the points they stand for.",
            python("use sf.compare_places(visits, epsilon=...)."),
        )
    costs = metric if loss is None else loss
    for each in (metric, costs):
        if len(prior) != len(each):
            raise InputError(
                f"the prior is on {len(prior)} values, the metric on {len(each)}.",
                "use a metric on the same values.",
            )
    check_dummies(dummies)
    if dummies and max_loss is not None:
        raise InputError(
            "dummies were asked for at equal loss.", "compare at equal epsilon: dummies do not change that."
        )
    if not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit:g} seconds is not positive.", f"use {argument('time_limit', 120)}."
        )
    given = usual(prior, metric) if contestants is None else contestants
    families = [form for each in given for form in ([each, each.remapped(prior, costs)] if remap else [each])]
    blind = without_report(prior, costs).error
    if epsilon is not None:
        values = tuple(dict.fromkeys(MetricPrivacy(each, metric).epsilon for each in epsilons_of(epsilon)))
    else:
        limit = units.parse(max_loss if max_loss is not None else 0.0, unit=costs.unit, what="the loss")
        if limit >= blind:
            raise InfeasibleError(
                f"a loss of {units.show(limit, costs.unit)} was asked for, but always reporting the same place "
                f"loses {units.show(blind, costs.unit)} and reveals nothing.",
                f"compare at less than {amount_at_least(blind, costs.unit)}.",
            )
        values = (limit,)
    rows = []
    time = SharedTime(time_limit, dict.fromkeys(values, 1.0))
    for value in values:
        run = CompareRun(
            families, prior, metric, costs, gap, SharedTime(time.share(value), PARTS), progress or _silent
        )
        for made in run.at_loss(value) if epsilon is None else run.at_epsilon(value, dummies):
            row = made if epsilon is None else replace(made, epsilon=value)
            rows.append(row)
            if found is not None:
                found(row)
    equal = "loss" if epsilon is None else "epsilon"
    return Comparison(tuple(rows), equal, values, costs.unit, metric.unit, blind, prior_vulnerability(prior))


def epsilons_of(epsilon: float | str | Sequence[float | str]) -> list[float | str]:
    """Return one epsilon, or several, as a list.

    Raises:
        InputError: If there is none.
    """
    epsilons = [epsilon] if isinstance(epsilon, str | float | int | np.number) else list(epsilon)
    if not epsilons:
        raise InputError("no epsilon was given.", "use '1/km'.")
    return epsilons


def _silent(_: object) -> None:
    """Report nothing."""
