"""Mechanism among dummies, as one more row of a comparison."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..core import Mechanism, Metric, Prior
from ..core.arrays import Floats
from ..mechanisms.tupling import Tupling, mixture_dummies
from ..sampling import simulator

DRAWS: Final = 4000
_BLOCK: Final = 1 << 21  # entries of likelihoods at a time


class Drawn(NamedTuple):
    """Average success of attackers who see tuples, from simulated tuples.

    Each value is a mean over tuples of what is exact for one, such as the least expected
    error under its posterior; ``spread`` is the largest standard error of the error's mean.
    """

    error: float
    wrong: float
    entropy_bits: float
    spread: float


def tupled(mechanism: Mechanism, dummies: int) -> Tupling:
    """Return the mechanism among dummies that look like its reports (`mixture_dummies`).

    Args:
        mechanism: The mechanism.
        dummies: k.
    """
    return Tupling(mechanism, dummies, mixture_dummies(mechanism, np.eye(mechanism.shape[0])))


def attacked(tupling: Tupling, prior: Prior, metric: Metric, seed: int = 1, draws: int = DRAWS) -> Drawn:
    """Return how well the best attackers of tuples do, estimated from simulated ones.

    The posterior of a tuple is proportional to prior(s) times the mean over its reports of
    A(y|s) / nu(y), and is exact; only which tuples are averaged over is drawn.

    Args:
        tupling: The mechanism.
        prior: The prior on the n secrets.
        metric: The attacker's error, on the secrets.
        seed: Of the simulation.
        draws: How many tuples.
    """
    nu, matrix = tupling.distribution, tupling.inner.matrix
    weights = np.divide(matrix, nu, out=np.zeros_like(matrix), where=nu > 0)  # (secrets, observables)
    secrets = np.random.default_rng(seed).choice(len(prior), size=draws, p=prior.probabilities)
    tuples = simulator(tupling, seed).draw(secrets)
    errors, wrong, entropy = [], [], []
    step = max(1, _BLOCK // (len(prior) * tupling.queries))
    for start in range(0, draws, step):
        block = tuples[start : start + step]
        joint = prior.probabilities * weights[:, block].mean(axis=2).T  # (tuples, secrets)
        posterior = joint / joint.sum(axis=1, keepdims=True)
        errors.append((posterior @ metric.array).min(axis=1))
        wrong.append(1 - posterior.max(axis=1))
        entropy.append(_entropies(posterior))
    error = np.concatenate(errors)
    return Drawn(
        float(error.mean()),
        float(np.concatenate(wrong).mean()),
        float(np.concatenate(entropy).mean()),
        float(error.std(ddof=1) / np.sqrt(draws)),
    )


def _entropies(posterior: Floats) -> Floats:
    logs = np.log2(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    bits: Floats = -(posterior * logs).sum(axis=1)
    return bits
