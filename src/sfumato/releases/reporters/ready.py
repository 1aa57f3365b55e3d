"""The choice of a reporter for a mechanism."""

from __future__ import annotations

from typing import Any

from ...core import Mechanism
from ...errors import InputError, python
from ...mechanisms.family import MechanismFamily
from ...mechanisms.planar import CoordinateNoise
from ...mechanisms.tupling import Tupling
from ...sampling import Drawable, PointRecipe, Row
from .family import FamilyReporter
from .matrix import MatrixReporter
from .noise import NoiseReporter
from .reporter import Reporter


def reporter(drawable: Any) -> Reporter:
    """Return a mechanism, made ready for batches.

    Args:
        drawable: A `Mechanism`, a `Tupling`, a `CoordinateNoise` or a family of `sfumato.mechanisms`.

    Raises:
        InputError: If it is for studies only, or not a mechanism.
    """
    if isinstance(drawable, Mechanism | Tupling):
        return MatrixReporter(drawable)
    if isinstance(drawable, CoordinateNoise):
        return NoiseReporter(drawable)
    if isinstance(drawable, MechanismFamily) and isinstance(drawable, Drawable):
        recipe = drawable.recipe()
        if isinstance(recipe, Row):
            return MatrixReporter(recipe.mechanism)
        if not isinstance(recipe, PointRecipe):
            return FamilyReporter(drawable, recipe)
    raise InputError(
        f"a value of {type(drawable)} cannot be released from.",
        python("pass a Mechanism, a Tupling, a CoordinateNoise or a family of sfumato.mechanisms."),
    )
