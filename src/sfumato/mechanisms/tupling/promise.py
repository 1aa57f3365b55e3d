"""The guarantee of a tupled mechanism, and its proof by the accountant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.immutable import CompactRepr
from ...errors import InputError
from ...rounding import at_most, exactly
from .mechanism import Tupling, check_delta, check_epsilon

if TYPE_CHECKING:
    from .family import Worst


@dataclass(frozen=True, slots=True)
class TuplePrivacy:
    """Every two secrets are (epsilon, delta)-indistinguishable from a tuple.

    P(tuple in R | s) <= exp(epsilon) P(tuple in R | s') + delta for all s, s' and sets R of tuples

    Epsilon is from 0 to 700, and delta from 0 to 1. Raises `InputError` if a parameter is out of range.

    Source:
        Kawamoto and Murakami, ESORICS 2019; docs/proofs/tupling.md.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_delta(self.delta)

    def __str__(self) -> str:
        numbers = f"epsilon {exactly(self.epsilon)} with delta {exactly(self.delta)}"
        return f"{numbers} between every two secrets, from a tuple"

    def prove(self, tupling: Tupling) -> TupleProof:
        """Return the proof or refutation of this guarantee for a mechanism, from its integers."""
        from .family import FamilyAccountant  # loads scipy

        if tupling.inner.shape[0] < 2:
            raise InputError("there is only one secret, so no pair to protect.", "use two secrets or more.")
        return TupleProof(self, FamilyAccountant.of_points(tupling).delta(self.epsilon))


@dataclass(frozen=True, slots=True, repr=False)
class TupleProof(CompactRepr):
    """The accountant's proof of a guarantee.

    ``found`` bounds the least delta at the guaranteed epsilon, with the pair of secrets whose upper bound is
    largest.
    """

    promise: TuplePrivacy
    found: Worst

    @property
    def holds(self) -> bool:
        """Whether the guarantee is proved: the upper bound of delta is at most the guaranteed one."""
        return self.found.bounds.upper <= self.promise.delta

    @property
    def sentence(self) -> str:
        """The proved statement as a sentence."""
        upper = at_most(self.found.bounds.upper)
        if self.holds:
            return f"Proved: {self.promise} (the least delta is at most {upper})."
        if self.found.bounds.lower > self.promise.delta:
            return f"False: {self.promise}. The least delta there is more than that, at most {upper}."
        return f"Not proved: {self.promise}. The least delta there is at most {upper}."
