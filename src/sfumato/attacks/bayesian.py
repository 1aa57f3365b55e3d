"""The Bayesian attack: a guess drawn from the posterior."""

from __future__ import annotations

import numpy as np

from ..core import AnyLoss, Mechanism, Prior
from ..core.arguments import checked
from ..errors import InputError
from .attack import Attack, evaluate, fitting


@checked
def bayes(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack that guesses each secret with its posterior probability.

    q(s|o) = prior(s) p(o|s) / p(o)

    It never errs less than the optimal attack. A report that the prior holds
    impossible tells nothing: the guess is then drawn from the prior.

    Args:
        mechanism: The mechanism that is attacked.
        prior: What the adversary believes, and what is true.
        distance: d(guess, s), array (secrets, secrets), a `Loss` or a `Metric`: the
            guesses are the secrets, in the same order.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism, or the
            guesses are not the secrets.

    Source:
        Shokri, "Privacy Games", equation 25.
    """
    d = fitting(mechanism, prior, distance)
    guesses, secrets = d.array.shape
    if guesses != secrets:
        raise InputError(
            f"the Bayesian attack guesses secrets, but the {d.name} is for {guesses} guesses "
            f"and {secrets} secrets.",
            "pass a square distance, or use attacks.optimal.",
        )
    posterior = mechanism.posterior(prior)
    seen = posterior.sum(axis=1, keepdims=True) > 0
    p = prior.probabilities
    strategy = np.where(seen, posterior, p / p.sum())
    return evaluate(mechanism, prior, d, strategy, name="Bayesian")
