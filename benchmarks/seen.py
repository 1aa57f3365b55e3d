"""The privacy that a returned matrix really has, whichever solver returned it."""

from __future__ import annotations

from typing import Any

import numpy as np

import sfumato as sf
from sfumato.core.arrays import Floats
from sfumato.proofs import worst_ratios

from .instances import Built


def seen(built: Built, matrix: Floats) -> dict[str, Any]:
    """Return cost and true epsilon of a matrix, clipped at 0 and with rows scaled to one.

    ``epsilon`` is the largest log-ratio over distance among pairs of finite ratio, and
    ``infinite_pairs`` counts the ordered pairs with an infinite one: there is an
    observable that one secret produces and the other never does.
    """
    clipped = np.maximum(matrix, 0.0)
    sums = clipped.sum(axis=1, keepdims=True)
    if not (sums > 0).all():
        return {"least_entry": float(matrix.min())}
    rows = clipped / sums
    ratios, _ = worst_ratios(sf.Mechanism(rows))
    d = built.metric.array
    protected = (d > 0) & np.isfinite(d)
    infinite = protected & np.isinf(ratios)
    finite = protected & ~infinite
    logs = np.log(ratios[finite]) / d[finite]
    return {
        "cost": float(built.prior.probabilities @ (rows * built.loss_array).sum(axis=1)),
        "epsilon": float(logs.max()) if logs.size else None,
        "infinite_pairs": int(infinite.sum()),
        "pairs": int(protected.sum()),
        "least_entry": float(matrix.min()),
        "row_sum_error": float(np.abs(matrix.sum(axis=1) - 1).max()),
    }
