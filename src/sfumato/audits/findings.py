"""Findings of an audit: an entry per notion or measure, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core import Bracket, Side
from ..core.immutable import NotebookRepr
from ..core.units import per_unit
from ..divergences import F_DIVERGENCES
from ..errors import InputError, python, shell
from ..rounding import at_least
from .request import PLAIN, PRIOR, named_with, request_name, slug


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """The value of one notion or measure, between bounds that are certain or hold with stated confidence.

    Attributes:
        key: The notion's name in the atlas, or the measure's, such as ``"bayes-vulnerability"``.
        title: Its name in texts, with the fixed options.
        parameter: The name of the value, such as ``"epsilon"``.
        bracket: The value with its bounds; the best estimate if only samples were seen.
        side: The side of the value that is stated: the weaker guarantee, where it is known.
        unit: The unit of the value, or the unit that it counts per.
        per: Whether the value is per unit.
        options: The fixed options, such as ``{"delta": 1e-6}`` or ``{"of": "total-variation"}``.
        is_proved: Whether integers or interval arithmetic prove the upper bound.
        failure: The probability that a bound is wrong; 0 where it is certain.
        witness: An example that attains the value, in words.
        sentence: The meaning of the value, in plain words.
        source: Paper and definition.
        slack: The addition to every distance before epsilon counts per it: ``"2.83 m"``; "" for none.
        vacuous: Whether nothing is said of any pair, so that the value hides nothing.
    """

    key: str
    title: str
    parameter: str
    bracket: Bracket
    side: Side = Side.AT_MOST
    unit: str = ""
    per: bool = False
    options: dict[str, float | str] = field(default_factory=dict)
    is_proved: bool = False
    failure: float = 0.0
    witness: str = ""
    sentence: str = ""
    source: str = ""
    slack: str = ""
    vacuous: bool = False

    @property
    def name(self) -> str:
        """The name in requirements: the key, or the parameter where a key has several, with the fixed options."""
        return named_with(request_name(self.key, self.parameter), self.options)

    @property
    def standing(self) -> str:
        """The stated side and its certainty, in a few words."""
        word = self.side.value
        if self.vacuous:
            return "nothing is said"
        if self.side is Side.ESTIMATE:
            return word
        if self.failure:
            return f"{word}, with confidence {at_least(1 - self.failure)}"
        way = "up" if self.side is Side.AT_MOST else "down"
        return f"{word}, proved" if self.is_proved else f"{word}, rounded {way}"

    @property
    def value(self) -> float:
        """The best estimate, which may be on either side of the true value."""
        return self.bracket.value

    @property
    def number(self) -> float:
        """The stated number: the bound on the entry's side, or the estimate."""
        return self.bracket.at(self.side)

    def amount(self, digits: int = 4) -> str:
        """Return the stated number in at most ``digits`` digits, rounded to its side, with its unit."""
        if self.vacuous:
            return "for no pair"
        if self.unit and not self.per:
            return self.side.amount(self.number, self.unit)
        return self.side.number(self.number, digits) + per_unit(self.unit)

    def __str__(self) -> str:
        return f"{self.title}: {self.parameter} {self.amount()} ({self.standing})"

    def __repr__(self) -> str:
        return f"Entry({self.name}: {self.parameter} {self.amount()}, {self.standing})"

    def as_dict(self) -> dict[str, Any]:
        """Return the entry for JSON; infinities are text."""
        # Of samples, an infinite bound means that none is known.
        is_estimate = self.failure > 0 or self.side is Side.ESTIMATE
        lower = None if is_estimate and not self.bracket.knows(Side.AT_LEAST) else _json(self.bracket.lower)
        upper = None if is_estimate and not self.bracket.knows(Side.AT_MOST) else _json(self.bracket.upper)
        value: float | str | None = _json(self.bracket.value)
        if self.vacuous:
            lower = value = upper = None
        return {
            "name": self.name,
            "key": self.key,
            "title": self.title,
            "parameter": self.parameter,
            "value": value,
            "lower": lower,
            "upper": upper,
            "unit": ("/" if self.per else "") + self.unit if self.unit else "",
            "given": {key: term if isinstance(term, str) else _json(term) for key, term in self.options.items()},
            "side": self.standing,
            "failure": self.failure,
            "witness": self.witness,
            "sentence": self.sentence,
            "source": self.source,
            "slack": self.slack,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Audit(NotebookRepr):
    """The results of an audit of one mechanism, sample or black box.

    Attributes:
        entries: One per notion and measure, the strongest guarantees first.
        notes: Further remarks, such as what was not measured and why.
    """

    subject: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"Audit of {self.subject}", *(f"  {entry}" for entry in self.entries), *self.notes])

    def __repr__(self) -> str:
        return f"Audit of {self.subject}: {len(self.entries)} entries, {len(self.notes)} notes"

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, name: str, **options: float | str) -> Entry:
        """Return the entry of a notion or measure by its key, or by its parameter where only one key has it.

        A bare ``"epsilon"`` or ``"delta"`` means differential privacy. The fixed options are such as
        ``delta=1e-6``, ``order=8`` or ``of="total-variation"``. Raises `InputError` if there is no such entry, or
        more than one.
        """
        matches = [entry for entry in self.entries if entry.key == name]
        if not matches:
            matches = [entry for entry in self.entries if entry.parameter == name]
            matches = [entry for entry in matches if entry.key == PLAIN.get(name)] or matches
        fitting = [entry for entry in matches if _fits(entry, options)]
        if len(fitting) == 1:
            return fitting[0]
        known = fitting or matches or list(self.entries)
        calls = dict.fromkeys(
            ", ".join([repr(entry.key), *(f"{key}={_literal(value)}" for key, value in entry.options.items())])
            for entry in known
        )
        raise InputError(
            f"{'several entries' if fitting else 'no entry'} of the audit fit {named_with(name, options)!r}.",
            shell(f"name one of: {', '.join(dict.fromkeys(entry.name for entry in known))}."),
            python(f"ask for .find({'), .find('.join(calls)})."),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the audit for JSON."""
        entries = [entry.as_dict() for entry in self.entries]
        return {"subject": self.subject, "entries": entries, "notes": list(self.notes)}


def _literal(value: float | str) -> str:
    return "math.inf" if value == math.inf else repr(value)


def _fits(entry: Entry, query: dict[str, float | str]) -> bool:
    """Return whether an entry's fixed options are those given; priors and defaults may be left out."""
    defaults = {"delta": 0.0, "order": math.inf}
    terms = {name: value for name, value in query.items() if name in entry.options or defaults.get(name) != value}
    facts = {name: value for name, value in entry.options.items() if name != PRIOR or PRIOR in terms}
    return set(facts) == set(terms) and all(_is_equal(facts[name], value) for name, value in terms.items())


def _is_equal(left: float | str, right: float | str) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return _spelling(left) == _spelling(right)
    return left == right or math.isclose(left, right, rel_tol=1e-9)


def _spelling(value: float | str) -> str:
    text = slug(str(value))
    return next((key for key, divergence in F_DIVERGENCES.items() if text in (key, slug(divergence.name))), text)


def _json(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
