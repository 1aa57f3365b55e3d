"""Additive capacities: the most that a report adds to what a guess is worth, whatever a guess is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from ..core import Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.frozen import Short
from ..errors import InputError, argument
from .factorisation import factorise

Bounded = Literal["vulnerability", "guess", "gain"]

_TINY: Final = float(np.finfo(np.float64).tiny)  # one over it is still finite


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AdditiveCapacity(Short):
    """The most that a report adds to a vulnerability: V(after) - V(before).

    Attributes:
        value: The capacity, between bounds that hold up to rounding, or up to the solver's tolerance where the
            function says so. Lower bound and value are what ``prior`` and ``gain`` attain.
        prior: The prior; the worst one that was found where it was not given.
        gain: Array (guesses, secrets); the worst one where it was not given.
    """

    value: Bracket
    prior: Prior
    gain: Floats


@checked
def additive_capacity(
    mechanism: Mechanism, prior: Prior | None = None, *, bounded: Bounded = "vulnerability"
) -> AdditiveCapacity:
    """Return the largest additive leakage under any gain of a class, for one prior or for all.

    Gains can be scaled, so a class must bound them. What lies in an interval of length one is

    - ``vulnerability``: V itself, over all beliefs:  1 - sum over o of min over s of p(o|s), for the s that
      can occur. It depends on the prior only by which secrets that leaves.
    - ``guess``: what each guess is worth, over the secrets:  sum over s of prior(s) TV(p(.|s), p),
      with p the distribution of the report.
    - ``gain``: every gain, in [0, 1]:  min over q of sum over s of prior(s) TV(p(.|s), q).

    Each class holds the next, so the capacities fall in this order. Over all priors the first is the sum over all
    secrets; the last is the radius min over q of max over s of TV(p(.|s), q), a linear program, whose bounds are
    proved over the integers. For the one between, no formula and no convex program is known to us:
    it lies between the two.

    Args:
        mechanism: The mechanism.
        prior: What the adversary believes, and what is true; any prior if it is left out.
        bounded: What is bounded.

    Raises:
        InputError: If the prior does not fit the mechanism, or is missing where guesses are bounded, or
            ``bounded`` is none of these.
        SolverError: If the program for gains in [0, 1] under any prior was not solved.

    Source:
        Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi and Smith, "Additive and multiplicative notions of
        leakage, and their capacities", CSF 2014; "The Science of Quantitative Information Flow" (2020), chapter 7.
        Gains in [0, 1]: docs/proofs/additive-capacity.md.

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> even = sf.Prior.uniform(coin.secrets)
        >>> sf.leakage.additive_capacity(coin, even).value.value
        0.5
        >>> sf.leakage.additive_capacity(coin, even, bounded="gain").value.value
        0.25
    """
    if bounded not in get_args(Bounded):
        raise InputError(
            f"nothing is called {bounded!r} that a class of gains bounds.",
            f"use {argument('bounded', 'vulnerability')}, {argument('bounded', 'guess')} or "
            f"{argument('bounded', 'gain')}.",
        )
    if bounded == "vulnerability":
        return _of_vulnerability(mechanism, Prior.uniform(mechanism.secrets) if prior is None else prior)
    if bounded == "guess":
        if prior is None:
            raise InputError(
                "no formula is known for bounded guesses under any prior.",
                f"pass a prior, or use {argument('bounded', 'gain')} and {argument('bounded', 'vulnerability')}: "
                "it lies between the two.",
            )
        return _of_guesses(mechanism, prior)
    if prior is None:
        found = factorise(mechanism, Mechanism(np.ones((len(mechanism.secrets), 1)), mechanism.secrets))
        bracket = Bracket(found.distance.lower, found.distance.lower, found.distance.upper)
        return AdditiveCapacity(bracket, found.prior, found.gain)
    return _of_gains(mechanism, prior)


def _of_vulnerability(mechanism: Mechanism, prior: Prior) -> AdditiveCapacity:
    """Return the capacity of vulnerabilities in [0, 1]: guess s is worth 1, less 1 / prior(s) if it is right."""
    mechanism.joint(prior)  # refuses a prior that does not fit
    possible = np.flatnonzero(prior.probabilities)
    rows = mechanism.matrix[possible]
    value = float((rows[0] - rows.min(axis=0)).sum())
    gain = np.ones((len(possible), len(prior)))
    gain[np.arange(len(possible)), possible] -= 1 / np.maximum(prior.probabilities[possible], _TINY)
    return AdditiveCapacity(Bracket.exact(value), prior, readonly(gain))


def _of_guesses(mechanism: Mechanism, prior: Prior) -> AdditiveCapacity:
    """Return the capacity of guesses that span one: guess o bets on what makes o likelier."""
    joint = mechanism.joint(prior)
    p = prior.probabilities[:, None]
    more = joint - p * joint.sum(axis=0)
    bets = (more > 0).astype(np.float64)
    value = float(np.maximum(more, 0.0).sum())
    return AdditiveCapacity(Bracket.exact(value), prior, readonly((bets - (p * bets).sum(axis=0)).T.copy()))


def _of_gains(mechanism: Mechanism, prior: Prior) -> AdditiveCapacity:
    """Return the capacity of gains in [0, 1]: guess o bets a share t of the prior on what makes o likeliest.

    The best t is where the last likelihoods that are bet on, over all o, sum to one: the q of the formula.
    """
    mechanism.joint(prior)
    possible = np.flatnonzero(prior.probabilities)
    p, rows = prior.probabilities[possible], mechanism.matrix[possible]
    order = np.argsort(-rows, axis=0, kind="stable")
    likelihoods = np.take_along_axis(rows, order, axis=0)
    ends = np.cumsum(p[order], axis=0)  # of the bet on each secret, from the likeliest
    starts = np.vstack([np.zeros_like(ends[:1]), ends[:-1]])
    falls = likelihoods[:-1] - likelihoods[1:]
    by_share = np.argsort(ends[:-1], axis=None, kind="stable")
    sums = likelihoods[0].sum() - np.cumsum(falls.ravel()[by_share])
    crossing = int(np.searchsorted(-sums, -1.0))
    share = float(ends[:-1].ravel()[by_share[min(crossing, len(sums) - 1)]]) if len(sums) else 0.0
    bet = np.clip((share - starts) / np.maximum(p[order], _TINY), 0.0, 1.0)
    gains = np.zeros((len(prior), mechanism.shape[1]))
    gains[possible[order], np.arange(mechanism.shape[1])] = bet
    joint = prior.probabilities[:, None] * mechanism.matrix
    lower = float((joint * gains).sum() - (prior.probabilities @ gains).max())
    above = np.take_along_axis(likelihoods, _last(starts < share), axis=0)[0]
    below = np.take_along_axis(likelihoods, _last(starts <= share), axis=0)[0]
    q = _of_sum_one(below, above)
    upper = float((prior.probabilities @ np.maximum(mechanism.matrix - q, 0.0)).sum())
    lower = max(lower, 0.0)
    return AdditiveCapacity(Bracket(lower, lower, max(lower, upper)), prior, readonly(gains.T.copy()))


def _last(chosen: np.typing.NDArray[np.bool_]) -> np.typing.NDArray[np.intp]:
    """Return the position of the last True of each column, or 0, array (1, m)."""
    found: np.typing.NDArray[np.intp] = np.maximum(chosen.sum(axis=0, keepdims=True) - 1, 0)
    return found


def _of_sum_one(below: Floats, above: Floats) -> Floats:
    """Return the vector between two, one of sum at most 1 and one of at least 1, whose sum is 1."""
    low, high = below.sum(), above.sum()
    found: Floats = below + (above - below) * ((1 - low) / (high - low)) if high > low else below / low
    return found
