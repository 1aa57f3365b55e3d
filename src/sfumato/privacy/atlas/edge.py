"""Edges of the atlas: implications between two notions, and maps of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from ...core.immutable import CompactRepr
from ..relation import Relation
from ..vocabulary import VOCABULARY
from .claims import Claim, InfiniteNumberError, covers


class Basis(Enum):
    """The origin of an implication; the value is its name in words."""

    PROVED = "proved here"
    PUBLISHED = "published"
    DEFINITION = "by the definitions"


class Tightness(Enum):
    """Whether a smaller value would be false; the value is the answer in words."""

    TIGHT = "attained, or approached, by a mechanism"
    LOOSE = "a smaller value is known to be true"
    OPEN = "not known to be the least"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why an implication does not apply to a claim, as a clause: "delta = 0 is needed"."""

    missing: str


@dataclass(frozen=True, slots=True, repr=False)
class Goal(CompactRepr):
    """The notion at the end of a chain, and some of its numbers and its context, by name."""

    notion: str
    given: Mapping[str, object]

    def number(self, name: str) -> float | None:
        """Return a given number, or None."""
        value = self.given.get(name)
        return float(value) if isinstance(value, int | float) else None

    def context(self, name: str) -> object:
        """Return a given part of the context, or None."""
        return self.given.get(name)

    def speaks_of(self, name: str) -> bool:
        """Return whether the notion has such a part of the context, or such a number."""
        word = VOCABULARY[self.notion]
        return name in word.context or name in word.numbers


Changes = Mapping[str, object] | Refusal
"""The parameters of the implied claim that differ from those of the same name, or why there is none."""

Map = Callable[[Claim, Goal], Changes]


@dataclass(frozen=True, slots=True, repr=False)
class Edge(CompactRepr):
    """One implication: a claim of one notion gives a claim of another.

    Attributes:
        name: Its name, and the heading of its proof.
        start: The key of the notion that implies.
        end: The key of the implied notion.
        map: From a claim and a goal to the changes; other parameters that both notions have stay.
        rule: How the numbers change.
        witness: A mechanism that attains it, or what is known instead.
        source: Paper and statement.
        basis: Whether it is proved here, published, or a definition.
        tightness: Whether a smaller value would be false.
        needs: Its conditions; empty if there are none.
        checks: Checks before the map; each returns its reason to refuse a claim, or "".
    """

    name: str
    start: str
    end: str
    map: Map
    rule: str
    witness: str
    source: str
    basis: Basis
    tightness: Tightness = Tightness.TIGHT
    needs: str = ""
    checks: tuple[Callable[[Claim], str], ...] = ()

    def follow(self, claim: Claim, goal: Goal) -> Claim | Refusal:
        """Return the implied claim, or why there is none, also where a number exceeds all floats."""
        for check in self.checks:
            if missing := check(claim):
                return Refusal(missing)
        try:
            changes = self.map(claim, goal)
            if isinstance(changes, Refusal):
                return changes
            held = {**claim.numbers, **claim.context}
            same = {name: held[name] for name in Claim.names(self.end) if name in held}
            return Claim(self.end, **{**same, **changes})
        except InfiniteNumberError:
            return Refusal("smaller numbers are needed: what follows is larger than any float")

    @property
    def proof(self) -> str:
        """Path of the proof, with its heading."""
        return f"docs/proofs/atlas.md#{self.name}"

    @property
    def sentence(self) -> str:
        """The implication in one sentence."""
        needs = f" if {self.needs}" if self.needs else ""
        start, end = VOCABULARY[self.start].title, VOCABULARY[self.end].title
        return f"{start} gives {end}{needs}: {self.rule} ({self.source})."


def same(_claim: Claim, _goal: Goal) -> Changes:
    """Return no changes."""
    return {}


def rename(old: str, new: str) -> Map:
    """Return the map that renames a number or a part of the context."""
    return lambda claim, _goal: {new: {**claim.numbers, **claim.context}[old]}


def take(*names: str) -> Map:
    """Return the map that takes parts of the context from the goal."""
    return lambda _claim, goal: {name: goal.context(name) for name in names}


def number(name: str, value: Callable[[Claim], float]) -> Map:
    """Return the map that computes one number from a claim."""
    return lambda claim, _goal: {name: value(claim)}


def pure(claim: Claim) -> str:
    """Return why a claim with delta above 0 is refused, or ""."""
    return f"delta = 0 is needed, but delta is {claim['delta']:g}" if claim.numbers.get("delta", 0.0) > 0 else ""


def symmetric(claim: Claim) -> str:
    """Return why a claim about pairs in one order is refused, or ""."""
    relation = claim.context.get("relation")
    one_way = isinstance(relation, Relation) and not relation.symmetric
    return "a relation of pairs in both orders is needed" if one_way else ""


def everywhere(claim: Claim) -> str:
    """Return why a claim about some pairs of secrets is refused, or ""."""
    whole = covers("relation", claim.context["relation"], None)
    return "" if whole else "a claim about all pairs of secrets is needed"


def lifted(claim: Claim) -> str:
    """Return why a claim about a family instead of a lifted relation is refused, or ""."""
    whole = claim.context.get("family") is None
    return "" if whole else "a claim about all distributions that couplings join is needed, not about one family"
