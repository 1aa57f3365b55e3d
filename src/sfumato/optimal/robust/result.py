"""A design for several priors, and what is proved of it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core import Guarantee, Loss, Mechanism, Prior
from ...core.arrays import Floats
from ...evidence import EpsilonProof, relative_gap
from ...rounding import amount_at_most, at_most
from ..solver import Progress, Status


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RobustDesign:
    """A mechanism of nearly the least largest expected loss over several priors, with its proofs.

    The expected loss is linear in the prior, so what is proved for the k priors holds for all their mixtures.
    Every figure is proved over the integers of the mechanism, with rounding on the safe side.

    Attributes:
        mechanism: The mechanism.
        priors: The priors.
        loss: The loss.
        guarantees: What the mechanism guarantees.
        status: Whether the wanted gap was reached; its value is a sentence.
        value: Upper bound of the largest expected loss, in the unit of the loss.
        lower_bound: Proved lower bound of the same for every mechanism with the guarantees: what they all lose on
            average for ``least_favourable``.
        losses: Upper bounds of the expected loss for each prior.
        weights: The shares of the priors in the least favourable one, array (k,).
        least_favourable: The mixture of the priors whose least expected loss is the lower bound: the witness.
        metric_privacy: One proof per guarantee.
        negligible: A value so small that the gap is relative to it instead.
        log: The progress, step by step; its bounds are proved, its values computed in plain floats.
        seconds: The time it took.
    """

    mechanism: Mechanism
    priors: tuple[Prior, ...]
    loss: Loss
    guarantees: tuple[Guarantee, ...]
    status: Status
    value: float
    lower_bound: float
    losses: tuple[float, ...]
    weights: Floats
    least_favourable: Prior
    metric_privacy: tuple[EpsilonProof, ...]
    negligible: float
    log: tuple[Progress, ...]
    seconds: float

    @property
    def gap(self) -> float:
        """The largest distance of the value from the least one, relative to it; see `relative_gap`."""
        return relative_gap(self.value, self.lower_bound, self.negligible)

    @property
    def epsilon_upper(self) -> float:
        """The proved epsilon of the first guarantee, per unit of its metric."""
        return self.metric_privacy[0].upper

    def __repr__(self) -> str:
        promise = ", ".join(str(guarantee) for guarantee in self.guarantees)
        return (
            f"RobustDesign of {self.mechanism!r}: {promise}; expected loss at most "
            f"{amount_at_most(self.value, self.loss.unit)} for {len(self.priors)} priors and their mixtures, "
            f"gap {at_most(self.gap, 2)} ({self.status.name})"
        )
