"""The worth of one mechanism above that of another one under a gain, over the integers of both."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism
from ..core.arrays import Floats

SCALE: Final = 2**60  # gains are rounded to multiples of one over this, and then exact

Whole = NDArray[Any]  # of Python's integers, which do not overflow


def whole(gains: Floats) -> Whole:
    """Return gains as integers, in units of 1 / `SCALE`; each is rounded down.

    Args:
        gains: Array of any shape.
    """
    found: Whole = np.array([int(value) for value in np.floor(gains * SCALE).ravel().tolist()], dtype=object)
    return found.reshape(gains.shape)


def separation(mechanism: Mechanism, other: Mechanism, weighted: Whole) -> Fraction:
    """Return a lower bound of how much more a mechanism is worth than another one, exactly computed.

    sum over s, z of p(z|s) w(z, s) - sum over y of max over z of sum over s of q(y|s) w(z, s)

    The mechanism's observable z makes guess z, which is worth no more than its best guess.

    Args:
        mechanism: The mechanism p.
        other: The other one, q, on as many secrets.
        weighted: Integers (observables of the mechanism, secrets): the prior of s times what guess z is worth
            there, in any unit; the answer has the same unit.
    """
    own = int((weighted.T * mechanism.weights.astype(object)).sum())
    best = int((weighted @ other.weights.astype(object)).max(axis=0).sum())
    return Fraction(own, 2**mechanism.bits) - Fraction(best, 2**other.bits)
