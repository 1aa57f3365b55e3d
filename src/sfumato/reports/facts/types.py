"""Facts of a mechanism file: every number and name that sentences, pages and JSON state."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, Final, NamedTuple, Self

from ...audits import Outcome
from ...core import Bracket
from ...core.immutable import CompactRepr

_OPTIONAL: Final = ("tuples", "radius", "report_error", "budget")  # left out of JSON where there are none


class Evidence(enum.Enum):
    """Ways in which a number is known; the value is the word for it."""

    PROVED = "proved"
    ESTIMATED = "estimated"
    STATED = "stated by the file"


@dataclass(frozen=True, slots=True, repr=False)
class Quantity(CompactRepr):
    """A number between two bounds."""

    lower: float | None  # the true number is at least this; None where no bound is known
    value: float  # the best estimate, or the known bound
    upper: float | None  # the true number is at most this; None where no bound is known
    unit: str = ""  # empty for a pure number; a rate begins with a slash: "/km"
    known: Evidence = Evidence.PROVED
    confidence: float | None = None  # of the bounds of a simulation; None where they are certain

    @classmethod
    def exact(cls, value: float, unit: str = "", known: Evidence = Evidence.PROVED) -> Self:
        """Return a number that is known exactly."""
        return cls(value, value, value, unit, known)

    @classmethod
    def at_most(cls, upper: float, unit: str = "", known: Evidence = Evidence.PROVED) -> Self:
        """Return a number of which an upper bound is known."""
        return cls(None, upper, upper, unit, known)

    @classmethod
    def at_least(cls, lower: float, unit: str = "", known: Evidence = Evidence.PROVED) -> Self:
        """Return a number of which a lower bound is known."""
        return cls(lower, lower, None, unit, known)

    @classmethod
    def about(cls, value: float, unit: str = "") -> Self:
        """Return an estimate without bounds."""
        return cls(None, value, None, unit, Evidence.ESTIMATED)

    @classmethod
    def of(cls, bracket: Bracket, unit: str = "", known: Evidence = Evidence.PROVED) -> Self:
        """Return the number of a bracket."""
        return cls(bracket.lower, bracket.value, bracket.upper, unit, known)

    @property
    def high(self) -> float:
        """The upper bound; the value where there is none."""
        return self.value if self.upper is None else self.upper

    @property
    def low(self) -> float:
        """The lower bound; the value where there is none."""
        return self.value if self.lower is None else self.lower

    def as_dict(self) -> dict[str, Any]:
        """Return the number as JSON has it; infinities are text."""
        content = {
            "lower": _json(self.lower),
            "value": _json(self.value),
            "upper": _json(self.upper),
            "unit": self.unit,
            "known": self.known.value,
        }
        return content if self.confidence is None else {**content, "confidence": self.confidence}


def _json(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


class SubjectFacts(NamedTuple):
    """The subject of a mechanism: how many secrets and reports there are, and where or which they are."""

    kind: str  # points, cells, noise, ranges, numbers or categories
    secrets: int  # 0 for noise
    reports: int  # 0 for noise
    unused: int  # reports that are never made
    impossible: int  # secrets of probability 0 under the prior
    region: tuple[float, ...]  # south, west, north, east in degrees; empty where secrets are no places
    size: tuple[float, ...]  # width and height, metres
    first: str
    last: str
    unit: str
    chosen_reports: bool = False  # whether reports are at places chosen from data
    circle: Quantity | None = None  # the length of the circle that numbers are on


class BeliefFacts(NamedTuple):
    """The meaning of a guarantee for two secrets at a distance, thought equally likely, after some reports."""

    distance: Quantity  # 0 stands for any two
    reports: int
    factor: Quantity  # the largest factor between the probabilities of what is seen
    belief: Quantity  # the largest probability of either secret afterwards


class FormalFacts(NamedTuple):
    """Facts of a guarantee that only its formal statement needs."""

    secrets: int = 0
    pairs: int = 0  # ordered, at a finite distance
    reports: int = 0
    slack_m: float = 0.0  # added to a distance by snapping
    claimed_slack_m: float = 0.0  # the slack that a guarantee of noise names
    reach_m: float = math.inf  # of noise, from the centre of its plane
    guesses: int = 0  # points that the attacker may guess, where they are listed
    places: int = 0  # distinct places of the visits that the attacker knows
    circle: str = ""  # in words


class FamilyFacts(NamedTuple):
    """Distributions of the secret that must look alike, and the best guess of which one a secret is from."""

    text: str
    members: int  # distributions
    pairs: int  # ordered, that the guarantee is for
    delta: float
    sides: tuple[str, str]  # words for the two of a pair
    far: str  # a sentence on pairs at an infinite distance
    success: Quantity  # of the best guess from one report, where all distributions are equally likely before


class PromiseFacts(NamedTuple):
    """A guarantee of the file, and what is proved of it."""

    kind: str  # points, cells, values, near, nothing, error or family
    holds: bool  # whether it is proved, and not only for distances that the file states for coordinates
    for_stated: bool  # whether it is proved for such distances alone
    claimed: Quantity  # an epsilon or an error
    proved: Quantity  # stated where its distances are
    metric: str
    distances: str  # the value of a DistanceSource
    unit: str  # of distances; for an error its own
    near: Quantity | None = None  # the largest distance of near secrets
    visits: int = 0  # that the attacker knows, of an error; 0 where they know the prior
    unprotected: int = 0  # ordered pairs at an infinite distance, which have no guarantee
    beliefs: tuple[BeliefFacts, ...] = ()
    formal: FormalFacts = FormalFacts()
    family: FamilyFacts | None = None
    symmetric: bool = True  # whether distances are the same in both directions; else beliefs are by the longer one
    error: str = ""  # the distance of an error from the true point: euclidean or manhattan

    @property
    def rates_secrets(self) -> bool:
        """Whether it is an epsilon between secrets."""
        return self.kind not in ("error", "nothing", "family")

    @property
    def is_proved(self) -> bool:
        """Whether it is proved, perhaps only for the distances that the file states."""
        return self.holds or self.for_stated


class ConstraintFacts(NamedTuple):
    """A linear constraint of the file: the limit of its sum, and a proved upper bound of the sum."""

    name: str
    claimed: Quantity
    proved: Quantity
    holds: bool


class CostFacts(NamedTuple):
    """The cost of reports, and how near it is to the least."""

    kind: str  # true point, hamming, centres, loss or unknown
    name: str
    expected: Quantity | None = None  # under the prior, or over visits
    worst: Quantity | None = None  # at the worst secret; None for a mean over points
    best: Quantity | None = None  # a bound of the covered mechanisms: lower of a loss, upper of an error
    objective: str = ""  # of the bound: expected, worst-case, distortion or ""
    reached: Quantity | None = None  # by this mechanism
    checked: bool = True  # whether the loss follows from the file's own places and labels
    free_reports: bool = False  # whether the bound is for reports anywhere on the plane, and
    all_secrets: bool = False  # whether it is for any secrets as well
    error: str = ""  # the distance of the attacker's error from the true point: euclidean or manhattan


class AttackFacts(NamedTuple):
    """The success of one kind of attacker."""

    who: str  # blind (no report), bare (sees the secret), informed (prior), misinformed (even prior), repeated
    reports: int
    what: str  # the goal: point, vertex, cell or value
    hit: Quantity | None
    error: Quantity | None
    draws: int = 0  # simulated cases; 0 where nothing is simulated


class InformationFacts(NamedTuple):
    """An upper bound of the bits that one report reveals on average, and the entropy of the prior in bits."""

    bits: float
    entropy: float


class ErrorFacts(NamedTuple):
    """The error of most reports, and the secret with the largest average loss."""

    likely: Quantity | None  # a loss that the share of reports does not exceed, under the prior
    share: float
    worst: Quantity | None  # the largest average loss of one secret
    label: str  # of that secret
    latlon: tuple[float, ...]  # its middle, degrees; empty where secrets are no places


class BudgetFacts(NamedTuple):
    """The limits and the spending of a ledger."""

    limits: tuple[str, ...]  # of each user, such as 5/km per day
    users: int  # charged so far
    reports: int
    most: str  # the largest sum of one user
    sound: bool  # whether the record was verified
    head: str  # the end of the record


class TupleFacts(NamedTuple):
    """Proofs, loss and attackers of reports that are sent among dummies."""

    queries: int
    proofs: tuple[str, ...]  # of the guarantees of a tuple, in sentences
    holds: bool  # whether all of these are proved
    best: Quantity | None  # the average loss of the best of the answers
    single: Quantity | None  # that of a single report
    attacks: tuple[AttackFacts, ...]  # on tuples, computed and not proved; none where they are too many to list


class RadiusFacts(NamedTuple):
    """The radius that holds 95 % of the reports of any true point."""

    length: Quantity
    near_table: bool  # whether it is for the area of a noise's table only


class RiskFacts(NamedTuple):
    """The chance that an attacker's guess is near the secret, and the limit that it is compared with."""

    text: str  # the requirement as it was written; "" for the line that is always there
    radius: Quantity  # 0 for the secret itself
    shown: str  # the radius as it was written
    chance: Quantity | None  # None where it is not known
    limit: Quantity | None  # None where nothing is required
    outcome: Outcome | None
    why: str  # why the chance is not known: visits, table, size, prior or ""
    of: str  # whose places: visits, file or prior
    blind: Quantity | None = None  # without any report


