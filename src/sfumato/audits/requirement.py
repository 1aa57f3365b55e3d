"""Requirements such as ``epsilon <= 0.7/km``, compared with the results of an audit."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import Final

from ..core import Side, units
from ..core.immutable import CompactRepr
from ..errors import InputError, shell
from ..privacy import KINDS
from ..rounding import about, at_least, at_least_against, at_most_against
from .findings import Audit, Entry
from .measures import COORDINATE_PRIVACY, NEEDS
from .request import Request

_FORM: Final = re.compile(r"^(?P<request>[^<>=≤≥]*(?:\([^()]*\))?)\s*(?P<sign><=|>=|≤|≥)\s*(?P<bound>.+?)\s*$")
_AMOUNT: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*(?:%|(?:/|per\s)?\s*[^\W\d_]*)")
_METRIC_PRIVACY: Final = "metric-privacy"
_PER_DISTANCE: Final = frozenset(
    (
        *(kind.description.key for kind in KINDS if "metric" in kind.needs()),
        *(key for key, needs in NEEDS.items() if "metric" in needs),
    )
)
_TABLES: Final = frozenset(("family", "interventions", "curve", "kinds"))
_STATED_DISTANCES: Final = "distances that the file states and nothing confirms."
_TOLERANCE: Final = 1e-6  # of the value: bounds that are farther apart are both stated
_HINT: Final = (
    'write it as "epsilon <= 0.7/km", "epsilon(delta=1e-6) <= 1", "renyi-privacy(order=8) <= 1" or '
    '"error >= 500 m".'
)


class Outcome(enum.Enum):
    """Verdict of an audit on a requirement; the value is the message."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "is not decided"


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(CompactRepr):
    """A requirement's outcome.

    Attributes:
        outcome: Whether it holds, fails, or is not decided.
        entry: The entry of the audit that decides it.
    """

    requirement: Requirement
    outcome: Outcome
    entry: Entry
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Requirement(CompactRepr):
    """A bound on a notion's or measure's value.

    Attributes:
        text: As it was written.
        request: The name, with what is fixed.
        at_most: Whether the bound is an upper one.
        bound: The bound as text, such as ``"0.7/km"``.
    """

    text: str
    request: Request
    at_most: bool
    bound: str

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement in a text; refuse other forms."""
        match = _FORM.match(text)
        if match is None or not match["request"].strip():
            raise InputError(f"{text!r} is not a valid requirement.", _HINT)
        bound = match["bound"]
        if _AMOUNT.fullmatch(bound) is None:
            raise InputError(f"the bound {bound!r} in {text!r} is not a number.", _HINT)
        request = Request.parse(match["request"])
        if request.name == "epsilon" and _is_rate(bound):
            request = Request(_METRIC_PRIVACY, request.options)
        return cls(text.strip(), request, match["sign"] in ("<=", "≤"), bound)

    @property
    def needs_table(self) -> bool:
        """Whether it cannot be measured without an input that no file holds, such as a family."""
        name = self.request.name
        needs = [kind.needs() for kind in KINDS if name in (kind.description.key, kind.parameter)]
        return all(not _TABLES.isdisjoint(inputs) for inputs in needs or [NEEDS.get(name, ())])

    def hold_against(self, audit: Audit, *, is_stated: bool = False) -> Verdict:
        """Return whether the results of an audit satisfy the requirement.

        A bare ``epsilon`` per unit means metric privacy (of points, on a lattice), a pure one differential
        privacy. With ``is_stated`` the distances are those of a file that nothing confirms: values that depend on
        them then decide nothing. Raises `InputError` if the audit has no such entry, or the unit does not fit.
        """
        points = [entry for entry in audit.entries if entry.key == COORDINATE_PRIVACY]
        if points and self.request.name == _METRIC_PRIVACY and not self.request.options and _is_rate(self.bound):
            entry = points[0]  # the steps of a lattice have no unit: a rate is about points
        else:
            entry = audit.find(self.request.name, **self.request.options)
        bound, bracket = self._value(entry), entry.bracket
        limit, outcome = _quantity(bound, entry), Outcome.UNDECIDED
        meets, breaks = (Side.AT_MOST, Side.AT_LEAST) if self.at_most else (Side.AT_LEAST, Side.AT_MOST)
        if is_stated and entry.key in _PER_DISTANCE:
            reason = f"{entry.parameter} counts in {_STATED_DISTANCES}"
        elif entry.vacuous:
            reason = entry.sentence
        elif bracket.upper <= bound if self.at_most else bracket.lower >= bound:
            outcome, reason = Outcome.HOLDS, f"{entry.parameter} is {_bound(entry, meets, bound)}."
        elif bracket.lower > bound if self.at_most else bracket.upper < bound:
            where = f", attained by {entry.witness}" if entry.witness else ""
            outcome, reason = Outcome.FAILS, f"{entry.parameter} is {_bound(entry, breaks, bound)}{where}."
        elif entry.failure and not bracket.knows(meets):
            reason = f"nothing seen contradicts {limit}, but samples cannot prove it"
            reason += f" ({entry.parameter} is {_bound(entry, breaks, bound)})." if bracket.knows(breaks) else "."
        elif not bracket.knows(meets):
            reason = f"{entry.parameter} is about {_quantity(bracket.value, entry)}: an estimate proves nothing."
        elif bracket.width > _TOLERANCE * abs(bracket.value):
            low, high = (_bound(entry, side, bound) for side in (Side.AT_LEAST, Side.AT_MOST))
            reason = f"{entry.parameter} is {low} and {high}."
        else:
            reason = f"{limit} lies within the rounding of the value, {_quantity(bracket.value, entry)}."
        return Verdict(self, outcome, entry, reason)

    def _value(self, entry: Entry) -> float:
        text = self.bound
        if "/" in text and not entry.per:
            raise InputError(
                f"{self.text!r} is per unit, but {entry.title.lower()} was measured without one.",
                "give the distances their unit",
                shell("name it with --unit, such as --unit year"),
                "leave the unit out of the bound.",
            )
        if text.endswith("%") and not entry.unit:
            return units.parse(text[:-1].strip(), unit="", subject=self.request.name) / 100
        return units.parse(text, per=entry.per, unit=entry.unit, subject=self.request.name)


def _is_rate(bound: str) -> bool:
    return "/" in bound or "per " in bound


def _bound(entry: Entry, side: Side, limit: float) -> str:
    write = {Side.AT_MOST: at_most_against, Side.AT_LEAST: at_least_against}[side]
    number = write(entry.bracket.at(side), limit)
    certain = f" with confidence {at_least(1 - entry.failure)}" if entry.failure else ""
    slack = f", with {entry.slack} of slack" if entry.slack else ""
    return f"{side.value} {number}{_unit(entry)}{certain}{slack}"


def _quantity(value: float, entry: Entry) -> str:
    return f"{about(value)}{_unit(entry)}"


def _unit(entry: Entry) -> str:
    return f"/{entry.unit}" if entry.per and entry.unit else f" {entry.unit}" if entry.unit else ""
