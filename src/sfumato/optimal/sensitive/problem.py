"""The problem of hiding a sensitive X behind a useful W, which is reported as Z within a limit of the loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...core import AnyLoss, Loss, Space, as_loss, units
from ...core.arrays import Floats, floats, readonly
from ...errors import InputError

VULNERABILITY: Final = "vulnerability"
INFORMATION: Final = "information"
_SUM_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SensitiveProblem:
    """The value to hide, the value that stays useful, and the loss that is allowed.

    Args:
        joint: P(x, w), array (classes, secrets), non-negative, with sum one (within 1e-9).
        secrets: The n values of W that the mechanism takes.
        loss: The loss l(w, z), array (n, m), a `Loss` or a `Metric`.
        max_loss: The largest expected loss, in its unit or as text (``"173 m"``).
        objective: ``vulnerability`` or ``information``.
        observables: The m values of Z; by default the secrets.

    Attributes:
        joint: As given.
        secrets: As given.
        observables: As given.
        loss: The loss.
        max_loss: In the loss's unit.
        objective: As given.
        classes: Array (classes,), P(x).
        weights: Array (n,), P(w).

    Raises:
        InputError: If sizes do not fit or the joint distribution is not a distribution.
        UnitError: If the unit of the bound does not fit.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section II (the chain X - W - Z).
    """

    joint: Floats
    secrets: Space
    observables: Space
    loss: Loss
    max_loss: float
    objective: str
    classes: Floats = field(init=False)
    weights: Floats = field(init=False)

    def __init__(
        self,
        joint: ArrayLike,
        secrets: Space,
        loss: AnyLoss,
        max_loss: float | str,
        objective: str,
        observables: Space | None = None,
    ) -> None:
        array = floats(joint, "the joint distribution", shape=(None, len(secrets)))
        if (array < 0).any():
            x, w = np.argwhere(array < 0)[0]
            raise InputError(
                f"the joint distribution is negative at class {x}, secret {w}: {array[x, w]:g}.",
                "use probabilities of at least 0.",
            )
        total = float(array.sum())
        if abs(total - 1.0) > _SUM_TOLERANCE:
            raise InputError(
                f"the joint distribution sums to {total:.12g}, not to 1.", "divide counts by their sum first."
            )
        if objective not in (VULNERABILITY, INFORMATION):
            raise InputError(
                f"the objective {objective!r} is unknown.", f"use {VULNERABILITY!r} or {INFORMATION!r}."
            )
        space = observables if observables is not None else secrets
        found = as_loss(loss, len(secrets), len(space))
        object.__setattr__(self, "joint", array)
        object.__setattr__(self, "secrets", secrets)
        object.__setattr__(self, "observables", space)
        object.__setattr__(self, "loss", found)
        object.__setattr__(self, "max_loss", units.parse(max_loss, unit=found.unit, what="the largest loss"))
        object.__setattr__(self, "objective", objective)
        object.__setattr__(self, "classes", readonly(array.sum(axis=1)))
        object.__setattr__(self, "weights", readonly(array.sum(axis=0)))

    def __repr__(self) -> str:
        k, n = self.joint.shape
        return (
            f"SensitiveProblem of least {self.objective}: {k} classes behind {n} secrets, {len(self.observables)} "
            f"observables, loss at most {units.show(self.max_loss, self.loss.unit)}"
        )

    @property
    def negligible(self) -> float:
        """A thousandth of the most that this number of classes could leak: gaps are relative to no less."""
        if self.objective == VULNERABILITY:
            return 1e-3
        return 1e-3 * max(1.0, float(np.log2(np.count_nonzero(self.classes))))