class RequirementFacts(NamedTuple):
    """A requirement on what an audit measures, its outcome, and the reason in a sentence."""

    text: str
    outcome: Outcome
    reason: str


class NotionFacts(NamedTuple):
    """One notion or measure, as an audit measured it."""

    key: str  # in the atlas
    title: str
    parameter: str
    number: Quantity
    side: str
    shown: str
    sentence: str
    witness: str
    source: str


class FrontierFacts(NamedTuple):
    """A design among those with other epsilons; the lower bound of its loss is about all such designs."""

    epsilon: Quantity
    loss: Quantity
    this: bool
    objective: str  # expected, worst-case, or "" where a table does not say


class PriorFacts(NamedTuple):
    """The prior: where it comes from, and what else the file holds of places."""

    held: bool
    source: str
    entropy: Quantity | None
    places: int  # of the visits that the file holds
    visits: int
    table: bool  # whether the file holds a table that was made of visits
    even: bool = False


class FileFacts(NamedTuple):
    """The file, and how its report was made."""

    name: str  # "" where there is none
    sha256: str
    bytes: int
    mark: str  # the fingerprint of its mechanism, which tables of its reports bear
    version: str
    written: str  # ISO 8601 with the time zone
    command: str  # that writes the report again
    script: str  # in Python, that does the same
    claims: tuple[str, ...]  # names of what its writer says besides the content that is checked
    stated: tuple[str, ...]  # what nothing here can confirm
    solver: str = ""  # as its writer states
    why: str = ""  # the reason for the epsilon, as the author of the report states

    @property
    def day(self) -> date:
        """The day of writing."""
        return datetime.fromisoformat(self.written).date()


