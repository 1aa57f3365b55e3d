"""The attacker who sees report after report: what they believe after each of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Prior
from ..core.arguments import checked
from ..core.arrays import Floats, floats, readonly
from ..errors import InputError


@checked
def followed(
    channel: ArrayLike, prior: Prior, reports: Iterable[int], near: NDArray[np.bool_] | None = None
) -> Floats:
    """Return what an attacker believes before the first report, and after each one.

    b_0 = prior;  b_t(s) is proportional to p(o_t|s) times the sum over r of b_(t-1)(r) k(s|r)

    Without ``near`` the secret is always the same (k(s|r) = 1 where s = r), and k reports multiply their
    likelihoods. With it the person moves between reports: from r to s with a probability proportional to
    prior(s), among those that are near r. That is a model of the attacker's, who believes it.

    Args:
        channel: p(o|s), array (secrets, observables).
        prior: What they believe before the first report.
        reports: Positions of the observables that they see, in order.
        near: Array (secrets, secrets): whether s can follow r, at ``near[r, s]``. Staying is always possible.

    Returns:
        Array (reports + 1, secrets); rows sum to one.

    Raises:
        InputError: If sizes do not fit, or a report is impossible for all that they believe.

    Source:
        Bayes' rule; with moves the forward filter of a hidden Markov model (Shokri et al., S&P 2011).

    Example:
        >>> import sfumato as sf
        >>> from sfumato.attacks import followed
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> followed(coin.matrix, sf.Prior.uniform(coin.secrets), [0, 0])[:, 0].tolist()
        [0.5, 0.75, 0.9]
    """
    given = floats(channel, "the channel", shape=(len(prior), None))
    beliefs = [np.array(prior.probabilities)]
    moves = None if near is None else _moves(near, prior)
    for number, report in enumerate(reports, 1):
        if not 0 <= report < given.shape[1]:
            raise InputError(
                f"report {number} is {report}, which is no observable.",
                f"use positions 0 to {given.shape[1] - 1}.",
            )
        before = beliefs[-1] if moves is None else beliefs[-1] @ moves
        after = before * given[:, report]
        total = float(after.sum())
        if not total > 0:
            raise InputError(
                f"report {number} cannot happen for anybody whom the attacker thinks possible.",
                "give a prior that holds the true secret possible, and moves that can be made.",
            )
        beliefs.append(after / total)
    return readonly(np.stack(beliefs))


def _moves(near: NDArray[np.bool_], prior: Prior) -> Floats:
    """Return the probabilities k(s|r) of moves, array (secrets, secrets)."""
    n = len(prior)
    if np.shape(near) != (n, n):
        raise InputError(f"near has the shape {np.shape(near)}.", f"pass {n} x {n} truth values.")
    allowed = np.asarray(near, dtype=bool) | np.eye(n, dtype=bool)
    weights = allowed * prior.probabilities
    totals = weights.sum(axis=1, keepdims=True)
    found: Floats = np.divide(weights, totals, out=np.eye(n), where=totals > 0)
    return found
