"""Claims that a mechanism satisfies a notion at given values, and implications between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ...core import DistortionPrivacy, Metric, MetricPrivacy, Prior, Space, ThresholdPrivacy, units
from ...core.immutable import CompactRepr, assign
from ...core.naming import name_phrase
from ...divergences import find_divergence
from ...errors import InputError
from ...rounding import at_least, at_most
from ..beliefs.attackers import Events, Priors
from ..beliefs.pufferfish import Rivals
from ..curves.trade_off import TradeOff
from ..distributions.family import Family
from ..notion import Description, Finding, Notion
from ..relation import Relation
from ..vocabulary import VOCABULARY, describe, kinds

_CONTENT: Final = {
    Family: ("distributions", "pairs"),
    Rivals: ("facts", "pairs"),
    TradeOff: ("null", "alternative"),
}
_LARGER_HIDES_MORE: Final = frozenset(
    name for word in VOCABULARY.values() if word.larger_hides for name in word.numbers
)
_KNOWN: Final = frozenset({"possible"})


def divergence_name(divergence: object) -> str:
    """Return the name of a divergence, given by name or as an object."""
    return divergence if isinstance(divergence, str) else str(getattr(divergence, "name", divergence))


def _equal(outer: object, inner: object) -> bool:
    arrays = _CONTENT.get(type(outer))
    if arrays is None or type(outer) is not type(inner):
        return outer == inner
    return all(np.array_equal(getattr(outer, name), getattr(inner, name)) for name in arrays)


def _relation_covers(outer: object, inner: object) -> bool:
    if outer is None:
        return True
    if not isinstance(outer, Relation):
        return False
    if inner is None:
        return len(outer) == outer.size * (outer.size - 1)
    return isinstance(inner, Relation) and outer.size == inner.size and bool((outer.array | ~inner.array).all())


def _priors_cover(outer: object, inner: object) -> bool:
    inside, outside = (Priors.all() if priors is None else priors for priors in (inner, outer))
    if not isinstance(inside, Priors) or not isinstance(outside, Priors):
        return False
    known = {_content(prior) for prior in outside.listed}
    among = {_content(prior) for prior in inside.listed} <= known
    if outside.interval is None:
        return inside.interval is None and among
    if outside.listed and not (inside.listed and among):
        return False
    low, high = inside.interval if inside.interval is not None else (0.0, 1.0)
    return outside.interval[0] <= low and high <= outside.interval[1]


def to_one_default(maps: object) -> bool:
    """Return whether each map sends all its secrets to one default."""
    return all(len(np.unique(images[images >= 0])) <= 1 for images in np.atleast_2d(np.asarray(maps)))


def _maps_cover(outer: object, inner: object) -> bool:
    if outer is None or inner is None:
        return outer is None and to_one_default(inner)
    return np.array_equal(np.atleast_2d(np.asarray(outer)), np.atleast_2d(np.asarray(inner)))


def _content(prior: Prior) -> tuple[Space, bytes]:
    """Return a key that is the same for equal beliefs."""
    return prior.space, (prior.probabilities + 0.0).tobytes()


def _same_events(outer: object, inner: object) -> bool:
    facts = [side for side in (outer, inner) if isinstance(side, Events)]
    if not facts:
        return outer is inner
    size = facts[0].size
    first, second = (side if isinstance(side, Events) else Events.singletons(size) for side in (outer, inner))
    same = first.masks.shape == second.masks.shape and bool((first.masks == second.masks).all())
    return same and first.attribute == second.attribute


def _same_metric(outer: object, inner: object) -> bool:
    if not isinstance(outer, Metric) or not isinstance(inner, Metric):
        return False
    return outer.unit == inner.unit and np.array_equal(outer.array, inner.array)


def _same_settings(outer: object, inner: object) -> bool:
    if not isinstance(outer, Sequence) or not isinstance(inner, Sequence):
        return False
    return len(outer) == len(inner) and all(map(np.array_equal, outer, inner))


_COVERS: Final[dict[str, Callable[[object, object], bool]]] = {
    "relation": _relation_covers,
    "metric": _same_metric,
    "distance": _same_metric,
    "divergence": lambda outer, inner: divergence_name(outer) == divergence_name(inner),
    "priors": _priors_cover,
    "events": _same_events,
    "possible": lambda _outer, inner: not inner,
    "maps": _maps_cover,
    "interventions": _same_settings,
    "family": _equal,
    "rivals": _equal,
    "curve": _equal,
}
"""When a claim about one context includes that about another, by the name of the context."""


def covers(name: str, outer: object, inner: object) -> bool:
    """Return whether a claim about one context includes the claim about another of the same name."""
    return outer is inner or (name in _COVERS and _COVERS[name](outer, inner))


class InfiniteNumberError(InputError):
    """A number of a claim that is too large to guarantee anything."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Claim:
    """The statement that a mechanism satisfies a notion of privacy at given values.

    A part of the context that is left out has the default of the notions: every pair of secrets, every prior, and
    the single secrets as facts. Raises `InputError` if the notion is unknown, or a parameter is unknown, missing
    or out of range.

    Args:
        notion: The notion's key, such as ``"differential-privacy"``.
        parameters: Its numbers and its context, by name (`Claim.names` lists them).

    Attributes:
        numbers: The values, by name; each is a bound that holds.
        context: Other parts, by name; those left out are None.

    Example:
        >>> from sfumato.privacy.atlas import Claim
        >>> print(Claim("differential-privacy", epsilon=1.0))
        differential privacy with epsilon 1, of any two secrets
    """

    notion: str
    numbers: Mapping[str, float]
    context: Mapping[str, object]

    def __init__(self, notion: str, **parameters: object) -> None:
        word = describe(notion)
        unknown = sorted(set(parameters) - {*word.numbers, *word.context})
        if unknown:
            raise InputError(
                f"{word.title} has no parameter {unknown[0]!r}.",
                f"its parameters are {', '.join((*word.numbers, *word.context))}.",
            )
        context = {name: parameters.get(name) for name in word.context}
        for name in word.essentials:
            if context[name] is None:
                raise InputError(f"a claim of {word.title} was given without {name}.", f"pass {name}=.")
        unit = _unit(context)
        numbers = {}
        for name in word.numbers:
            value = parameters.get(name, word.defaults.get(name))
            if value is None:
                raise InputError(f"a claim of {word.title} was given without {name}.", f"pass {name}=, a number.")
            if name == "epsilon" and unit is not None and isinstance(value, str):
                value = units.parse(value, per=True, unit=unit, subject=name)
            numbers[name] = _read_number(word, name, value)
        assign(self, notion=notion, numbers=MappingProxyType(numbers), context=MappingProxyType(context))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Claim, self.notion, **self.numbers, **self.context), ()

    @classmethod
    def of(cls, claim: Claim | MetricPrivacy | DistortionPrivacy | Finding) -> Claim:
        """Return the claim of a guarantee or a finding; a finding claims its upper value.

        Raises `InputError` if the finding is infinite, or distortion privacy comes without a prior.
        """
        if isinstance(claim, Claim):
            return claim
        if isinstance(claim, ThresholdPrivacy):
            near = Relation(claim.metric.array == 1, "near secrets")
            return cls("differential-privacy", epsilon=claim.epsilon, relation=near)
        if isinstance(claim, MetricPrivacy):
            return cls("metric-privacy", epsilon=claim.epsilon, metric=claim.metric)
        if isinstance(claim, DistortionPrivacy):
            raise InputError(
                "distortion privacy was given without the prior that it holds for.",
                "use Claim('distortion', error=, distance=, priors=).",
            )
        notion, upper = claim.notion, claim.upper
        word = describe(notion.key)
        if notion.no_claim_reason:
            raise InputError(f"the finding {notion.no_claim_reason}.", "measure with sets=True for a claim.")
        if notion.parameter not in word.numbers:
            raise InputError(
                f"{claim!r} is not about {', '.join(word.numbers) or 'a number'}.", "state the claim."
            )
        if math.isinf(upper):
            raise InputError(f"the finding {claim!r} guarantees nothing.", "infinity implies no other claim.")
        return cls(notion.key, **{**notion.settings, notion.parameter: upper})

    @staticmethod
    def names(notion: str) -> tuple[str, ...]:
        """Return the names of the parameters of a notion, numbers first."""
        word = describe(notion)
        return (*word.numbers, *word.context)

    def __getitem__(self, name: str) -> float:
        return self.numbers[name]

    def __str__(self) -> str:
        word = VOCABULARY[self.notion]
        parts = [
            f"{name} {_digits(name, value)}"
            for name, value in self.numbers.items()
            if name not in word.defaults or value != word.defaults[name]
        ]
        about = f", of {self.about}" if {"relation", "metric"} & set(self.context) else ""
        return f"{word.title}{' with ' if parts else ''}{', '.join(parts)}{about}"

    def __repr__(self) -> str:
        return f"Claim({self})"

    @property
    def about(self) -> str:
        """The secrets or distributions that the claim is about, in words."""
        relation, metric = self.context.get("relation"), self.context.get("metric")
        if self.context.get("family") is not None:
            return "the given family"
        if isinstance(relation, Relation):
            return relation.name
        if isinstance(metric, Metric):
            return f"any two secrets by the {name_phrase(metric.name, 'metric')}"
        return "any two secrets"

    @property
    def sentence(self) -> str:
        """The claim in words, with its numbers rounded up to six digits."""
        word = VOCABULARY[self.notion]
        values: dict[str, str] = {name: _digits(name, value) for name, value in self.numbers.items()}
        unit, both_ways = _unit(self.context), getattr(self.context.get("metric"), "symmetric", True)
        way = "" if both_ways else ", from the one to the other"
        values["up_to"] = f", plus a probability of {values['delta']}" if self.numbers.get("delta") else ""
        divergence = self.context.get("divergence")
        text = word.promise.format(
            **values,
            about=self.about,
            unit=(f" in {unit}" if unit else "") + way,
            divergence=divergence_name(divergence) if divergence is not None else "",
        )
        return text[0].upper() + text[1:] + "."

    def to_notion(self) -> Notion | None:
        """Return the notion that measures the first number of the claim at its other parameters.

        None if no class measures it, such as a claim about all distributions of secrets.
        """
        numbers = dict(list(self.numbers.items())[1:])
        parts: dict[str, object] = {"priors": Priors.all(), **numbers}
        parts |= {name: value for name, value in self.context.items() if value is not None}
        if isinstance(parts.get("divergence"), str):
            parts["divergence"] = find_divergence(str(parts["divergence"]))
        names = {name for name, value in self.context.items() if value is not None} - _KNOWN
        for kind in kinds(self.notion):
            first = next(iter(self.numbers), kind.parameter)
            if kind.parameter == first and names <= {*kind.parts()} and kind.supports(parts):
                return kind.of(parts)
        return None

    def with_values(self, **parameters: object) -> Claim:
        """Return the claim with some parameters replaced."""
        return Claim(self.notion, **{**self.numbers, **self.context, **parameters})

    def meets(self, parameters: Mapping[str, object]) -> bool:
        """Return whether the claim implies itself with the wanted parameters, by restriction alone."""
        return all(
            self._number_meets(name, float(str(value)))
            if name in self.numbers
            else covers(name, self.context.get(name), value)
            for name, value in parameters.items()
        )

    def implies(self, other: Claim) -> bool:
        """Return whether another claim of the same notion is a restriction or a weakening of this one."""
        if self.notion != other.notion:
            return False
        return self.meets({**other.numbers, **other.context})

    def _number_meets(self, name: str, limit: float) -> bool:
        if name == "order":
            return self.numbers[name] == limit
        if name in _LARGER_HIDES_MORE:
            return self.numbers[name] >= limit
        return self.numbers[name] <= limit


