"""Several queries on the same data: the noise of each, and what they cost together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ..core.immutable import CompactRepr
from ..errors import InputError
from ..rounding import sum_above
from .family import positive

Rule = Literal["equal-noise", "equal-epsilon", "least-variance", "least-error"]
_POWERS: dict[str, float] = {
    "equal-noise": 1.0,
    "equal-epsilon": 0.0,
    "least-variance": 2 / 3,
    "least-error": 1 / 2,
}


@dataclass(frozen=True, slots=True, repr=False)
class JointQueries(CompactRepr):
    """Queries with Laplace noise of scale Delta_i / epsilon_i each, released together.

    They are jointly private with the sum of the epsilon_i. It is exact if some two
    neighbouring data sets move all answers by their sensitivities at once; otherwise
    `sensitivity` of the vector of queries gives less.

    Attributes:
        sensitivities: Delta_i.
        epsilons: epsilon_i.

    Raises:
        InputError: If there is no query, the numbers differ, or one is not positive.

    Source:
        Dwork and Roth, "The algorithmic foundations of differential privacy", theorem 3.14.

    Example:
        >>> from sfumato.mechanisms import JointQueries
        >>> both = JointQueries.allocated([1.0, 3.0], 0.5, "equal-noise")
        >>> both.scales  # (1 + 3) / 0.5 on each
        (8.0, 8.0)
    """

    sensitivities: tuple[float, ...]
    epsilons: tuple[float, ...]

    def __init__(self, sensitivities: Sequence[float], epsilons: Sequence[float]) -> None:
        if not sensitivities or len(sensitivities) != len(epsilons):
            raise InputError(
                f"there are {len(sensitivities)} sensitivities and {len(epsilons)} epsilons.",
                "pass one of each per query.",
            )
        object.__setattr__(self, "sensitivities", tuple(positive(d, "a sensitivity") for d in sensitivities))
        object.__setattr__(self, "epsilons", tuple(positive(e, "an epsilon") for e in epsilons))

    @classmethod
    def allocated(
        cls, sensitivities: Sequence[float], epsilon: float, rule: Rule, weights: Sequence[float] | None = None
    ) -> JointQueries:
        """Return the queries with epsilon shared out between them.

        The shares are proportional to Delta_i (``equal-noise``: the scale (sum of
        Delta_i) / epsilon on each), the same (``equal-epsilon``), to
        (w_i Delta_i^2)^(1/3) (``least-variance``: of the weighted sum of variances) or to
        (w_i Delta_i)^(1/2) (``least-error``: of the weighted sum of expected errors).

        Args:
            sensitivities: Delta_i.
            epsilon: What all may cost together.
            rule: How to share it.
            weights: w_i, how much each query matters; by default 1; for the last two rules only.

        Raises:
            InputError: If a number is not positive, or the rule is unknown or takes no weights.
        """
        if rule not in get_args(Rule):
            raise InputError(f"the rule {rule!r} is unknown.", f"use one of {', '.join(get_args(Rule))}.")
        optimal = rule in ("least-variance", "least-error")
        if weights is not None and (not optimal or len(weights) != len(sensitivities)):
            raise InputError(
                "weights were given that this rule cannot use.", "pass one per query, for a least-... rule."
            )
        total, importance = positive(epsilon, "epsilon"), weights or [1.0] * len(sensitivities)
        power = {"least-variance": 1 / 3, "least-error": 1 / 2}.get(rule, 0.0)
        parts = [
            positive(d, "a sensitivity") ** _POWERS[rule] * positive(w, "a weight") ** power
            for d, w in zip(sensitivities, importance, strict=True)
        ]
        whole = math.fsum(parts)
        shares = [total * part / whole for part in parts]
        # Rounding may have made the sum slightly larger than what all may cost.
        while math.fsum((*shares, -total)) > 0:
            shares = [math.nextafter(share, 0.0) for share in shares]
        return cls(sensitivities, shares)

    @property
    def scales(self) -> tuple[float, ...]:
        """The scale of each query's Laplace noise, Delta_i / epsilon_i."""
        return tuple(d / e for d, e in zip(self.sensitivities, self.epsilons, strict=True))

    @property
    def epsilon(self) -> float:
        """Cost of all together: the sum, rounded up."""
        return sum_above(self.epsilons)

    @property
    def variance(self) -> float:
        """The sum of the variances of the noise, 2 scale**2 each."""
        return math.fsum(2 * scale**2 for scale in self.scales)
