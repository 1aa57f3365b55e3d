"""Capacities: the most that a mechanism leaks, whatever the prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import entr

from ..core import Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats
from ..errors import InputError
from .shannon import divergences_bits, mutual_information_bits

_LEAST: Final = 1e-260  # with weights of at least 2**-126, every observable stays reachable in doubles


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShannonCapacity:
    """The Shannon capacity of a mechanism, between bounds that hold up to rounding.

    Attributes:
        bits: The capacity in bits. Lower bound and value are the mutual information that
            ``prior`` attains; the upper bound is the largest divergence of p(.|s) from the
            distribution of the report under ``prior``, which no prior exceeds.
        prior: The best prior found.
        iterations: How many steps were taken.
        converged: Whether the bracket is as narrow as was asked.
    """

    bits: Bracket
    prior: Prior
    iterations: int
    converged: bool

    def __repr__(self) -> str:
        state = "" if self.converged else ", NOT converged"
        return (
            f"ShannonCapacity between {self.bits.lower:.9g} and {self.bits.upper:.9g} bits "
            f"after {self.iterations} iterations{state}"
        )


@checked
def min_entropy_capacity_bits(mechanism: Mechanism) -> float:
    """Return the largest min-entropy leakage under any prior, in bits.

    log2 of the sum over o of max over s of p(o|s)

    The uniform prior attains it. It bounds the leakage under every non-negative gain,
    and is also known as maximal leakage.

    Args:
        mechanism: The mechanism.

    Source:
        Braun, Chatzikokolakis and Palamidessi, MFPS 2009; Issa, Wagner and Kamath, 2020.
    """
    return math.log2(float(mechanism.matrix.max(axis=0).sum()))


@checked
def shannon_capacity(
    mechanism: Mechanism, *, tolerance_bits: float = 1e-9, max_iterations: int = 100_000
) -> ShannonCapacity:
    """Return the largest mutual information under any prior, by Blahut-Arimoto.

    C = max over priors of I(S; O), with I(S; O) <= C <= max over s of D(p(.|s) || p(.))

    Each step multiplies the prior of s by 2**D(p(.|s) || p(.)), from the uniform prior.

    Args:
        mechanism: The mechanism.
        tolerance_bits: The width of the bracket at which to stop.
        max_iterations: The number of steps at which to stop anyway; the answer then
            says that it has not converged, and its bracket still holds.

    Raises:
        InputError: If the tolerance is not positive or there is no step to take.

    Source:
        Blahut, IEEE Trans. Inf. Theory 18(4), 1972; Arimoto, ibid. 18(1), 1972.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.leakage import shannon_capacity
        >>> erasing = sf.Mechanism([[0.75, 0.25, 0], [0, 0.25, 0.75]])
        >>> round(shannon_capacity(erasing).bits.lower, 9)
        0.75
    """
    if not (math.isfinite(tolerance_bits) and tolerance_bits > 0) or max_iterations < 1:
        raise InputError(
            f"a tolerance of {tolerance_bits} bits and {max_iterations} iterations give no capacity.",
            "use a positive tolerance, such as 1e-9, and at least one iteration.",
        )
    matrix = mechanism.matrix[:, mechanism.matrix.any(axis=0)]
    own = -entr(matrix).sum(axis=1) / math.log(2)
    p = np.full(len(matrix), 1.0 / len(matrix))
    for iteration in range(1, max_iterations + 1):  # noqa: B007
        divergences = own - matrix @ np.log2(p @ matrix)
        if divergences.max() - p @ divergences <= tolerance_bits / 2:
            break
        p = _step(p, divergences)
    best = Prior(mechanism.secrets, p)
    lower = mutual_information_bits(mechanism, best)
    upper = float(divergences_bits(matrix, p @ matrix).max())
    return ShannonCapacity(Bracket(lower, lower, upper), best, iteration, upper - lower <= tolerance_bits)


def _step(p: Floats, divergences: Floats) -> Floats:
    """Return the next prior; no entry becomes 0, so that every observable stays possible."""
    weights = np.maximum(p * np.exp2(divergences - divergences.max()), _LEAST)
    following: Floats = weights / weights.sum()
    return following