def _unit(context: Mapping[str, object]) -> str | None:
    metric = context.get("metric")
    return metric.unit if isinstance(metric, Metric) else None


def _read_number(word: Description, name: str, argument: object) -> float:
    try:
        value = float(argument) if isinstance(argument, int | float | np.number) else math.nan
    except OverflowError:
        value = math.inf
    unbounded = name == "order" or word.defaults.get(name) == math.inf
    if not (value >= 0 and (unbounded or math.isfinite(value))):
        raise (InfiniteNumberError if value == math.inf else InputError)(
            f"{name} of {word.title} is {argument!r}, but a finite number of at least 0 is needed.",
            "an infinite value guarantees nothing.",
        )
    if name == "delta" and value > 1:
        raise InputError(f"delta of {word.title} is {argument!r}, but it is a probability.", "use at most 1.")
    if name == "order" and value < 1:
        raise InputError(f"an order of {value:g} was given, but at least 1 is needed.", "use 1, 2 or inf, say.")
    return value


def _digits(name: str, value: float) -> str:
    """Return six digits of a number, rounded to the weaker claim."""
    return at_least(value, 6) if name in _LARGER_HIDES_MORE else at_most(value, 6)


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
    terms: Mapping[str, object]

    def number(self, name: str) -> float | None:
        """Return a given number, or None."""
        value = self.terms.get(name)
        return float(value) if isinstance(value, int | float) else None

    def context(self, name: str) -> object:
        """Return a given part of the context, or None."""
        return self.terms.get(name)


