"""The worth of one mechanism above that of another one under a gain, over the integers of both."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism
from ..core.arrays import Floats
from ..errors import InputError

SCALE: Final = 2**60  # gains are rounded to multiples of one over this, and then exact

Whole = NDArray[Any]  # of Python's integers, which do not overflow


def check_same_secrets(mechanism: Mechanism, other: Mechanism) -> None:
    """Refuse two mechanisms whose rows are not about the same secrets; labels of different kinds are left alone.

    Raises:
        InputError: If the numbers of secrets differ, or their labels are the same ones in another order.
    """
    n, secrets = len(mechanism.secrets), len(other.secrets)
    if n != secrets:
        raise InputError(f"the mechanisms have {n:,} and {secrets:,} secrets.", "compare two on the same secrets.")
    mechanism.secrets.check_order(other.secrets, "the other mechanism")


def whole(gains: Floats) -> Whole:
    """Return gains as integers, in units of 1 / `SCALE`; each is rounded down.

    Args:
        gains: Array of any shape.
    """
    found: Whole = np.array([int(value) for value in np.floor(gains * SCALE).ravel().tolist()], dtype=object)
    return found.reshape(gains.shape)


def separation(mechanism: Mechanism, other: Mechanism, weighted: Whole) -> Fraction:
    """Return how much more a mechanism is worth than another one, exactly.

    sum over o of max over z of sum over s of p(o|s) w(z, s) - the same of q

    Args:
        mechanism: The mechanism p.
        other: The other one, q, on as many secrets.
        weighted: Integers (guesses, secrets): the prior of s times what guess z is worth there, in any unit; the
            answer has the same unit.
    """
    own = int((weighted @ mechanism.weights.astype(object)).max(axis=0).sum())
    best = int((weighted @ other.weights.astype(object)).max(axis=0).sum())
    return Fraction(own, 2**mechanism.bits) - Fraction(best, 2**other.bits)
