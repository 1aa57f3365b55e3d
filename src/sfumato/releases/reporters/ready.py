"""The choice of a reporter for a mechanism."""

from __future__ import annotations

from typing import Any

from ...core import Capability, Row
from ...core.randomizer import check_known
from .family import FamilyReporter
from .matrix import MatrixReporter
from .noise import NoiseReporter
from .reporter import Reporter


def reporter(drawable: Any) -> Reporter:
    """Return a mechanism, made ready for batches.

    Args:
        drawable: A `Mechanism`, a `Tupling`, a `CoordinateNoise` or a family of `sfumato.mechanisms`.

    Raises:
        InputError: If it is for studies only, or not of a kind that this package knows.
    """
    check_known(drawable)
    if drawable.supports(Capability.POINTS):
        return NoiseReporter(drawable)
    recipe = drawable.recipe()
    row = recipe.row
    return MatrixReporter(drawable, recipe, row) if isinstance(row, Row) else FamilyReporter(drawable, recipe)