Changes = Mapping[str, object] | Refusal
"""The parameters of the implied claim that differ from those of the same name, or why there is none."""

Map = Callable[[Claim, Goal], Changes]

Check = Callable[[Claim], str]
"""From a claim to the reason why an implication refuses it, or ""."""


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
    checks: tuple[Check, ...] = ()

    def follow(self, claim: Claim, goal: Goal) -> Claim | Refusal:
        """Return the implied claim, or why there is none, also where a number exceeds all floats."""
        for check in self.checks:
            if missing := check(claim):
                return Refusal(missing)
        try:
            changes = self.map(claim, goal)
            if isinstance(changes, Refusal):
                return changes
            parameters = {**claim.numbers, **claim.context}
            same = {name: parameters[name] for name in Claim.names(self.end) if name in parameters}
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


def keep(_claim: Claim, _goal: Goal) -> Changes:
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


def needing(reason: str, holds: Callable[[Claim], bool]) -> Check:
    """Return the check that refuses claims without a condition."""
    return lambda claim: "" if holds(claim) else reason


symmetric: Final = needing(
    "a relation of pairs in both orders is needed",
    lambda claim: bool(getattr(claim.context.get("relation"), "symmetric", True)),
)
everywhere: Final = needing(
    "a claim about all pairs of secrets is needed",
    lambda claim: covers("relation", claim.context["relation"], None),
)
