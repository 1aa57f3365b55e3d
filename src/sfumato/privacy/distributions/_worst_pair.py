"""The finding of the pair of a family that needs most."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..finding import Finding, Witness
from ..notion import Notion
from .family import Family


def pair_witness(family: Family, worst: int, outputs: NDArray[np.intp] | None = None) -> Witness:
    """Return the witness that names a pair of the family, and reports where they show it."""
    i, j = (int(position) for position in family.pairs[worst])
    chosen = np.empty(0, dtype=np.intp) if outputs is None else outputs
    return Witness((i, j), chosen, names=(str(family.names[i]), str(family.names[j])))


def finding_between(notion: Notion, value: float, below: float, above: float, witness: Witness) -> Finding:
    """Return the finding whose rounding reaches from the bound below to the bound above."""
    if math.isinf(value):
        return Finding(notion, value, 0.0 if math.isinf(below) else math.inf, witness)
    rounding = max(above - value, value - below)
    return Finding(notion, value, rounding, witness)
