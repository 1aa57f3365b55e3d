"""Mechanisms of equal loss: the parameter of a family that gives a wanted loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..core import AnyLoss, Mechanism, Prior, as_loss, units
from ..core.bracket import bisect, geometric_mean
from ..core.immutable import CompactRepr
from ..errors import InfeasibleError, InputError

_STEPS: Final = 100  # halvings after which floats are exhausted


@dataclass(frozen=True, slots=True, repr=False)
class Matched(CompactRepr):
    """A mechanism of a wanted expected loss.

    Attributes:
        parameter: The family's parameter.
        mechanism: The mechanism.
        loss: Its expected loss.
        unit: The unit of the loss.
    """

    parameter: float
    mechanism: Mechanism
    loss: float
    unit: str


def matched(
    build: Callable[[float], Mechanism],
    prior: Prior,
    loss: AnyLoss,
    target: float | str,
    between: tuple[float, float],
    *,
    tolerance: float = 1e-4,
) -> Matched:
    """Return the mechanism of a family whose expected loss is just below a target.

    So mechanisms can be compared at equal loss. The parameter is found by halving the
    interval (in its logarithm); the loss must grow or fall with it.

    Args:
        build: From a parameter to a mechanism, such as ``lambda e: planar_geometric(city, e)``.
        prior: The prior on the n secrets.
        loss: The loss l(s, o), array (n, m).
        target: In the loss's unit; a number or text such as ``"500 m"``.
        between: Two positive parameters, one with too little loss and one with too much.
        tolerance: How far below the target the loss may be, as a part of the target.

    Raises:
        InputError: If a parameter is not positive, or the tolerance is not.
        InfeasibleError: If the losses at its ends are not on both sides of the target, or the
            loss jumps over it.
        UnitError: If the unit of the target does not fit.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.mechanisms import geometric, matched
        >>> line = sf.Space.numbers(range(9))
        >>> even, steps = sf.Prior.uniform(line), line.metric("absolute")
        >>> matched(lambda e: geometric(line, e), even, steps, 1.0, (0.1, 10)).parameter
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
        ends.append(Matched(parameter, mechanism, mechanism.expected_loss(prior, losses), losses.unit))
    wanted = units.parse(target, unit=ends[0].unit, what="the loss")
    low, high = sorted(ends, key=lambda end: end.loss)
    if not low.loss <= wanted < high.loss:
        raise InfeasibleError(
            f"the loss goes from {units.show(low.loss, low.unit)} to {units.show(high.loss, low.unit)} "
            f"for parameters from {between[0]:.4g} to {between[1]:.4g}, "
            f"but {units.show(wanted, low.unit)} was asked for.",
            "use parameters farther apart, or ask for a loss that the family reaches.",
        )

    def within(parameter: float) -> bool:
        nonlocal low, high
        mechanism = build(parameter)
        end = Matched(parameter, mechanism, mechanism.expected_loss(prior, loss), low.unit)
        low, high = (end, high) if end.loss <= wanted else (low, end)
        return end is low

    def close(*_ends: float) -> bool:
        return wanted - low.loss <= tolerance * wanted

    bisect(within, fails=high.parameter, holds=low.parameter, middle=geometric_mean, done=close, steps=_STEPS)
    if close():
        return low
    raise InfeasibleError(
        f"the loss jumps from {low.loss:.6g} to {high.loss:.6g} at the parameter {low.parameter:.9g}.",
        "mix the mechanisms on both sides, or raise the tolerance.",
    )
