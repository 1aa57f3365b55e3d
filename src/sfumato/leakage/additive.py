"""Additive capacities: the most that a report adds to the worth of a guess, for any gain or a given one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from ..core import Bracket, Mechanism, Prior
from ..core.arrays import Bools, Floats, Positions, readonly
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from .factorisation import factorise
from .vulnerability import check_gains, g_vulnerability, prior_g_vulnerability

Bounded = Literal["vulnerability", "guess", "gain"]

_TINY: Final = float(np.finfo(np.float64).tiny)  # one over it is still finite
_MOST: Final = 2_000_000  # largest number of entries of the program


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AdditiveCapacity(CompactRepr):
    """The most that a report adds to a vulnerability: V(after) - V(before).

    Attributes:
        value: The capacity, between bounds that hold up to rounding, or up to the solver's tolerance where the
            function says so. ``prior`` and ``gain`` attain the lower bound and the value.
        prior: The given prior, or the worst one found.
        gain: Array (guesses, secrets): the given gain, or the worst one.
    """

    value: Bracket
    prior: Prior
    gain: Floats


def additive_capacity(
    mechanism: Mechanism, prior: Prior | None = None, *, bounded: Bounded = "vulnerability"
) -> AdditiveCapacity:
    """Return the largest additive leakage under any gain of a class, for one prior or for all.

    Gains can be scaled, so a class must bound them. An interval of length one holds

    - ``vulnerability``: V itself, over all beliefs:  1 - sum over o of min over s of p(o|s), for the s that
      can occur. It depends on the prior only by which secrets that leaves.
    - ``guess``: the worth of each guess, over the secrets:  sum over s of prior(s) TV(p(.|s), p),
      with p the distribution of the report.
    - ``gain``: every gain, in [0, 1]:  min over q of sum over s of prior(s) TV(p(.|s), q).

    Each class holds the next, so the capacities fall in this order. Over all priors the first is the sum over all
    secrets; the last is the radius min over q of max over s of TV(p(.|s), q), a linear program, whose bounds are
    proved over the integers. For the one between, no formula and no convex program is known to us: it lies between
    the two. The prior is the belief and the truth; without one, any prior counts. Raises `InputError` if the prior
    does not fit the mechanism, or is missing where guesses are bounded, or ``bounded`` is none of these. Raises
    `SolverError` if the program for gains in [0, 1] under any prior was not solved.

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
        radius = factorise(mechanism, Mechanism(np.ones((len(mechanism.secrets), 1)), mechanism.secrets))
        bracket = Bracket(radius.distance.lower, radius.distance.lower, radius.distance.upper)
        return AdditiveCapacity(bracket, radius.prior, radius.gain)
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
    """Return the capacity of guesses of span one: guess o bets on the secrets that make o more probable."""
    joint = mechanism.joint(prior)
    p = prior.probabilities[:, None]
    more = joint - p * joint.sum(axis=0)
    bets = (more > 0).astype(np.float64)
    value = float(np.maximum(more, 0.0).sum())
    return AdditiveCapacity(Bracket.exact(value), prior, readonly((bets - (p * bets).sum(axis=0)).T.copy()))


def _of_gains(mechanism: Mechanism, prior: Prior) -> AdditiveCapacity:
    """Return the capacity of gains in [0, 1]: guess o bets a share t of the prior on the best secrets for o."""
    # At the best t the last likelihoods that are bet on, over all o, sum to one: the q of the formula.
    mechanism.joint(prior)
    possible = np.flatnonzero(prior.probabilities)
    p, rows = prior.probabilities[possible], mechanism.matrix[possible]
    order = np.argsort(-rows, axis=0, kind="stable")
    likelihoods = np.take_along_axis(rows, order, axis=0)
    ends = np.cumsum(p[order], axis=0)  # of the bet on each secret, from the most probable
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
    low, high = below.sum(), above.sum()  # at most one, and at least one
    q = below + (above - below) * ((1 - low) / (high - low)) if high > low else below / low
    upper = float((prior.probabilities @ np.maximum(mechanism.matrix - q, 0.0)).sum())
    lower = max(lower, 0.0)
    return AdditiveCapacity(Bracket(lower, lower, max(lower, upper)), prior, readonly(gains.T.copy()))


def _last(mask: Bools) -> Positions:
    """Return the position of the last True of each column, or 0, array (1, m)."""
    return np.asarray(np.maximum(mask.sum(axis=0, keepdims=True) - 1, 0))


