"""Goals of a search for epsilon (a loss, or an attacker's chance to be near), and its result."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np

from ..attacks import chance_within
from ..core import Bracket, Loss, Mechanism, Prior, Space, units
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr, assign
from ..errors import InfeasibleError, InputError, argument
from ..escaping import plain
from ..geo import Lattice, Places, Visits
from ..rounding import about, amount_at_least, amount_at_most, exactly, percent_at_least, percent_at_most
from .problem import limit_amount
from .result import NOISE, Design

_SHARE: Final = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*within\s+(\S.*)", re.IGNORECASE)
_ROUGH: Final = 0.02  # relative width of a chance that only starts the search


class DesignGoal(ABC):
    """A limit that designs of least loss satisfy from some epsilon on, or up to some epsilon.

    ``least`` is whether the least epsilon is wanted; else the largest.
    """

    __slots__ = ()

    least: ClassVar[bool]

    @abstractmethod
    def limit(self, loss: Loss) -> float:
        """Return the upper limit of `measure`."""

    @abstractmethod
    def ends(self, prior: Prior, loss: Loss, *, bounded: bool = True) -> tuple[float, float]:
        """Return about what is measured where reports reveal nothing, and where they reveal the secret.

        ``bounded`` says that every mechanism that is tried loses at least as much as the best report for every
        secret. Raises `InfeasibleError` if no mechanism reaches the goal. Raises `InputError` if every epsilon
        does, so that there is nothing to search for.
        """

    @abstractmethod
    def measure(self, design: Design) -> Bracket:
        """Return what is proved of a design; the limit applies to its upper end."""

    @abstractmethod
    def describe(self, measure: Bracket, unit: str) -> str:
        """Return what was measured in a few words; see `describe_success`."""

    @abstractmethod
    def describe_success(self, measure: Bracket, unit: str) -> str:
        """Return as a part of a sentence how a design reaches the goal; ``unit`` is that of the loss."""

    @abstractmethod
    def describe_miss(self, measure: Bracket, unit: str, kind: str) -> str:
        """Return as a part of a sentence how an epsilon misses the goal; ``kind`` is ``table`` or ``noise``."""


@check_arguments
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LossGoal(CompactRepr, DesignGoal):
    """The least epsilon with an expected loss of at most ``most``, in its unit or as text such as ``"500 m"``."""

    most: float | str
    least: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"LossGoal({plain(str(self.most))})"

    def limit(self, loss: Loss) -> float:
        """Return the largest loss, in its unit."""
        return self._largest_loss(loss.unit)

    def _largest_loss(self, unit: str) -> float:
        return units.parse(self.most, unit=unit, subject="the largest loss")

    def ends(self, prior: Prior, loss: Loss, *, bounded: bool = True) -> tuple[float, float]:
        """Return the least loss of one report for all secrets, and of the best report for each."""
        most, unit = self.limit(loss), loss.unit
        blind = float((prior.probabilities @ loss.array).min())
        clear = float(prior.probabilities @ loss.array.min(axis=1))
        if not bounded and not most > 0:
            raise InfeasibleError(
                f"a loss of at most {limit_amount(most, unit)} is out of reach: every guarantee costs some loss.",
                "allow more than 0.",
            )
        if bounded and most <= clear:
            raise InfeasibleError(
                f"a loss of at most {limit_amount(most, unit)} is out of reach for every epsilon: the best report "
                f"for every secret already loses {limit_amount(clear, unit)} on average.",
                f"allow more than {amount_at_most(clear, unit)}",
                _finer(prior.space),
            )
        if most >= blind:
            raise InputError(
                f"a loss of {limit_amount(most, unit)} needs no epsilon: one report for every secret loses only "
                f"{amount_at_most(blind, unit)} on average.",
                f"allow less than {amount_at_least(blind, unit)}.",
            )
        return blind, clear

    def measure(self, design: Design) -> Bracket:
        """Return the proved loss of a design; the lower end holds for every mechanism with its promise."""
        proof = design.certificate
        return Bracket(min(proof.bound, proof.loss), proof.loss, proof.loss)

    def describe(self, measure: Bracket, unit: str) -> str:
        """Return what a design loses, in a few words."""
        return f"loss at most {amount_at_most(measure.upper, unit)}"

    def describe_success(self, measure: Bracket, unit: str) -> str:
        """Return what a design loses."""
        most, loss = self._largest_loss(unit), amount_at_most(measure.upper, unit)
        return f"the loss is at most {limit_amount(most, unit)} on average (at most {loss})"

    def describe_miss(self, measure: Bracket, unit: str, kind: str) -> str:
        """Return the loss at an epsilon, of every mechanism where that is proved."""
        if kind == NOISE:
            low, high = (amount_at_least(measure.lower, unit), amount_at_most(measure.upper, unit))
            return f"planar noise loses {low} to {high}"
        if measure.lower > self._largest_loss(unit):
            return (
                "no mechanism on the same secrets, with the same reports and the rows that prove this epsilon, "
                f"loses less than {amount_at_least(measure.lower, unit)}"
            )
        return f"the design could be proved to lose at most {amount_at_most(measure.upper, unit)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttackerGoal(CompactRepr, DesignGoal):
    """The largest epsilon at which the best attacker's guess is near the true point at most this often.

    The attacker knows the mechanism and the prior, and guesses any point of the plane; see
    `attacks.chance_within`. Raises `InputError` if the share is not between 0 and 1, or the length not positive.
    Raises `UnitError` if it is not a length. ``share`` is a share of the time, such as 0.2; ``within`` is a length
    such as ``"500 m"``, a plain number in metres. The visits are those of the prior, the true points; with
    ``user`` only those of this user.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.optimal import AttackerGoal
        >>> AttackerGoal.parse("40 % within 500 m", sf.synthetic_city())
        AttackerGoal(40 % within 500 m)
    """

    share: float
    within: float | str
    visits: Visits
    user: Hashable | None
    least: ClassVar[bool] = False

    @check_arguments
    def __init__(self, share: float, within: float | str, visits: Visits, user: Hashable | None = None) -> None:
        if not 0 < share < 1:
            raise InputError(f"a share of {share:g} is not between 0 and 1.", "use 0.2 for 20 %.")
        if not units.length_m(within, "the radius") > 0:
            raise InputError(f"a radius of {within} is not positive.", "use a length such as '500 m'.")
        assign(self, share=float(share), within=within, visits=visits, user=user)

    @classmethod
    def parse(cls, text: str, visits: Visits, user: Hashable | None = None) -> Self:
        """Return the goal of a text such as ``"40 % within 500 m"``; for the visits see `AttackerGoal`.

        Raises `InputError` if the text is not of this form, or the share or the length not possible.
        """
        match = _SHARE.fullmatch(text)
        if match is None:
            raise InputError(
                f"{plain(text)!r} is not a percentage within a length.", "write it as '40 % within 500 m'."
            )
        return cls(float(match[1]) / 100, match[2], visits, user)

    def __repr__(self) -> str:
        return f"AttackerGoal({about(100 * self.share)} % within {self.radius})"

    @property
    def radius(self) -> str:
        """The radius, as text."""
        return units.show(units.length_m(self.within, "the radius"), "m")

    def limit(self, loss: Loss) -> float:  # noqa: ARG002
        """Return the share."""
        return self.share

    def ends(self, prior: Prior, loss: Loss, *, bounded: bool = True) -> tuple[float, float]:  # noqa: ARG002
        """Return the attacker's chance without a report, and with the secret itself."""
        n, unit = len(prior), f"within {self.radius}"
        limit = f"({unit}) at most {about(100 * self.share)} % of the time"
        silent = Mechanism(np.ones((n, 1)), prior.space, Space(["nothing"]))
        blind = chance_within(silent, self.visits, self.within, user=self.user)
        if self.share <= blind.upper:
            raise InfeasibleError(
                f"no mechanism limits the best attacker to be near {limit}: without a report they are "
                f"{percent_at_least(blind.lower)} of the time.",
                f"allow more than {percent_at_most(blind.upper)}",
                "use a smaller radius.",
            )
        open_book = Mechanism(np.eye(n), prior.space)
        clear = chance_within(open_book, self.visits, self.within, user=self.user, tolerance=_ROUGH)
        if self.share >= clear.upper:
            raise InputError(
                f"every epsilon limits the best attacker to be near {limit}: an attacker who sees the secret is "
                f"near at most {percent_at_most(clear.upper)} of the time.",
                f"use less than {percent_at_least(clear.lower)}",
                _finer(prior.space),
            )
        return blind.value, clear.value

    def measure(self, design: Design) -> Bracket:
        """Return the best attacker's chance; the lower end is achieved by known guesses."""
        return chance_within(design.mechanism, self.visits, self.within, user=self.user)

    def describe(self, measure: Bracket, unit: str) -> str:  # noqa: ARG002
        """Return the best attacker's chance in a few words."""
        return f"attacker within {self.radius} at most {percent_at_most(measure.upper)} of the time"

    def describe_success(self, measure: Bracket, unit: str) -> str:  # noqa: ARG002
        """Return the best attacker's chance."""
        return (
            f"the best attacker's guess, anywhere on the map, is within {self.radius} of the true point at most "
            f"{about(100 * self.share)} % of the time (at most {percent_at_most(measure.upper)})"
        )

    def describe_miss(self, measure: Bracket, unit: str, kind: str) -> str:  # noqa: ARG002
        """Return the best attacker's chance with the design for another epsilon."""
        if measure.lower > self.share:
            return f"with the design of least loss it is at least {percent_at_least(measure.lower)}"
        return f"the bound for the design of least loss is {percent_at_most(measure.upper)}"


