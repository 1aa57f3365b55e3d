"""Likelihoods of reports where a fact is true, for every prior of a set, and how well they tell rivals apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import Prior
from ...core.arrays import Floats, readonly
from ...errors import InputError
from ...rounding.errors import log_error
from ..notion import Finding, Notion, Witness
from ..rows import AnyMechanism, channel
from .attackers import Priors

_LEAST = 1e-250  # products below it could lose digits, or vanish, in doubles
_BLOCK = 2**22  # numbers held at a time


class Likelihoods(NamedTuple):
    """P[o | fact] of k facts, or its range where the distribution of the secrets may be any.

    Attributes:
        low: Array (k, m), the least that P[o | fact] can be.
        high: Array (k, m), the largest; the same numbers where a prior is given.
        mass: Array (k,), the prior probability of each fact; NaN where any may be held.
        possible: Which facts the prior holds possible.
    """

    low: Floats
    high: Floats
    mass: Floats
    possible: NDArray[np.bool_]


def scenarios(priors: Priors, matrix: Floats) -> tuple[Prior | None, ...]:
    """Return the priors to be looked at one by one; None stands for any.

    Raises:
        InputError: If a prior is on another number of secrets, or a probability is too small for doubles.
    """
    smallest = float(matrix[matrix > 0].min())
    for prior in priors.listed:
        if len(prior) != len(matrix):
            raise InputError(
                f"a prior is on {len(prior)} secrets, but the mechanism has {len(matrix)}.",
                "use a prior on the mechanism's secrets.",
            )
        smallest = min(smallest, float(matrix[matrix > 0].min() * prior.probabilities[prior.support].min()))
    if smallest < _LEAST:
        raise InputError(
            f"a secret and a report occur together with probability {smallest:.3g}.",
            f"likelihoods are compared in doubles, which needs at least {_LEAST:g}; set such entries to 0.",
        )
    return priors.listed or (None,)


def terms(prior: Prior | None) -> int:
    """Return how many terms the rounding of each likelihood counts: those of the sum and of its divisor."""
    return 1 if prior is None else 2 * len(prior.support)


def likelihoods(
    matrix: Floats, prior: Prior | None, masks: NDArray[np.bool_], *, filled: bool = False
) -> Likelihoods:
    """Return the likelihoods of each fact.

    Args:
        matrix: Array (n, m), rows p(.|s).
        prior: The prior; None for any.
        masks: Boolean array (k, n) of facts.
        filled: Whether a fact of prior probability 0 may gain some, as where an interval
            of its probability is given. It must then be true of one secret only.

    Raises:
        InputError: If such a fact is true of several secrets.
    """
    if prior is None:
        return _free(matrix, masks)
    parts = [
        _under(matrix, prior, masks[block], filled=filled) for block in blocks(max(1, len(masks)), len(matrix))
    ]
    rows, mass, possible = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Likelihoods(rows, rows, mass, possible)


def _under(
    matrix: Floats, prior: Prior, masks: NDArray[np.bool_], *, filled: bool
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the likelihoods of some facts under a prior, their probabilities, and which are possible."""
    weights = np.where(masks, prior.probabilities, 0.0)
    mass = weights.sum(axis=1)
    if filled:
        empty = (mass == 0) & masks.any(axis=1)
        if (masks[empty].sum(axis=1) > 1).any():
            raise InputError(
                "the prior gives probability 0 to a fact that is true of several secrets.",
                "it then does not say how they are distributed; smooth the prior, or leave that fact out.",
            )
        weights[empty] = masks[empty]
    scale = weights.sum(axis=1)
    possible = scale > 0
    np.divide(weights, scale[:, None], out=weights, where=possible[:, None])
    weights[~possible] = 0.0
    return weights @ matrix, mass, possible


def _free(matrix: Floats, masks: NDArray[np.bool_]) -> Likelihoods:
    """Return the range over all distributions on each fact: point masses attain its ends."""
    k, m = len(masks), matrix.shape[1]
    low, high = np.zeros((k, m)), np.zeros((k, m))
    possible = np.count_nonzero(masks, axis=1) > 0
    for j in np.flatnonzero(possible):
        members = matrix[masks[j]]
        low[j], high[j] = members.min(axis=0), members.max(axis=0)
    return Likelihoods(low, high, np.full(k, np.nan), possible)


def blocks(count: int, width: int) -> Iterator[slice]:
    """Yield slices of ``count`` rows of ``width`` numbers, each of moderate size in memory."""
    step = max(1, _BLOCK // width)
    for start in range(0, count, step):
        yield slice(start, start + step)


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