def additive_g_capacity(mechanism: Mechanism, gain: ArrayLike, *, time_limit: float = 60.0) -> AdditiveCapacity:
    """Return the largest additive leakage under a gain, over all priors.

    max over priors of  V(after) - V(before)

    This maximum is NP-hard, even for the identity as gain, the Bayes vulnerability. A mixed-integer program finds
    it: each report chooses its guess, and each choice leaves a linear program over the priors. If stopped early,
    after ``time_limit`` seconds, it still gives bounds: below by the leakage of the best prior found, computed
    separately; above by the solver's bound, which holds to about 1e-6 of the gain's range, or by the range times
    the capacity under any gain, if lower. With the identity as gain, twenty secrets and reports took about fifteen
    seconds.

    Under the identity some prior that is even on a set of secrets attains it. With gain = -d the prior makes the
    report worth most in distance. The gain is an array (guesses, secrets) in any unit and of any sign, and the
    capacity in its unit. Raises `InputError` if the gain does not fit, the time limit is not positive, or the
    program is too large.

    Source:
        Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi and Smith, CSF 2014; "The Science of Quantitative
        Information Flow" (2020), chapter 7. The program: docs/proofs/additive-capacity.md.

    Example:
        >>> import numpy as np
        >>> import sfumato as sf
        >>> merged = sf.Mechanism([[1, 0], [1, 0], [0, 1]])
        >>> round(sf.leakage.additive_g_capacity(merged, np.eye(3)).value.value, 9)
        0.5
    """
    gains = check_gains(gain, len(mechanism.secrets))
    if not time_limit > 0:
        raise InputError(f"a time limit of {time_limit} seconds leaves no time.", "use a positive number.")
    matrix = mechanism.matrix[:, mechanism.matrix.any(axis=0)]
    entries = matrix.shape[1] * len(gains) ** 2 * len(matrix)
    if entries > _MOST:
        raise InputError(
            f"the capacity under {len(gains):,} guesses, for {len(matrix):,} secrets and {matrix.shape[1]:,} "
            f"reports, is a program of {entries:,} entries; {_MOST:,} are possible.",
            "merge secrets, reports or guesses first",
            "use sf.leakage.additive_capacity, which bounds it for every gain.",
        )
    # The common worth of all guesses at a secret adds to both vulnerabilities.
    shifted = gains - gains.min(axis=0)
    span = float(shifted.max())
    even = Prior.uniform(mechanism.secrets)
    if span == 0:
        return AdditiveCapacity(Bracket.exact(0.0), even, readonly(gains.copy()))
    bound = span * float((matrix[0] - matrix.min(axis=0)).sum())
    solver_prior, solver_bound = _solve(matrix, shifted / span, time_limit)
    candidates = [even] if solver_prior is None else [even, Prior(mechanism.secrets, solver_prior)]
    after = [g_vulnerability(mechanism, candidate, shifted) for candidate in candidates]
    leaks = [
        later - prior_g_vulnerability(candidate, shifted)
        for candidate, later in zip(candidates, after, strict=True)
    ]
    best = int(np.argmax(leaks))
    lower = max(leaks[best], 0.0)
    bracket = Bracket(lower, lower, max(lower, min(bound, solver_bound * span)))
    return AdditiveCapacity(bracket, candidates[best], readonly(gains.copy()))


def _solve(matrix: Floats, gain: Floats, time_limit: float) -> tuple[Floats | None, float]:
    """Return the best prior found, if any, and an upper bound of the capacity, for gains (k, n) in [0, 1]."""
    # Variables are the prior pi(s), the vulnerability t before, and for each report o and guess g whether it is
    # made, b(o, g), and the pi and t where it is, q(o, g, s) and u(o, g), or else 0: a convex hull of choices.
    (n, m), k = matrix.shape, len(gain)
    pairs = m * k
    kron, eye, worths = sparse.kron, sparse.eye_array, sparse.csr_array(gain)
    guesses = kron(eye(m), _column(k).T)  # the sum over guesses, for each report
    equal_rows = [
        [_column(n).T, None, None, None, None],
        [None, None, guesses, None, None],
        [-kron(_column(m), eye(n)), None, None, kron(guesses, eye(n)), None],
        [None, -_column(m), None, None, guesses],
        [None, None, -eye(pairs), kron(eye(pairs), _column(n).T), None],
    ]
    rights = np.concatenate([np.ones(1 + m), np.zeros(m * n + m + pairs)])
    unused, unmade = sparse.csr_array((pairs * k, n)), sparse.csr_array((pairs * k, pairs))
    below_rows = [
        [worths, -_column(k), None, None, None],
        [unused, None, unmade, kron(eye(pairs), worths), -kron(eye(pairs), _column(k))],
    ]
    equal, below = (sparse.block_array(rows, format="csr") for rows in (equal_rows, below_rows))
    worth = (matrix.T[:, None, :] * gain[None, :, :]).ravel()  # of q(o, g, s)
    cost = np.concatenate([np.zeros(n), [1.0], np.zeros(pairs), -worth, np.zeros(pairs)])
    whole_numbers = np.zeros(len(cost))
    whole_numbers[n + 1 : n + 1 + pairs] = 1
    solution = milp(
        cost,
        integrality=whole_numbers,
        bounds=Bounds(0.0, 1.0),
        constraints=[LinearConstraint(equal, rights, rights), LinearConstraint(below, -np.inf, 0.0)],
        options={"mip_rel_gap": 1e-9} | ({"time_limit": time_limit} if math.isfinite(time_limit) else {}),
    )
    prior = None
    if solution.x is not None:
        prior = np.maximum(solution.x[:n], 0.0)
        prior /= prior.sum()
    known = solution.get("mip_dual_bound")
    return prior, -float(known) if known is not None else math.inf


def _column(size: int) -> sparse.csr_array:
    """Return a column of ones."""
    return sparse.csr_array(np.ones((size, 1)))