def _finer(space: Space) -> str:
    """Return a hint on how to separate more secrets; empty where they are not places."""
    if isinstance(space, Lattice):
        return f"use {argument('spacing')} for a finer lattice."
    return "use smaller cells." if isinstance(space, Places) else ""


@dataclass(frozen=True, slots=True, repr=False)
class EpsilonTrial(CompactRepr):
    """One design of a search.

    Attributes:
        epsilon: Per unit of the promise.
        kind: ``table``, or ``noise`` for planar noise with a remap.
        measure: The quantity that the goal limits. For a program's loss, the upper end is proved of the design,
            the lower end of every mechanism with the same rows and reports. For noise's loss and an attacker's
            chance, both ends hold for this mechanism only.
        holds: Whether the design is proved to reach the goal.
        seconds: The time that the design and its measure took.
    """

    epsilon: float
    kind: str
    measure: Bracket
    holds: bool
    seconds: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FoundEpsilon(CompactRepr):
    """The epsilon of a design that reaches a goal, and all trials.

    Attributes:
        goal: The goal.
        design: The design.
        epsilon: Its epsilon, per unit of the promise.
        unit: The unit that epsilon is per.
        loss_unit: The unit of the loss.
        kind: ``table``, or ``noise`` where planar noise was chosen.
        trials: All designs, in the order in which they were made.
        is_finished: Whether the next epsilon, which misses the goal, is within the tolerance, and program or noise
            is proved to be the better one.
        seconds: The time it took.
    """

    goal: DesignGoal
    design: Design
    epsilon: float
    unit: str
    loss_unit: str
    kind: str
    trials: tuple[EpsilonTrial, ...]
    is_finished: bool
    seconds: float

    @property
    def trial(self) -> EpsilonTrial:
        """The trial whose design this is."""
        return next(trial for trial in self._alike if trial.epsilon == self.epsilon)

    @property
    def next_trial(self) -> EpsilonTrial | None:
        """The next epsilon tried, smaller for a loss and larger for an attacker; None where there is none."""
        beyond = [trial for trial in self._alike if (trial.epsilon < self.epsilon) == self.goal.least]
        rest = [trial for trial in beyond if trial.epsilon != self.epsilon]
        return min(rest, key=lambda trial: abs(trial.epsilon - self.epsilon), default=None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The goal and the result of the search, in words."""
        extreme, per = "smallest" if self.goal.least else "largest", units.per_unit(self.unit)
        unit, miss, count = self.loss_unit, self.next_trial, len({trial.epsilon for trial in self.trials})
        texts = [
            f"Epsilon was searched for: {exactly(self.epsilon)}{per} is the {extreme} of {count} tried "
            f"with which {self.goal.describe_success(self.trial.measure, unit)}."
        ]
        if miss is not None:
            texts.append(
                f"At {exactly(miss.epsilon)}{per} {self.goal.describe_miss(miss.measure, unit, self.kind)}."
            )
        if not self.is_finished:
            texts.append("NOT FINISHED: the search ended before the next epsilon was close.")
        return tuple(texts)

    @property
    def _alike(self) -> list[EpsilonTrial]:
        return [trial for trial in self.trials if trial.kind == self.kind]