@dataclass(frozen=True, slots=True, repr=False)
class ReportFacts(CompactRepr):
    """All facts of a report."""

    subject: SubjectFacts
    promises: tuple[PromiseFacts, ...]
    constraints: tuple[ConstraintFacts, ...]
    cost: CostFacts
    attacks: tuple[AttackFacts, ...]
    attacks_left_out: str  # why several reports were not simulated: prior, visits, unsaid, table, size or ""
    risks: tuple[RiskFacts, ...]
    requirements: tuple[RequirementFacts, ...]
    frontier: tuple[FrontierFacts, ...]
    frontier_source: str  # computed, the name of a file, or ""
    frontier_left_out: str
    notions: tuple[NotionFacts, ...]
    notes: tuple[str, ...]
    prior: PriorFacts
    file: FileFacts
    remarks: tuple[str, ...]
    visits: int = 0  # that were given
    outside: int = 0  # of these, not served
    tuples: TupleFacts | None = None
    radius: RadiusFacts | None = None  # None where none is bounded
    report_error: ErrorFacts | None = None
    budget: BudgetFacts | None = None

    @property
    def outcomes(self) -> tuple[tuple[str, Outcome], ...]:
        """The requirements as they were written, and whether each holds."""
        risks = ((risk.text, risk.outcome) for risk in self.risks if risk.outcome is not None)
        return (*risks, *((requirement.text, requirement.outcome) for requirement in self.requirements))

    @property
    def holds(self) -> bool:
        """Whether every guarantee and constraint of the file is proved."""
        return all_hold((*self.promises, *self.constraints)) and (self.tuples is None or self.tuples.holds)

    @property
    def fails(self) -> bool:
        """Whether a constraint is not proved, or a guarantee, not even for the distances that the file states."""
        unproved = any(not promise.is_proved for promise in self.promises)
        return unproved or not all_hold(self.constraints) or (self.tuples is not None and not self.tuples.holds)


def all_hold(facts: tuple[PromiseFacts | ConstraintFacts, ...]) -> bool:
    """Return whether all of these are proved."""
    return all(fact.holds for fact in facts)


def as_json(facts: object) -> Any:
    """Return facts as JSON has them."""
    if isinstance(facts, Quantity):
        return facts.as_dict()
    if isinstance(facts, enum.Enum):
        return facts.value
    if isinstance(facts, ReportFacts):
        content = {field.name: as_json(getattr(facts, field.name)) for field in fields(facts)}
        return {name: value for name, value in content.items() if value is not None or name not in _OPTIONAL}
    if isinstance(facts, tuple):
        listed, names = [as_json(fact) for fact in facts], getattr(facts, "_fields", None)
        if names is None:
            return listed
        pairs = zip(names, listed, strict=True)
        return {name: value for name, value in pairs if value is not None or name != "family"}
    return facts
