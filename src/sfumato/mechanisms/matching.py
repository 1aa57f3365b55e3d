"""Mechanisms of equal loss: the parameter that makes a family lose as much as is wanted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..core import AnyLoss, Mechanism, Prior, as_loss, units
from ..errors import InfeasibleError, InputError

_STEPS: Final = 100  # halvings after which floats are exhausted


@dataclass(frozen=True, slots=True)
class Matched:
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
    bracket: tuple[float, float],
    *,
    tolerance: float = 1e-4,
) -> Matched:
    """Return the mechanism of a family whose expected loss is just below a target.

    So mechanisms can be compared at equal loss. The parameter is found by halving the
    bracket (in its logarithm); the loss must grow or fall with it.

    Args:
        build: From a parameter to a mechanism, such as ``lambda e: planar_geometric(city, e)``.
        prior: The prior on the n secrets.
        loss: The loss l(s, o), array (n, m).
        target: In the loss's unit; a number or text such as ``"500 m"``.
        bracket: Two positive parameters, one with too little loss and one with too much.
        tolerance: How far below the target the loss may be, as a part of the target.

    Raises:
        InputError: If the bracket is not positive, or the tolerance is not.
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
    if not (0 < bracket[0] < math.inf and 0 < bracket[1] < math.inf and 0 < tolerance < 1):
        raise InputError(
            f"the bracket {bracket} or the tolerance {tolerance} cannot be used.",
            "pass two positive parameters, and a tolerance such as 1e-4.",
        )
    ends = []
    for parameter in bracket:
        mechanism = build(parameter)
        found = as_loss(loss, *mechanism.shape)
        ends.append(Matched(parameter, mechanism, mechanism.expected_loss(prior, found), found.unit))
    wanted = units.parse(target, unit=ends[0].unit, what="the loss")
    low, high = sorted(ends, key=lambda end: end.loss)
    if not low.loss <= wanted < high.loss:
        raise InfeasibleError(
            f"the loss goes from {units.show(low.loss, low.unit)} to {units.show(high.loss, low.unit)} "
            f"in the bracket {bracket[0]:.4g} to {bracket[1]:.4g}, "
            f"but {units.show(wanted, low.unit)} was asked for.",
            "widen the bracket, or ask for a loss that the family reaches.",
        )
    for _ in range(_STEPS):
        if wanted - low.loss <= tolerance * wanted:
            return low
        middle = math.sqrt(low.parameter * high.parameter)
        if middle in (low.parameter, high.parameter):
            break
        mechanism = build(middle)
        found_loss = mechanism.expected_loss(prior, loss)
        end = Matched(middle, mechanism, found_loss, low.unit)
        low, high = (end, high) if found_loss <= wanted else (low, end)
    raise InfeasibleError(
        f"the loss jumps from {low.loss:.6g} to {high.loss:.6g} at the parameter {low.parameter:.9g}.",
        "mix the mechanisms on both sides, or raise the tolerance.",
    )
