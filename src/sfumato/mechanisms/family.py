"""Families of mechanisms: the properties that each states, and checks of their arguments."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, Final

from ..core import AnyGuarantee, Capability, Mechanism, Randomizer, Recipe, Row, Space
from ..errors import InputError, python
from ..rounding import at_most

LISTABLE: Final = 1 << 20
"""The largest matrix, in entries, that a family writes out."""


class MechanismFamily(Randomizer):
    """A mechanism by name and parameters, whether or not its matrix can be written out.

    Attributes:
        name: What it is called in texts.
        study_only: Whether it lives in real numbers, which no computer draws exactly:
            anything that releases data must refuse it.
        instead: What may be released in its place, where it is for studies only.
    """

    __slots__ = ()
    name: ClassVar[str]
    study_only: ClassVar[bool] = False
    instead: ClassVar[str] = ""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The least epsilon that is promised, in closed form; ``inf`` where there is none."""

    @property
    @abstractmethod
    def hamming_loss(self) -> float:
        """The probability that the decoded report is not the secret, all secrets being equally likely."""

    @abstractmethod
    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers.

        Raises:
            InputError: If it has too many reports to list.
        """

    @property
    def secrets(self) -> Space | None:
        """The secrets; by default those of the matrix."""
        return self.mechanism().secrets

    @property
    def observables(self) -> Space | None:
        """The observables of the matrix.

        Raises:
            InputError: If they are too many to list.
        """
        return self.mechanism().observables

    @property
    def stated_guarantees(self) -> tuple[AnyGuarantee, ...]:
        """The promises; by default those of the matrix."""
        return self.mechanism().guarantees

    def supports(self, capability: Capability) -> bool:
        """Return whether it has a capability: by default a matrix alone."""
        return capability is Capability.MATRIX

    def channel(self) -> Mechanism:
        """Return `mechanism`, as all mechanisms call it.

        Raises:
            InputError: If it has too many reports to list.
        """
        return self.mechanism()

    def recipe(self) -> Recipe:
        """Return how a report is drawn exactly: by default from the secret's row of the matrix.

        Raises:
            InputError: If the family is for studies only.
        """
        return Row(self.mechanism())

    def __repr__(self) -> str:
        return f"{self.name}, epsilon {at_most(self.epsilon, 6)}{', for studies only' if self.study_only else ''}"


def positive(value: float, what: str) -> float:
    """Return a positive, finite number; refuse anything else."""
    if not 0 < value < math.inf:
        raise InputError(f"{what} must be a positive number, but {value} was given.", "use a number above 0.")
    return float(value)


def check_listable(secrets: int, reports: int, name: str) -> None:
    """Raise an error with the count where a matrix would be too large."""
    if secrets * reports > LISTABLE:
        raise InputError(
            f"the matrix of {name} has {secrets:,} x {_count(reports)} entries, more than {LISTABLE:,}.",
            python("draw from it with sf.sampler, which needs no matrix."),
        )


def _count(number: int) -> str:
    digits = math.log10(number)
    return f"{number:,}" if digits < 15 else f"10**{int(digits)}"
