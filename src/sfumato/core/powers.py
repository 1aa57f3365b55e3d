"""Powers of Fourier transforms, by a route whose rounding is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def power(values: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """Return powers by repeated squaring: at most 2 log2(count) products, each rounded once.

    Args:
        values: Array of any shape.
        count: At least 0.
    """
    answer, square = np.ones_like(values), values
    while count:
        if count & 1:
            answer = answer * square
        count >>= 1
        if count:
            square = square * square
    return answer
