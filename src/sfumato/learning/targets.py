"""Targets of the training: measures of the attacker's success, and prices on the loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ..errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

_NEVER: Final = 1e-30  # joint probabilities below it count as this in logarithms; float32 still holds it
_LN2: Final = 0.6931471805599453


class Target(ABC):
    """A measure of the information about the label X in a guess Y, which torch differentiates.

    The guess is random: the attacker who sees z names y with probability C(y|z). The attacker is fixed while the
    generator learns.
    """

    __slots__ = ()

    name: ClassVar[str]

    @abstractmethod
    def __call__(self, shares: Tensor, beliefs: Tensor) -> Tensor:
        """Return the measure, a single number.

        Args:
            shares: Array (labels, reports), P(x, z); in a batch of N reports, 1 / N where x is the label of the
                report z.
            beliefs: Array (reports, labels) of log C(y|z).
        """

    @abstractmethod
    def of_reports(self, shares: Tensor) -> Tensor:
        """Return the measure for an attacker who knows the mechanism, from P(x, z), array (labels, reports)."""


class _OfJoint(Target):
    """A measure of the joint distribution of label and guess alone, invariant to renaming guesses."""

    __slots__ = ()

    def __call__(self, shares: Tensor, beliefs: Tensor) -> Tensor:
        """Return the measure of P(x, y), the sum over z of P(x, z) C(y|z)."""
        return self.of_reports(shares @ beliefs.exp())


@dataclass(frozen=True, slots=True)
class MutualInformation(_OfJoint):
    """I(X; Y) in bits, the paper's own choice.

    Its gradient vanishes where X and Y are nearly independent, so the last traces of a label go slowly.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, equations 9 to 12 and 15.
    """

    name: ClassVar[str] = "mutual information"

    def of_reports(self, shares: Tensor) -> Tensor:
        """Return the mutual information of a joint distribution, in bits."""
        expected = shares.sum(1, keepdim=True) * shares.sum(0, keepdim=True)
        ratio = shares.clamp_min(_NEVER).log2() - expected.clamp_min(_NEVER).log2()
        return (shares * ratio).sum()


@dataclass(frozen=True, slots=True)
class BayesVulnerability(_OfJoint):
    """The probability of the best guess, sum over y of (sum over x of P(x, y)**order)**(1 / order).

    With an infinite order it is the Bayes vulnerability, sum over y of max over x of P(x, y), which is linear
    between kinks; a finite order rounds them, and is larger. The order is above 1; ``inf`` is the maximum.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section III (Bayes error as
        a target); the rounding is Arimoto's, of order ``order``.
    """

    name: ClassVar[str] = "Bayes vulnerability"
    order: float = float("inf")

    def __post_init__(self) -> None:
        if not self.order > 1:
            raise InputError(f"an order of {self.order} is not above 1.", "use inf, or 8 for a smooth one.")

    def of_reports(self, shares: Tensor) -> Tensor:
        """Return the probability of the best guess from a report."""
        if self.order == float("inf"):
            return shares.amax(0).sum()
        # Divided by the largest first: powers of small probabilities underflow.
        largest = shares.amax(0).clamp_min(_NEVER)
        powers = ((shares / largest) ** self.order).sum(0).clamp_min(_NEVER)
        return (largest * powers ** (1 / self.order)).sum()


@dataclass(frozen=True, slots=True)
class CrossEntropy(Target):
    """The mean log2 C(x|z) of the true label: minus the attacker's own loss.

    Training with it never settles: the generator moves Alice's reports to where the attacker now expects Bob, the
    next attacker learns that, and so on (Example 1). It is offered to show that.

    Source:
        Romanelli, Palamidessi and Chatzikokolakis, CSF 2020, section III.
    """

    name: ClassVar[str] = "cross entropy"

    def __call__(self, shares: Tensor, beliefs: Tensor) -> Tensor:
        """Return the mean logarithm of the belief in the true label, in bits."""
        return (shares * beliefs.T).sum() / _LN2

    def of_reports(self, shares: Tensor) -> Tensor:
        """Return -H(X|Z) in bits: the belief of the attacker who knows the mechanism is the posterior."""
        return (shares * (shares.clamp_min(_NEVER).log2() - shares.sum(0).clamp_min(_NEVER).log2())).sum()


@dataclass(frozen=True, slots=True)
class FInformation(_OfJoint):
    """The f-divergence of P(x, y) from P(x) P(y): sum of P(x) P(y) f(P(x, y) / (P(x) P(y))).

    Attributes:
        generator: A convex f with f(1) = 0, from a tensor of ratios to one of the same shape, that torch can
            differentiate; such as ``lambda t: (t - 1) ** 2`` for the chi-square information, ``lambda t: abs(t -
            1) / 2`` for total variation.

    Source:
        Csiszár, "A class of measures of informativity of observation channels", 1972.
    """

    name: ClassVar[str] = "f-information"
    generator: Callable[[Tensor], Tensor]
    title: str = "f-information"

    def of_reports(self, shares: Tensor) -> Tensor:
        """Return the f-information of a joint distribution."""
        expected = shares.sum(1, keepdim=True) * shares.sum(0, keepdim=True)
        return (expected * self.generator(shares / expected.clamp_min(_NEVER))).sum()


class Utility(ABC):
    """A price on the loss that is added to the target."""

    __slots__ = ()

    name: ClassVar[str]
    start: ClassVar[float] = 0.0
    """The multiplier before the first round."""

    @abstractmethod
    def price(self, loss: Tensor, max_loss: float, multiplier: float) -> Tensor:
        """Return the term that is added to the target, a single number, from the expected loss in its unit.

        The multiplier is the present price of a loss as large as the limit ``max_loss``.
        """

    @abstractmethod
    def update(self, loss: float, max_loss: float, multiplier: float) -> float:
        """Return the multiplier after a round that ended with this loss."""


@dataclass(frozen=True, slots=True)
class AugmentedLagrangian(Utility):
    """A price that adapts until the limit is met, with no weight to choose.

    With g = loss / max_loss - 1 it adds (max(0, m + r g)**2 - m**2) / (2 r), and after each round the multiplier m
    becomes max(0, m + step g). Both are free of units. ``curvature`` is r.

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

    def update(self, loss: float, max_loss: float, multiplier: float) -> float:
        """Return the next multiplier."""
        return max(0.0, multiplier + self.step * (loss / max_loss - 1))


@dataclass(frozen=True, slots=True)
class Softplus(Utility):
    """The paper's term: weight ln(1 + exp(s (loss - max_loss) / max_loss)).

    The paper takes the difference in the unit of the coordinates; here it counts in parts of the limit: give the
    limit in metres as the steepness s for the paper's term in metres. It is a price, not a bound: the loss settles
    where it balances the target, on either side of the limit. The weight is relative to the target's.

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

    def update(self, loss: float, max_loss: float, multiplier: float) -> float:  # noqa: ARG002 - nothing moves
        """Return the multiplier unchanged."""
        return multiplier
