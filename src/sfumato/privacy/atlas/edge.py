"""Edges of the atlas: implications between two notions, and the decorator that makes one of a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from ...core.frozen import Short
from ..relation import Relation
from ..vocabulary import VOCABULARY
from .claims import Claim, InfiniteNumberError
from .contexts import covers


class Basis(Enum):
    """The origin of an implication; the value says it in words."""

    PROVED = "proved here"
    PUBLISHED = "published"
    DEFINITION = "by the definitions"


class Tightness(Enum):
    """Whether a smaller value would be false; the value says it in words."""

    TIGHT = "attained, or approached, by a mechanism"
    LOOSE = "a smaller value is known to be true"
    OPEN = "not known to be the least"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why an implication says nothing of a claim.

    Attributes:
        missing: What was needed, as a clause: "delta = 0 is needed".
    """

    missing: str


@dataclass(frozen=True, slots=True, repr=False)
class Goal(Short):
    """The notion that a chain should end at, and what was said about it.

    Attributes:
        notion: Its key.
        given: Some of its numbers and its context, by name.
    """

    notion: str
    given: Mapping[str, object]

    def number(self, name: str) -> float | None:
        """Return a number that was given."""
        value = self.given.get(name)
        return float(value) if isinstance(value, int | float) else None

    def context(self, name: str) -> object:
        """Return a part of the context that was given, or None."""
        return self.given.get(name)

    def speaks_of(self, name: str) -> bool:
        """Return whether the notion has such a part of the context, or such a number."""
        word = VOCABULARY[self.notion]
        return name in word.context or name in word.numbers


@dataclass(frozen=True, slots=True, repr=False)
class Edge(Short):
    """One implication: a claim of one notion gives a claim of another.

    Attributes:
        name: Its name, which is also the heading of its proof.
        start: The key of the notion that implies.
        end: The key of the notion that is implied.
        rule: How the numbers change.
        needs: Under which conditions; empty if under all.
        tightness: Whether a smaller value would be false.
        witness: What attains it, or what is known instead.
        source: Paper and statement.
        basis: Where it is known from.
        apply: From a claim and a goal to the implied claim, or why there is none.
    """

    name: str
    start: str
    end: str
    rule: str
    needs: str
    tightness: Tightness
    witness: str
    source: str
    basis: Basis
    apply: Callable[[Claim, Goal], Claim | Refusal]

    def follow(self, claim: Claim, goal: Goal) -> Claim | Refusal:
        """Return what a claim gives, or why it gives nothing: also where a number grows beyond all floats."""
        try:
            return self.apply(claim, goal)
        except InfiniteNumberError:
            return Refusal("smaller numbers are needed: what follows is larger than any float")

    @property
    def proof(self) -> str:
        """Place of the proof, with its heading."""
        return f"docs/proofs/atlas.md#{self.name}"

    @property
    def sentence(self) -> str:
        """The implication in one sentence."""
        needs = f" if {self.needs}" if self.needs else ""
        start, end = VOCABULARY[self.start].title, VOCABULARY[self.end].title
        return f"{start} gives {end}{needs}: {self.rule} ({self.source})."


Rule = Callable[[Claim, Goal], Claim | Refusal]


def edge(
    name: str,
    *,
    start: str,
    end: str,
    rule: str,
    tightness: Tightness,
    witness: str,
    source: str,
    basis: Basis,
    needs: str = "",
) -> Callable[[Rule], Edge]:
    """Return the decorator that makes an `Edge` of the function that computes the implied claim.

    Args:
        name: Its name, which is also the heading of its proof.
        start: The key of the notion that implies.
        end: The key of the notion that is implied.
        rule: How the numbers change.
        tightness: Whether a smaller value would be false.
        witness: What attains it, or what is known instead.
        source: Paper and statement.
        basis: Where it is known from.
        needs: Under which conditions; empty if under all.
    """

    def made(apply: Rule) -> Edge:
        return Edge(name, start, end, rule, needs, tightness, witness, source, basis, apply)

    return made


def pure(rule: Rule) -> Rule:
    """Return a rule that refuses claims with delta above 0."""

    def apply(claim: Claim, goal: Goal) -> Claim | Refusal:
        if claim.numbers.get("delta", 0.0) > 0:
            return Refusal(f"delta = 0 is needed, but delta is {claim['delta']:g}")
        return rule(claim, goal)

    return apply


def symmetric(rule: Rule) -> Rule:
    """Return a rule that refuses claims about pairs in one order only."""

    def apply(claim: Claim, goal: Goal) -> Claim | Refusal:
        relation = claim.context.get("relation")
        if isinstance(relation, Relation) and not relation.symmetric:
            return Refusal("a relation of pairs in both orders is needed")
        return rule(claim, goal)

    return apply


def everywhere(rule: Rule) -> Rule:
    """Return a rule that refuses claims that are not about all pairs of secrets."""

    def apply(claim: Claim, goal: Goal) -> Claim | Refusal:
        if not covers("relation", claim.context["relation"], None):
            return Refusal("a promise about all pairs of secrets is needed")
        return rule(claim, goal)

    return apply


def same_pairs(claim: Claim) -> dict[str, object]:
    """Return the context of a claim about the same pairs of secrets."""
    return {"relation": claim.context["relation"]}


def renamed(
    claim: Claim, end: str, *, numbers: Mapping[str, str] | None = None, keep: tuple[str, ...] = ()
) -> Claim:
    """Return a claim of the same values about another notion.

    Args:
        claim: The claim.
        end: The notion that is implied.
        numbers: New names of numbers by old ones; by default all keep their names.
        keep: The parts of the context that stay.
    """
    names = numbers if numbers is not None else {name: name for name in claim.numbers}
    values: dict[str, object] = {new: claim[old] for old, new in names.items()}
    return Claim(end, **values, **{name: claim.context[name] for name in keep})
