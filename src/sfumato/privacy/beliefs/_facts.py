"""How far any two rival facts can be told apart by a report."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core import Prior
from ...core.arrays import Floats, readonly
from ...rounding.errors import log_error
from .._channel import AnyMechanism, channel
from ..finding import Finding, Witness
from ..notion import Notion
from ._likelihoods import likelihoods, scenarios, terms
from .priors import Priors


def told_apart(
    notion: Notion, mechanism: AnyMechanism, priors: Priors, facts: NDArray[np.bool_], rivals: NDArray[np.bool_]
) -> Finding:
    """Return the largest ln(P[o | fact] / P[o | rival]), with the facts, the prior and the report.

    Facts that a prior holds impossible are not compared under it. Where the prior may
    be any, point masses attain the extremes, because rivals share no secret.

    Args:
        notion: The notion that is measured.
        mechanism: The mechanism.
        priors: The beliefs; the probability of facts does not matter.
        facts: Boolean array (k, n).
        rivals: Boolean array (k, k), symmetric.
    """
    matrix = channel(mechanism).matrix
    filled = priors.interval is not None
    value, upper, witness = 0.0, 0.0, Witness()
    for prior in scenarios(priors, matrix):
        found = likelihoods(matrix, prior, facts, filled=filled)
        for first in np.flatnonzero(found.possible):
            others = np.flatnonzero(rivals[first] & found.possible)
            if not len(others):
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = found.high[first] / found.low[others]
                ratios[np.isnan(ratios)] = 0.0
                at, output = np.unravel_index(int(ratios.argmax()), ratios.shape)
                log = float(np.log(ratios[at, output]))
            upper = max(upper, log + log_error(log, terms(prior)))
            if log > value:
                value = log
                witness = _between(matrix, prior, facts[first], facts[others[at]], int(output))
    return Finding(notion, value, upper - value if np.isfinite(value) else 0.0, witness)


def _between(
    matrix: Floats, prior: Prior | None, fact: NDArray[np.bool_], rival: NDArray[np.bool_], output: int
) -> Witness:
    event, other = np.flatnonzero(fact), np.flatnonzero(rival)
    if prior is None:
        s, t = event[matrix[event, output].argmax()], other[matrix[other, output].argmin()]
        belief = np.zeros(len(matrix))
        belief[[s, t]] = 0.5
    else:
        belief = prior.probabilities
        s, t = event[0], other[0]
    point = prior is None or (len(event) == 1 and len(other) == 1)
    return Witness(
        pair=(int(s), int(t)) if point else None,
        outputs=readonly(np.array([output])),
        prior=readonly(belief),
        event=readonly(event),
        note=f"compared with the secrets at positions {_listed(other)}" if not point else "",
    )


def _listed(positions: NDArray[np.intp], most: int = 6) -> str:
    text = ", ".join(map(str, positions[:most].tolist()))
    return f"{text}, ... ({len(positions)} in all)" if len(positions) > most else text
