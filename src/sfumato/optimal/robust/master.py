"""The best mixture of mechanisms for the worst of several priors, and the mixture of priors worst for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse

from ...core.arrays import Floats
from ...errors import SolverError
from ..highs import Highs
from ..linear import LinearProgram

_SECONDS: Final = 60.0  # a program of a few rows takes thousandths


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Both sides of the game whose payoffs are the losses of mechanisms for priors.

    Attributes:
        shares: Array (j,), with which share each mechanism is used.
        priors: Array (k,), the weights of the priors that no mixture of these mechanisms loses less for.
        value: The largest expected loss of the mixture.
    """

    shares: Floats
    priors: Floats
    value: float


def best_mixture(losses: Floats) -> Mixture:
    """Return the equilibrium of the game of losses.

    Args:
        losses: Array (j, k), the expected loss of each mechanism for each prior, at least 0.

    Raises:
        SolverError: If the back-end finds none.
    """
    count, priors = losses.shape
    scale = float(losses.max()) or 1.0
    rows = np.zeros((priors + 1, count + 1))
    rows[:priors, :count], rows[:priors, count] = losses.T / scale, -1.0
    rows[priors, :count] = 1.0
    program = LinearProgram(
        np.append(np.zeros(count), 1.0),
        sparse.csr_array(rows),
        np.append(np.full(priors, -np.inf), 1.0),
        np.append(np.zeros(priors), 1.0),
        np.zeros(count + 1),
    )
    found = Highs("simplex").solve(program, time_limit=_SECONDS, stop=lambda: False)
    if found.x is None or found.duals is None:
        raise SolverError("the mixture of designs for the priors was not found.", "use fewer priors.")
    shares, weights = np.maximum(found.x[:count], 0.0), np.maximum(-found.duals[:priors], 0.0)
    shares /= shares.sum()
    total = float(weights.sum())
    even: Floats = np.full(priors, 1.0 / priors)
    return Mixture(shares, weights / total if total > 0 else even, float((shares @ losses).max()))
