"""The population's distribution from private reports, by any of the methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal, get_args

from ...errors import InputError, argument
from ...geo import Places
from .bootstrap import bootstrap_intervals
from .districts import MOST_PLACES, settled_districts
from .held_out import cross_validated_updates
from .identifiability import identifiability
from .least_squares import least_squares
from .likelihood import bayesian_updates, maximum_likelihood
from .profile import profile_intervals
from .reports import AnyReports, Reports
from .result import Estimate
from .unbiased import unbiased

Method = Literal["maximum-likelihood", "early-stopped", "least-squares", "inversion"]
Kind = Literal["profile", "bootstrap", "normal"]
_FITTING: Final[dict[str, tuple[str, ...]]] = {
    "maximum-likelihood": ("profile", "bootstrap"),
    "early-stopped": (),
    "least-squares": ("bootstrap",),
    "inversion": ("normal",),
}


def estimate_population(
    reports: AnyReports,
    method: Method = "maximum-likelihood",
    *,
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int | None = None,
) -> Estimate:
    """Estimate the distribution of secrets in a population from its private reports.

    Where reports by maximum likelihood settle no shares of single places, the estimate has the smallest
    ``districts`` whose shares they settle.

    Args:
        reports: Reports through one mechanism, or batches through several.
        method: ``"maximum-likelihood"``; ``"early-stopped"`` Bayesian updates, as many as
            held-out reports favour: nearer to the truth where the mechanism blurs much;
            ``"least-squares"``; or ``"inversion"``, unbiased but possibly negative.
        intervals: For each probability: ``"profile"`` or ``"bootstrap"`` with maximum
            likelihood, ``"bootstrap"`` with least squares, ``"normal"`` with inversion. Early
            stopping smooths, which biases by an unknown amount, and so has none.
        failure: The probability that an interval misses; of districts, that any does.
        seed: For the bootstrap, and for dealing reports out to be held out.

    Raises:
        InputError: If an option is unknown, the intervals do not fit the method, or the
            mechanism cannot be inverted.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.releases.estimate import Reports, estimate_population
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> found = estimate_population(Reports(coin, [600, 400]), intervals="profile")
        >>> found
        Estimate of 2 values from 1,000 reports by maximum likelihood, with 2 profile-likelihood intervals of ...
    """
    if method not in get_args(Method):
        raise InputError(
            f"{argument('method', method)} is unknown.", f"use one of {', '.join(map(str, get_args(Method)))}."
        )
    if intervals is not None and intervals not in _FITTING[method]:
        raise InputError(
            f"{intervals!r} intervals do not go with {method}.",
            f"use {' or '.join(map(repr, _FITTING[method])) or 'none'}.",
        )
    if method == "inversion":
        inverse = unbiased(reports)
        if intervals is None:
            return inverse.estimate
        return inverse.estimate.with_intervals(inverse.intervals(failure=failure))
    if seed is None and (method == "early-stopped" or intervals == "bootstrap"):
        raise InputError(
            "holding out reports and the bootstrap need a seed.",
            f"pass {argument('seed', 7)}, say, so that they can be repeated.",
        )
    if method == "early-stopped":
        return bayesian_updates(reports, cross_validated_updates(reports, seed=seed or 0))
    found = maximum_likelihood(reports) if method == "maximum-likelihood" else least_squares(reports)
    if intervals == "profile":
        return found.with_intervals(profile_intervals(reports, failure=failure))
    if intervals == "bootstrap":
        return found.with_intervals(bootstrap_intervals(reports, method=method, failure=failure, seed=seed or 0))
    if method == "maximum-likelihood" and isinstance(found.space, Places) and len(found.space) <= MOST_PLACES:
        channels = [reports] if isinstance(reports, Reports) else reports
        if identifiability(channels).unsettled(found):
            return replace(found, districts=settled_districts(reports, failure=failure))
    return found
