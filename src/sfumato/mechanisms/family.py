"""Families of mechanisms: the properties that each states, and checks of their arguments."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Capability, LocalPrivacy, Mechanism, Randomizer, Recipe, Row, Space, units
from ..core.guarantees import AnyGuarantee
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


class FrequencyOracle(MechanismFamily):
    """A family on k categories whose report supports each category or not.

    The own category is supported with probability p, any other with probability q, and
    so the share of supporting reports tells a category's frequency:
    (share - q) / (p - q) is an unbiased estimate.

    Source:
        Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency
        estimation", USENIX Security 2017 ("pure" protocols).

    Attributes:
        space: The k categories.
    """

    __slots__ = ()
    space: Space

    @property
    def secrets(self) -> Space:
        """The categories."""
        return self.space

    @property
    def stated_guarantees(self) -> tuple[AnyGuarantee, ...]:
        """The epsilon between any two categories."""
        return (LocalPrivacy(self.epsilon),)

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """(p, q): how probably a report supports the own category, and how probably another one."""

    @abstractmethod
    def support_counts(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Return how many reports support each category, array (categories,).

        Args:
            reports: Array (reports, ...), as a sampler draws them: positions; k bits;
                (a, b, bucket) of a hash; or the positions of a subset.

        Raises:
            InputError: If they are not such reports.
        """

    def estimate_variance(self, frequency: float, reports: int) -> float:
        """Return the variance of the estimated frequency of a category, exactly.

        (f p (1 - p) + (1 - f) q (1 - q)) / (reports (p - q)**2) for a fixed population.

        Args:
            frequency: The category's true share f.
            reports: The number of independent reports.

        Raises:
            InputError: If the frequency is not a share, or there are no reports.

        Example:
            >>> import sfumato as sf
            >>> from sfumato.mechanisms import UnaryEncoding
            >>> UnaryEncoding(sf.Space(range(100)), 1.0, "optimised").estimate_variance(0.0, 1000)
            0.003682...
        """
        if not 0 <= frequency <= 1:
            raise InputError(f"the frequency {frequency} is not a share.", "use a number from 0 to 1.")
        if reports < 1:
            raise InputError(f"{reports} reports were given.", "an estimate needs at least one.")
        p, q = self.support
        return (frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)) / (reports * (p - q) ** 2)


def reports_of(given: ArrayLike, shape: tuple[int, ...], most: int, what: str) -> NDArray[np.int64]:
    """Return an array of reports, or refuse what is not one.

    Args:
        given: The reports, array (reports, *shape).
        shape: The shape of one report.
        most: The largest number in a report.
        what: What a report is, such as ``"positions of categories"``.

    Raises:
        InputError: If there are no reports, or not of this shape, or a number is out of range.
    """
    array = np.asarray(given)
    if array.dtype.kind not in "iu" or not array.size or array.shape[1:] != shape:
        raise InputError(
            f"an array of shape {array.shape} and type {array.dtype} was given as reports.",
            f"pass {what}, as a sampler draws them: integers of shape (reports, {', '.join(map(str, shape))}).",
        )
    if int(array.min()) < 0 or int(array.max()) > most:
        wrong = int(array.min()) if int(array.min()) < 0 else int(array.max())
        raise InputError(f"a report holds the number {wrong}.", f"pass {what}: integers from 0 to {most}.")
    return array.astype(np.int64, copy=False)


def categorical(space: Space, epsilon: float | str) -> float:
    """Return a pure epsilon for at least two categories, or refuse it.

    Raises:
        InputError: If epsilon is not positive or there is one category only.
        UnitError: If epsilon has a unit.
    """
    if len(space) < 2:
        raise InputError("there is one category only.", "one category needs no protection; pass at least two.")
    return positive(units.parse(epsilon, per=True, unit="", what="epsilon"), "epsilon")


def positive(value: float, what: str) -> float:
    """Return a positive, finite number; refuse anything else.

    Raises:
        InputError: If it is not.
    """
    if not 0 < value < math.inf:
        raise InputError(f"{what} must be a positive number, but {value} was given.", "use a number above 0.")
    return float(value)


def check_listable(secrets: int, reports: int, name: str) -> None:
    """Raise an error with the count where a matrix would be too large.

    Raises:
        InputError: If it has more than `LISTABLE` entries.
    """
    if secrets * reports > LISTABLE:
        raise InputError(
            f"the matrix of {name} has {secrets:,} x {_count(reports)} entries, more than {LISTABLE:,}.",
            python("draw from it with sf.sampler, which needs no matrix."),
        )


def _count(number: int) -> str:
    digits = math.log10(number)
    return f"{number:,}" if digits < 15 else f"10**{int(digits)}"
