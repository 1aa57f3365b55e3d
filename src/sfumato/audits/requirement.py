"""A requirement such as ``epsilon <= 0.7/km``, held against what an audit found."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import Final, final

from ..core import units
from ..errors import InputError
from ..rounding import at_least, at_most
from .findings import Audit, Entry
from .request import Request

_FORM: Final = re.compile(r"^(?P<request>[^<>=≤≥]*(?:\([^()]*\))?)\s*(?P<sign><=|>=|≤|≥)\s*(?P<bound>.+?)\s*$")
_AMOUNT: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*(?:%|(?:/|per\s)?\s*[^\W\d_]*)")
_HINT: Final = (
    'write it as "epsilon <= 0.7/km", "epsilon(delta=1e-6) <= 1", "renyi-privacy(order=8) <= 1" or '
    '"error >= 500 m".'
)


class Outcome(enum.Enum):
    """What an audit says of a requirement; the value is the message."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "is not decided"


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """A requirement's outcome, and why.

    Attributes:
        requirement: The requirement.
        outcome: Whether it holds, fails, or is not decided.
        entry: The entry of the audit that decides it.
        reason: Why, in a sentence.
    """

    requirement: Requirement
    outcome: Outcome
    entry: Entry
    reason: str


@final
@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound that a notion's or measure's value must keep.

    Attributes:
        text: As it was written.
        request: What is meant, by name, with what is held fixed.
        at_most: Whether the bound is an upper one.
        bound: The bound as text, such as ``"0.7/km"``.
    """

    text: str
    request: Request
    at_most: bool
    bound: str

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read a requirement.

        Raises:
            InputError: If it has another form.
        """
        match = _FORM.match(text)
        if match is None or not match["request"].strip():
            raise InputError(f"{text!r} is not a valid requirement.", _HINT)
        bound = match["bound"]
        if _AMOUNT.fullmatch(bound) is None:
            raise InputError(f"the bound {bound!r} in {text!r} is not a number.", _HINT)
        request = Request.parse(match["request"])
        if request.name == "epsilon" and ("/" in bound or "per " in bound):
            request = Request("metric-privacy", request.given)
        return cls(text.strip(), request, match["sign"] in ("<=", "≤"), bound)

    def hold_against(self, audit: Audit) -> Verdict:
        """Return whether what the audit found keeps the requirement.

        A bare ``epsilon`` per unit means metric privacy, a pure one differential privacy.

        Raises:
            InputError: If the audit has no such entry, or the unit does not fit.
        """
        entry = audit.find(self.request.name, **self.request.given)
        bound = self._value(entry)
        shown = _quantity(bound, entry)
        if self.at_most:
            kept, broken = entry.upper, entry.lower
            holds = kept is not None and kept <= bound
            fails = broken is not None and broken > bound
        else:
            kept, broken = entry.lower, entry.upper
            holds = kept is not None and kept >= bound
            fails = broken is not None and broken < bound
        if holds:
            reason = f"{entry.parameter} is {_side(entry, upper=self.at_most)}."
            return Verdict(self, Outcome.HOLDS, entry, reason)
        if fails:
            where = f", attained by {entry.witness}" if entry.witness else ""
            reason = f"{entry.parameter} is {_side(entry, upper=not self.at_most)}{where}."
            return Verdict(self, Outcome.FAILS, entry, reason)
        if kept is None:
            reason = f"nothing seen contradicts {shown}, but samples cannot prove it"
            reason += (
                f" ({entry.parameter} is {_side(entry, upper=not self.at_most)})." if broken is not None else "."
            )
        else:
            reason = f"{shown} lies within the rounding of the value, {_quantity(entry.value, entry)}."
        return Verdict(self, Outcome.UNDECIDED, entry, reason)

    def _value(self, entry: Entry) -> float:
        text = self.bound
        if "/" in text and not entry.per:
            raise InputError(
                f"{self.text!r} is per unit, but {entry.title.lower()} was measured without one.",
                "give the distances their unit, or leave it out of the bound.",
            )
        if text.endswith("%") and not entry.unit:
            return units.parse(text[:-1].strip(), unit="", what=self.request.name) / 100
        return units.parse(text, per=entry.per, unit=entry.unit, what=self.request.name)


def _side(entry: Entry, *, upper: bool) -> str:
    value = entry.upper if upper else entry.lower
    number = (at_most if upper else at_least)(entry.value if value is None else value, 6)
    word = "at most" if upper else "at least"
    certain = f" with confidence {at_least(1 - entry.failure)}" if entry.failure else ""
    return f"{word} {number}{_unit(entry)}{certain}"


def _quantity(value: float, entry: Entry) -> str:
    return f"{value:.6g}{_unit(entry)}"


def _unit(entry: Entry) -> str:
    return f"/{entry.unit}" if entry.per and entry.unit else f" {entry.unit}" if entry.unit else ""
