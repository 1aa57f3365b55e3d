"""The facts of a report: all that its sentences say, as numbers and names."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Self, final

from ...audits import Outcome
from ...core import Bracket
from ...core.immutable import CompactRepr


class Known(enum.Enum):
    """Ways in which a number is known; the value is the word for it."""

    PROVED = "proved"
    ESTIMATED = "estimated"
    STATED = "stated by the file"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Quantity(CompactRepr):
    """A number between two bounds.

    Attributes:
        lower: The true number is at least this; None where nothing is known.
        value: The best estimate, or the bound that is known.
        upper: The true number is at most this; None where nothing is known, infinite where the number is.
        unit: Its unit; empty for a pure number. A rate has a slash in front: ``"/km"``.
        known: How it is known.
        confidence: The probability that the bounds hold, where they come from a simulation; None where they are
            certain.
    """

    lower: float | None
    value: float
    upper: float | None
    unit: str = ""
    known: Known = Known.PROVED
    confidence: float | None = None

    @classmethod
    def exact(cls, value: float, unit: str = "", known: Known = Known.PROVED) -> Self:
        """Return a number that is known exactly."""
        return cls(value, value, value, unit, known)

    @classmethod
    def at_most(cls, upper: float, unit: str = "", known: Known = Known.PROVED) -> Self:
        """Return a number of which an upper bound is known."""
        return cls(None, upper, upper, unit, known)

    @classmethod
    def at_least(cls, lower: float, unit: str = "", known: Known = Known.PROVED) -> Self:
        """Return a number of which a lower bound is known."""
        return cls(lower, lower, None, unit, known)

    @classmethod
    def about(cls, value: float, unit: str = "") -> Self:
        """Return an estimate without bounds."""
        return cls(None, value, None, unit, Known.ESTIMATED)

    @classmethod
    def of(
        cls, bracket: Bracket, unit: str = "", known: Known = Known.PROVED, confidence: float | None = None
    ) -> Self:
        """Return the number of a bracket."""
        return cls(bracket.lower, bracket.value, bracket.upper, unit, known, confidence)

    def as_dict(self) -> dict[str, Any]:
        """Return the number as JSON has it; infinities are text."""
        found = {
            "lower": _json(self.lower),
            "value": _json(self.value),
            "upper": _json(self.upper),
            "unit": self.unit,
            "known": self.known.value,
        }
        return found if self.confidence is None else {**found, "confidence": self.confidence}


def _json(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


@final
@dataclass(frozen=True, slots=True, repr=False)
class SubjectFacts(CompactRepr):
    """The subject: what is protected.

    Attributes:
        kind: ``points``, ``cells``, ``noise``, ``ranges``, ``numbers`` or ``categories``.
        secrets: How many secrets there are; 0 for noise.
        reports: How many different reports there are; 0 for noise.
        unused: How many of these are never made.
        impossible: How many secrets have the probability zero under the prior.
        region: South, west, north, east in degrees; empty where secrets are no places.
        size: Width and height of the region, metres.
        first: The first of the secrets that are values, as text.
        last: The last of them.
        unit: The unit of numbers.
        chosen_reports: Whether reports are at places chosen from data, not at vertices or the centres of cells.
        circle: The length of the circle that numbers are on, in their unit; None where they are on none.
    """

    kind: str
    secrets: int
    reports: int
    unused: int
    impossible: int
    region: tuple[float, ...]
    size: tuple[float, ...]
    first: str
    last: str
    unit: str
    chosen_reports: bool = False
    circle: Quantity | None = None


@final
@dataclass(frozen=True, slots=True, repr=False)
class BeliefFacts(CompactRepr):
    """The meaning of a promise for two secrets at a distance.

    Attributes:
        distance: How far apart they are; 0 stands for any two.
        reports: How many fresh reports are seen.
        factor: How many times likelier a report may be from one than from the other.
        belief: What somebody believes afterwards who thought both equally likely, as a probability.
    """

    distance: Quantity
    reports: int
    factor: Quantity
    belief: Quantity


@final
@dataclass(frozen=True, slots=True, repr=False)
class PromiseFacts(CompactRepr):
    """A promise of the file, and what is proved of it.

    Attributes:
        kind: ``points``, ``vertices``, ``cells``, ``values``, ``near``, ``nothing`` or ``error``.
        holds: Whether it is proved, anew, and not only for distances that the file states for places or numbers.
        for_stated: Whether it is proved for such distances, which nothing confirms.
        claimed: What the file promises: an epsilon, or an error.
        proved: What is proved of it, anew; stated by the file where its distances are.
        metric: The name of the distance that epsilon counts per.
        distances: Where the distances come from: ``confirmed`` by the file's secrets, ``to reports`` (the same,
            but an attacker guesses one of these), ``stated for labels`` or ``stated and not confirmed``.
        unit: The unit of distances; for ``error`` that of the error.
        near: Of ``near``: the largest distance of near secrets.
        visits: Of ``error``: how many visits the attacker knows; 0 where they know the prior.
        unprotected: How many ordered pairs of secrets are at an infinite distance, of which nothing is promised.
        beliefs: What it means, for some distances and numbers of reports.
        formal: The promise and its proof in the words of mathematics.
    """

    kind: str
    holds: bool
    for_stated: bool
    claimed: Quantity
    proved: Quantity
    metric: str
    distances: str
    unit: str
    near: Quantity | None
    visits: int
    unprotected: int
    beliefs: tuple[BeliefFacts, ...]
    formal: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, repr=False)
class ConstraintFacts(CompactRepr):
    """A linear constraint of the file, and what is proved of it.

    Attributes:
        name: What the file calls it.
        claimed: The limit of its sum that the file states.
        proved: An upper bound of the sum, proved anew.
        holds: Whether the limit is proved.
    """

    name: str
    claimed: Quantity
    proved: Quantity
    holds: bool


@final
@dataclass(frozen=True, slots=True, repr=False)
class CostFacts(CompactRepr):
    """The cost of reports.

    Attributes:
        kind: ``true point``, ``hamming``, ``centres``, ``loss`` or ``unknown``.
        name: What the loss is called.
        expected: Its mean under the prior, or over visits.
        worst: Its mean at the worst secret; None for a mean over points.
        best: What no mechanism that keeps the promise goes below (or, of an error, above); None if not proved.
        objective: What ``best`` is about: ``expected``, ``worst-case``, ``distortion`` or "".
        reached: What this mechanism reaches of the same.
        checked: Whether the loss is computed from the file's own places and labels.
    """

    kind: str
    name: str
    expected: Quantity | None
    worst: Quantity | None
    best: Quantity | None
    objective: str
    reached: Quantity | None
    checked: bool


@final
@dataclass(frozen=True, slots=True, repr=False)
class AttackFacts(CompactRepr):
    """The success of one kind of attacker.

    Attributes:
        who: ``blind`` (sees no report), ``bare`` (sees the secret itself), ``informed`` (knows the prior),
            ``misinformed`` (believes all secrets equally likely), or ``repeated`` (knows the prior, and sees
            several fresh reports of one secret).
        reports: How many reports they see.
        what: What they look for: ``point``, ``vertex``, ``cell`` or ``value``.
        hit: How often they find it.
        error: How far they err on average.
        draws: In how many simulated cases; 0 where nothing is simulated.
    """

    who: str
    reports: int
    what: str
    hit: Quantity | None
    error: Quantity | None
    draws: int


@final
@dataclass(frozen=True, slots=True, repr=False)
class RiskFacts(CompactRepr):
    """The chance that an attacker's guess is near the secret.

    Attributes:
        text: The requirement as it was written; "" for the line that is always there.
        radius: How near; 0 for the secret itself.
        shown: The radius as it was written.
        chance: How often the best guess is so near; None where it is not known.
        limit: How often it may be; None where nothing is required.
        outcome: Whether that holds; None where nothing is required.
        why: Why nothing is known, where nothing is: ``visits`` (where people were is not said), ``table``
            (the noise has none), ``size``, ``prior`` or "".
        of: Whose places: ``visits``, ``file`` or ``prior``.
        blind: How often the best guess without any report is so near; None where that is not known.
    """

    text: str
    radius: Quantity
    shown: str
    chance: Quantity | None
    limit: Quantity | None
    outcome: Outcome | None
    why: str
    of: str
    blind: Quantity | None = None


@final
@dataclass(frozen=True, slots=True, repr=False)
class RequirementFacts(CompactRepr):
    """A requirement on what an audit found.

    Attributes:
        text: As it was written.
        outcome: Whether it holds.
        reason: Why, in a sentence.
    """

    text: str
    outcome: Outcome
    reason: str


@final
@dataclass(frozen=True, slots=True, repr=False)
class NotionFacts(CompactRepr):
    """One notion or measure, as an audit found it.

    Attributes:
        key: The notion's name in the atlas.
        title: Its name in texts.
        parameter: What the number is called.
        number: The number.
        side: The side that is stated, and how surely, in words.
        shown: The number as it is stated.
        sentence: What it means, in words.
        witness: What attains it.
        source: Paper and definition.
    """

    key: str
    title: str
    parameter: str
    number: Quantity
    side: str
    shown: str
    sentence: str
    witness: str
    source: str


@final
@dataclass(frozen=True, slots=True, repr=False)
class FrontierFacts(CompactRepr):
    """A design among those with other epsilons.

    Attributes:
        epsilon: What it promises.
        loss: What it loses, at most; the lower bound is what no such design with this epsilon goes below.
        this: Whether it is the design of this report.
        objective: ``expected`` or ``worst-case`` loss, or "" where the table of a sweep does not say.
    """

    epsilon: Quantity
    loss: Quantity
    this: bool
    objective: str


@final
@dataclass(frozen=True, slots=True, repr=False)
class PriorFacts(CompactRepr):
    """The prior: where it comes from, and what else the file holds of places.

    Attributes:
        held: Whether the file holds one.
        source: Where it comes from, in words; "" where that is not said.
        entropy: Its entropy.
        places: How many places of visits the file holds; 0 for none.
        visits: How many visits were at these.
        table: Whether the file holds a table that was made of visits.
        even: Whether it counts all alike.
    """

    held: bool
    source: str
    entropy: Quantity | None
    places: int
    visits: int
    table: bool
    even: bool = False


@final
@dataclass(frozen=True, slots=True, repr=False)
class FileFacts(CompactRepr):
    """The file, and how this report was made.

    Attributes:
        name: The name of the mechanism file; "" where there is none.
        sha256: The hash of its bytes; "" where there is none.
        bytes: How many bytes it has.
        mark: The fingerprint of its mechanism, which tables of its reports bear; "" where it was not asked for.
        version: The version of sfumato that wrote the report.
        written: When, in ISO 8601 with the time zone.
        command: The command that writes the report again; "" where it was written from Python.
        script: A script in Python that does the same.
        claims: The names of what else the file's writer says, which is not used here.
        stated: What the file states and nothing here can confirm, in words.
    """

    name: str
    sha256: str
    bytes: int
    mark: str
    version: str
    written: str
    command: str
    script: str
    claims: tuple[str, ...]
    stated: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True, repr=False)
class ReportFacts(CompactRepr):
    """All facts of a report.

    Attributes:
        subject: What is protected.
        promises: What is promised, and proved.
        constraints: The linear constraints that are kept besides.
        cost: What it costs.
        attacks: What attackers achieve.
        attacks_left_out: Why several reports were not simulated (``prior``, ``visits``, ``unsaid``, ``table`` or
            ``size``); "" where they were.
        risks: How often attackers are near.
        requirements: Whether what the audit found keeps what was required of it.
        frontier: The design among others; empty where that is not known.
        frontier_source: ``computed``, the name of a file, or "" where there is none.
        frontier_left_out: Why there is none; "" where there is one.
        notions: What an audit found.
        notes: What the audit says beside that.
        prior: Where the prior comes from.
        file: The file, and how to make this report again.
        remarks: Sentences on how the mechanism was made.
        visits: How many visits were given; 0 for none.
        outside: How many of them are not served, and counted nowhere.
    """

    subject: SubjectFacts
    promises: tuple[PromiseFacts, ...]
    constraints: tuple[ConstraintFacts, ...]
    cost: CostFacts
    attacks: tuple[AttackFacts, ...]
    attacks_left_out: str
    risks: tuple[RiskFacts, ...]
    requirements: tuple[RequirementFacts, ...]
    frontier: tuple[FrontierFacts, ...]
    frontier_source: str
    frontier_left_out: str
    notions: tuple[NotionFacts, ...]
    notes: tuple[str, ...]
    prior: PriorFacts
    file: FileFacts
    remarks: tuple[str, ...]
    visits: int = 0
    outside: int = 0

    @property
    def outcomes(self) -> tuple[tuple[str, Outcome], ...]:
        """The requirements as they were written, and whether each holds."""
        risks = ((each.text, each.outcome) for each in self.risks if each.outcome is not None)
        return (*risks, *((each.text, each.outcome) for each in self.requirements))

    @property
    def holds(self) -> bool:
        """Whether everything that the file promises is proved; a file that promises nothing keeps all of it."""
        return all(each.holds for each in self.promises) and all(each.holds for each in self.constraints)

    @property
    def broken(self) -> bool:
        """Whether a constraint is not proved, or a promise, not even for the distances that the file states."""
        unproved = any(not (each.holds or each.for_stated) for each in self.promises)
        return unproved or not all(each.holds for each in self.constraints)


def as_json(found: object) -> Any:
    """Return facts as JSON has them."""
    if isinstance(found, Quantity):
        return found.as_dict()
    if isinstance(found, enum.Enum):
        return found.value
    if is_dataclass(found):
        return {field.name: as_json(getattr(found, field.name)) for field in fields(found)}
    if isinstance(found, tuple):
        return [as_json(each) for each in found]
    return found
