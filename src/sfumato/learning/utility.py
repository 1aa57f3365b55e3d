"""Prices on the loss, which hold the generator to its limit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


class Utility(ABC):
    """A price on the loss that is added to the target."""

    __slots__ = ()

    name: ClassVar[str]
    start: ClassVar[float] = 0.0
    """The multiplier before the first round."""

    @abstractmethod
    def price(self, loss: Tensor, max_loss: float, multiplier: float) -> Tensor:
        """Return what is added to the target, a single number.

        Args:
            loss: The expected loss, in its unit.
            max_loss: What it should not exceed.
            multiplier: The present price of a loss as large as the limit.
        """

    @abstractmethod
    def updated(self, loss: float, max_loss: float, multiplier: float) -> float:
        """Return the multiplier after a round that ended with this loss."""


@dataclass(frozen=True, slots=True)
class AugmentedLagrangian(Utility):
    """A price that learns how high it must be: the limit is met, with no weight to choose.

    With g = loss / max_loss - 1 it adds (max(0, m + r g)**2 - m**2) / (2 r), and after each
    round the multiplier m becomes max(0, m + step g). Both are free of units.

    Attributes:
        curvature: r.
        step: How fast the multiplier moves.

    Source:
        Rockafellar, "The multiplier method of Hestenes and Powell", 1973.
    """

    name: ClassVar[str] = "augmented Lagrangian"
    curvature: float = 2.0
    step: float = 0.5

    def __post_init__(self) -> None:
        if not (self.curvature > 0 and self.step > 0):
            raise InputError(
                f"a curvature of {self.curvature} and a step of {self.step} are not both positive.",
                "use 2 and 0.5.",
            )

    def price(self, loss: Tensor, max_loss: float, multiplier: float) -> Tensor:
        """Return the augmented term."""
        pressure = (multiplier + self.curvature * (loss / max_loss - 1)).clamp_min(0)
        return (pressure**2 - multiplier**2) / (2 * self.curvature)

    def updated(self, loss: float, max_loss: float, multiplier: float) -> float:
        """Return the next multiplier."""
        return max(0.0, multiplier + self.step * (loss / max_loss - 1))


@dataclass(frozen=True, slots=True)
class Softplus(Utility):
    """The paper's term: weight ln(1 + exp(s (loss - max_loss) / max_loss)).

    The paper takes the difference in the unit of the coordinates, so that the same
    training is steep in metres and blind in kilometres. Here it counts in parts of the
    limit, and s says how many units of the paper one limit is: give the limit in metres
    as s to have the paper's term for metres. It is a price, not a promise: the loss
    settles where it balances the target, on either side of the limit.

    Attributes:
        weight: alpha, the weight beside the target's.
        steepness: s.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, equations 15 to 17.
    """

    name: ClassVar[str] = "softplus"
    weight: float = 1.0
    steepness: float = 100.0

    def __post_init__(self) -> None:
        if not (self.weight > 0 and self.steepness > 0):
            raise InputError(
                f"a weight of {self.weight} and a steepness of {self.steepness} are not both positive.",
                "use 1 and 100.",
            )

    def price(self, loss: Tensor, max_loss: float, multiplier: float) -> Tensor:  # noqa: ARG002 - it has none
        """Return the softplus term."""
        excess = self.steepness * (loss / max_loss - 1)
        # ln(1 + e^t) without overflow.
        return self.weight * (excess.clamp_min(0) + (-excess.abs()).exp().log1p())

    def updated(self, loss: float, max_loss: float, multiplier: float) -> float:  # noqa: ARG002 - nothing moves
        """Return the multiplier unchanged."""
        return multiplier
