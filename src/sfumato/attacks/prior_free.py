"""Attacks of adversaries who hold no prior: unweighted, minimax, and minimax per guess."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import block_diag, csr_array

from ..core import AnyLoss, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats
from ..errors import SolverError
from ._game import solve
from .attack import Attack, Minimax, evaluate, fitting
from .misinformed import misinformed
from .optimal import optimal

_GAP = 1e-6  # of the largest distance


@checked
def unweighted(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack of least summed error, every secret counting the same.

    The strategy minimises the sum over s, o, g of p(o|s) q(g|o) d(g, s), which is to
    believe in the uniform prior.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which the error is averaged; the strategy ignores it.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.

    Source:
        Shokri, "Privacy Games", equation 27.
    """
    belief = Prior.uniform(mechanism.secrets)
    return replace(misinformed(mechanism, prior, distance, belief), name="unweighted")


@checked
def prior_free(
    mechanism: Mechanism, prior: Prior, distance: AnyLoss, *, time_limit: float | None = None
) -> Attack:
    """Return the attack whose largest expected error over all secrets is least.

    min over q of max over s of sum over o, g of p(o|s) q(g|o) d(g, s)

    The strategy is random in general. By the minimax theorem its value is the largest
    error of the optimal attack under any prior, so it is the distortion privacy that
    the mechanism offers to a user whose prior suits it best. ``minimax`` holds that
    value, a lower bound of it, and the prior that attains the bound.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which ``error`` is averaged; the strategy ignores it.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        time_limit: Seconds that the solver may take. The program has secrets x
            observables x guesses coefficients: 100 of each take about a second, 300
            of each a minute and 4 GB.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.
        SolverError: If the solver finds no optimum, or its answer does not stand up to
            being recomputed.

    Source:
        Shokri, "Privacy Games", equation 28.
    """
    d = fitting(mechanism, prior, distance)
    scale = _scale(d.array)
    rows = csr_array(np.hstack([row[:, None] * mechanism.matrix for row in d.array / scale]))
    strategy, weights = solve(rows, mechanism.shape[1], len(d.array), time_limit)
    attack = evaluate(mechanism, prior, d, strategy, name="prior-free")
    worst = Prior(mechanism.secrets, weights)
    found = Minimax(attack.worst_case_error, optimal(mechanism, worst, d).error, worst)
    return replace(attack, minimax=_proved(found, scale))


@checked
def per_guess(mechanism: Mechanism, prior: Prior, distance: AnyLoss, *, time_limit: float | None = None) -> Attack:
    """Return the attack whose largest share of error in any one guess about any one secret is least.

    min over q of max over s, g of sum over o of p(o|s) q(g|o) d(g, s)

    ``minimax`` holds that value and a lower bound of it; the attack's ``error`` and
    ``worst_case_error`` are the usual sums over guesses, and larger.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which ``error`` is averaged; the strategy ignores it.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        time_limit: Seconds that the solver may take. The program is slower than that of
            `prior_free`: 50 secrets, observables and guesses take about a second.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.
        SolverError: If the solver finds no optimum, or its answer does not stand up to
            being recomputed.

    Source:
        Shokri, "Privacy Games", equation 29.
    """
    d = fitting(mechanism, prior, distance)
    scale = _scale(d.array)
    rows = csr_array(block_diag([csr_array(row[:, None] * mechanism.matrix) for row in d.array / scale]))
    strategy, weights = solve(rows, mechanism.shape[1], len(d.array), time_limit)
    attack = evaluate(mechanism, prior, d, strategy, name="prior-free per guess")
    shares = (strategy.T @ mechanism.matrix.T) * d.array
    lower = ((weights.reshape(d.array.shape) * d.array) @ mechanism.matrix).min(axis=0).sum()
    return replace(attack, minimax=_proved(Minimax(float(shares.max()), float(lower), None), scale))


def _scale(distance: Floats) -> float:
    return float(np.abs(distance).max()) or 1.0


def _proved(found: Minimax, scale: float) -> Minimax:
    gap = found.value - found.lower_bound
    if not gap <= _GAP * scale:
        raise SolverError(
            f"the solver's strategy reaches {found.value:.9g}, but its dual weights prove only "
            f"{found.lower_bound:.9g}.",
            "use a distance of more even scale; attacks.unweighted needs no solver.",
        )
    return found
