"""The problem of hiding a sensitive X behind a useful W, which is reported as Z within a limit of the loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...core import AnyLoss, Guarantees, Loss, MetricPrivacy, Space, as_loss, units
from ...core.arrays import Floats, floats, readonly
from ...errors import InputError, python
from ...rounding import UNIT
from ..problem import exponents_of, guarantees_for

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
        guarantees: Metric privacy of W to keep besides, for the objective ``vulnerability``: one or several.

    Attributes:
        joint: As given.
        secrets: As given.
        observables: As given.
        loss: The loss.
        max_loss: In the loss's unit.
        objective: As given.
        guarantees: What the rows of the mechanism must keep.
        classes: Array (classes,), P(x).
        weights: Array (n,), P(w).

    Raises:
        InputError: If sizes or guarantees do not fit, or the joint distribution is not a distribution.
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
    guarantees: tuple[MetricPrivacy, ...]
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
        guarantees: Guarantees = (),
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
        object.__setattr__(self, "guarantees", _metric_privacy(secrets, objective, guarantees))
        object.__setattr__(self, "classes", readonly(array.sum(axis=1)))
        object.__setattr__(self, "weights", readonly(array.sum(axis=0)))

    def __repr__(self) -> str:
        k, n = self.joint.shape
        promises = "".join(f", {guarantee}" for guarantee in self.guarantees)
        return (
            f"SensitiveProblem of least {self.objective}: {k} classes behind {n} secrets, {len(self.observables)} "
            f"observables, loss at most {units.show(self.max_loss, self.loss.unit)}{promises}"
        )

    @property
    def rounding(self) -> float:
        """The room that the final proof of the loss may need for rounding, in the unit of the loss."""
        size = float(self.weights @ np.abs(self.loss.array).max(axis=1))
        return 8 * (sum(self.joint.shape) + len(self.observables) + 16) * UNIT * size

    @property
    def negligible(self) -> float:
        """A thousandth of the most that this number of classes could leak: gaps are relative to no less."""
        if self.objective == VULNERABILITY:
            return 1e-3
        return 1e-3 * max(1.0, float(np.log2(np.count_nonzero(self.classes))))


def _metric_privacy(secrets: Space, objective: str, given: Guarantees) -> tuple[MetricPrivacy, ...]:
    """Return guarantees as rows of the secrets.

    Raises:
        InputError: If they do not fit the secrets, are not of metric privacy, or the objective knows none.
    """
    found = guarantees_for(secrets, given)
    if found and objective != VULNERABILITY:
        raise InputError(
            f"guarantees were given with the objective {objective!r}.",
            python("use least_vulnerability, or leave guarantees= out."),
        )
    kept = tuple(each for each in found if isinstance(each, MetricPrivacy))
    if len(kept) < len(found):
        other = next(each for each in found if not isinstance(each, MetricPrivacy))
        raise InputError(
            f"{other} was asked for, but here the attacker guesses the sensitive value, and that is made as hard "
            f"as it can be.",
            python("pass MetricPrivacy, ThresholdPrivacy or CoordinatePrivacy."),
        )
    exponents_of(secrets, kept)
    return kept
