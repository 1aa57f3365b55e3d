"""Cholesky factor and inverse of a block whose entries lie near the diagonal.

Panels of columns are factored in place within a full scratch matrix, each touching only the
rows it reaches. With panels L = [D; E] and F = E D^{-1} the inverse Z follows from the last
panel to the first:

    Z[after, panel] = -Z[after, reached] F
    Z[panel, panel] = (D D')^{-1} - F' Z[reached, panel]

which for a width b takes about 2 n^2 b operations where the dense inverse takes n^3 / 3
twice, and leaves the entries outside the factor to matrix products.

As in `_lapack`, matrices are C-ordered with the upper triangle meaningful.

Source:
    Takahashi, Fagan and Chin, "Formation of a sparse bus impedance matrix" (1973).
"""

from __future__ import annotations

import numpy as np

from . import _lapack
from ._arrays import Floats
from ._order import Order


def factor(matrix: Floats, order: Order) -> bool:
    """Overwrite a matrix with its Cholesky factor.

    Args:
        matrix: Array (size, size) in the order's positions.
        order: The order, not a dense one.

    Returns:
        False where it is not positive definite to working precision.
    """
    return all(_lapack.factor_panel(matrix, *panel) for panel in order.panels)


def pack(factored: Floats, order: Order, out: Floats) -> None:
    """Copy the factor's band to ``out``, array (size, width + 1), LAPACK's lower band storage.

    Args:
        factored: Array (size, size), the start of a buffer that goes on for width more numbers.
        order: Its order.
        out: Overwritten.
    """
    size, step = len(factored), factored.strides[1]
    out[:] = np.lib.stride_tricks.as_strided(
        factored, (size, order.width + 1), ((size + 1) * step, step), writeable=False
    )


def invert(factored: Floats, order: Order, out: Floats) -> None:
    """Write the inverse's upper triangle to ``out`` and destroy the factor.

    Args:
        factored: Array (size, size), as `factor` leaves it.
        order: Its order.
        out: Array (size, size), zero below the diagonal and left so.
    """
    for start, end, stop in reversed(order.panels):
        _lapack.invert_panel(factored, out, start, end, stop)
        out[start:end, start:end] = np.triu(factored[start:end, start:end])
