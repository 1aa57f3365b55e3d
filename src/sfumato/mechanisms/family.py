"""Families of mechanisms: a common interface, checks of arguments, and the parameter for a wanted loss."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from ..core import (
    AnyGuarantee,
    AnyLoss,
    Capability,
    Mechanism,
    Prior,
    Randomizer,
    Recipe,
    Row,
    Space,
    as_loss,
    units,
)
from ..core.bracket import bisect, geometric_mean
from ..core.immutable import CompactRepr
from ..errors import InfeasibleError, InputError, python, shell
from ..rounding import at_most

LISTABLE: Final = 1 << 20
"""The largest matrix, in entries, that a family writes out."""

_STEPS: Final = 100  # halvings after which floats are exhausted


class MechanismFamily(Randomizer):
    """A mechanism by name and parameters, even if its matrix is too large to write out.

    ``study_only`` is whether it is in real numbers, which no computer draws exactly: releases must refuse it, and
    ``instead`` is what may be released then.
    """

    __slots__ = ()
    name: ClassVar[str]
    study_only: ClassVar[bool] = False
    instead: ClassVar[str] = ""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The least epsilon guaranteed, in closed form; ``inf`` where there is none."""

    @property
    def hamming_loss(self) -> float:
        """The probability that the decoded report is not the secret, for uniform secrets; by default undecoded."""
        return 1.0 - float(np.diagonal(self.mechanism().matrix).mean())

    @abstractmethod
    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers; `InputError` if it has too many reports to list."""

    @property
    def secrets(self) -> Space | None:
        """The secrets; by default those of the matrix."""
        return self.mechanism().secrets

    @property
    def observables(self) -> Space | None:
        """The observables of the matrix; `InputError` if they are too many to list."""
        return self.mechanism().observables

    @property
    def stated_guarantees(self) -> tuple[AnyGuarantee, ...]:
        """The stated guarantees; by default those of the matrix."""
        return self.mechanism().guarantees

    def supports(self, capability: Capability) -> bool:
        """Return whether it has a capability: by default a matrix only."""
        return capability is Capability.MATRIX

    def channel(self) -> Mechanism:
        """Return `mechanism`; `InputError` if it has too many reports to list."""
        return self.mechanism()

    def recipe(self) -> Recipe:
        """Return the exact recipe, by default from the matrix's row; `InputError` if for studies only."""
        return Row(self.mechanism())

    def __repr__(self) -> str:
        return f"{self.name}, epsilon {at_most(self.epsilon, 6)}{', for studies only' if self.study_only else ''}"


def positive(value: float, subject: str) -> float:
    """Return a positive, finite number; `InputError` for anything else."""
    if not 0 < value < math.inf:
        raise InputError(f"{subject} must be a positive number, but {value} was given.", "use a number above 0.")
    return float(value)


def pure_epsilon(epsilon: float | str) -> float:
    """Return a positive epsilon that is a pure number; `InputError` for anything else."""
    return positive(units.parse(epsilon, per=True, unit="", subject="epsilon"), "epsilon")


def check_listable(secrets: int, reports: int, name: str) -> None:
    """Refuse a matrix that is too large to write out (`InputError`)."""
    if secrets * reports > LISTABLE:
        many = f"{reports:,}" if reports < 10**15 else f"10**{int(math.log10(reports))}"
        raise InputError(
            f"the matrix of {name} has {secrets:,} x {many} entries, more than {LISTABLE:,}.",
            python("draw from it with sf.sampler, which needs no matrix."),
            shell("make it with fewer values or dummies: this command lists every report."),
        )


@dataclass(frozen=True, slots=True, repr=False)
class LossMatch(CompactRepr):
    """A mechanism of a wanted expected loss, with the family's parameter."""

    parameter: float
    mechanism: Mechanism
    loss: float
    unit: str


def match_loss(
    build: Callable[[float], Mechanism],
    prior: Prior,
    loss: AnyLoss,
    target: float | str,
    between: tuple[float, float],
    *,
    tolerance: float = 1e-4,
) -> LossMatch:
    """Return the mechanism of a family whose expected loss is just below a target, to compare at equal loss.

    ``build`` takes a parameter to a mechanism, and the parameter is found by bisection of its logarithm between
    two positive ones, one with too little loss and one with too much; the loss must grow or fall with it. The
    target is in the loss's unit, a number or text such as ``"500 m"``, and the tolerance the most by which the
    loss may be below it, as a part of it. Raises `InputError` if a parameter or the tolerance is not positive.
    Raises `InfeasibleError` if the losses at both ends are on one side of the target, or the loss jumps over it.
    Raises `UnitError` if the unit of the target does not fit.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import geometric, match_loss
        >>> line = sf.Space.numbers(range(9))
        >>> even, steps = sf.Prior.uniform(line), line.metric("absolute")
        >>> match_loss(lambda e: geometric(line, e), even, steps, 1.0, (0.1, 10)).parameter
        0.720...
    """
    if not (0 < between[0] < math.inf and 0 < between[1] < math.inf and 0 < tolerance < 1):
        raise InputError(
            f"the parameters {between} or the tolerance {tolerance} cannot be used.",
            "pass two positive parameters, and a tolerance such as 1e-4.",
        )
    ends = []
    for parameter in between:
        mechanism = build(parameter)
        losses = as_loss(loss, *mechanism.shape)
        ends.append(LossMatch(parameter, mechanism, mechanism.expected_loss(prior, losses), losses.unit))
    bound = units.parse(target, unit=ends[0].unit, subject="the loss")
    low, high = sorted(ends, key=lambda end: end.loss)
    if not low.loss <= bound < high.loss:
        raise InfeasibleError(
            f"the loss goes from {units.show(low.loss, low.unit)} to {units.show(high.loss, low.unit)} "
            f"for parameters from {between[0]:.4g} to {between[1]:.4g}, "
            f"but {units.show(bound, low.unit)} was requested.",
            "use parameters farther apart, or a loss that the family reaches.",
        )

    def is_low(parameter: float) -> bool:
        nonlocal low, high
        mechanism = build(parameter)
        end = LossMatch(parameter, mechanism, mechanism.expected_loss(prior, loss), low.unit)
        low, high = (end, high) if end.loss <= bound else (low, end)
        return end is low

    def close(*_ends: float) -> bool:
        return bound - low.loss <= tolerance * bound

    bisect(is_low, fails=high.parameter, holds=low.parameter, middle=geometric_mean, stop=close, steps=_STEPS)
    if close():
        return low
    raise InfeasibleError(
        f"the loss jumps from {low.loss:.6g} to {high.loss:.6g} at the parameter {low.parameter:.9g}.",
        "mix the mechanisms on both sides, or raise the tolerance.",
    )
