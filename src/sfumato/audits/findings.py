"""What an audit found: an entry per notion or measure, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

from ..core.units import per_unit
from ..divergences import NAMED
from ..errors import InputError
from ..rounding import at_least, at_most
from .request import PLAIN, PRIOR, named_with, request_name, slug


@final
@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """The value of one notion or measure, between bounds that hold for certain or with stated confidence.

    Attributes:
        key: The notion's name in the atlas, or the measure's, such as ``"bayes-vulnerability"``.
        title: Its name in texts, with what is held fixed.
        parameter: What the value is called, such as ``"epsilon"``.
        value: The value; the best estimate where only samples were seen.
        lower: The true value is at least this; None if nothing is known.
        upper: The true value is at most this; None if nothing is known.
        unit: The unit of the value, or the unit that it counts per.
        per: Whether the value is per unit.
        given: What is held fixed, such as ``{"delta": 1e-6}`` or ``{"of": "total-variation"}``.
        proved: Whether integers or interval arithmetic prove the upper bound.
        failure: The probability that a bound is wrong; 0 where it is certain.
        larger_hides: Whether larger values hide more, as the attacker's error does.
        witness: Who attains the value, in words.
        sentence: What the value means, in plain words.
        source: Paper and definition.
    """

    key: str
    title: str
    parameter: str
    value: float
    lower: float | None
    upper: float | None
    unit: str = ""
    per: bool = False
    given: dict[str, float | str] = field(default_factory=dict)
    proved: bool = False
    failure: float = 0.0
    larger_hides: bool = False
    witness: str = ""
    sentence: str = ""
    source: str = ""

    @property
    def name(self) -> str:
        """The key, or the number where a key has several, with what is held fixed: as requirements write it."""
        return named_with(request_name(self.key, self.parameter), self.given)

    @property
    def side(self) -> str:
        """Which side of the true value is known, in a few words."""
        safe = self.lower if self.larger_hides else self.upper
        word = "at least" if (safe is None) != self.larger_hides else "at most"
        if safe is None and (self.lower is None) == (self.upper is None):
            return "estimate"
        if self.failure:
            return f"{word}, with confidence {at_least(1 - self.failure)}"
        return f"{word}, proved" if self.proved else f"{word}, rounded {'down' if word == 'at least' else 'up'}"

    @property
    def shown(self) -> float:
        """The value on the side that is safe to tell, else on the other one, else the estimate."""
        sides = (self.lower, self.upper) if self.larger_hides else (self.upper, self.lower)
        return next(value for value in (*sides, self.value) if value is not None)

    def amount(self, digits: int = 5) -> str:
        """Return the safe value in so many digits, rounded to its side, with its unit."""
        below = self.side.startswith("at least")
        number = (at_least if below else at_most)(self.shown, digits)
        return number + (per_unit(self.unit) if self.per else f" {self.unit}" if self.unit else "")

    def __str__(self) -> str:
        return f"{self.title}: {self.parameter} {self.amount()} ({self.side})"

    def __repr__(self) -> str:
        return f"Entry({self.name}: {self.parameter} {self.amount()}, {self.side})"

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as JSON has it; infinities are text."""
        return {
            "name": self.name,
            "key": self.key,
            "title": self.title,
            "parameter": self.parameter,
            "value": _json(self.value),
            "lower": _json(self.lower),
            "upper": _json(self.upper),
            "unit": ("/" if self.per else "") + self.unit if self.unit else "",
            "given": {
                name: value if isinstance(value, str) else _json(value) for name, value in self.given.items()
            },
            "side": self.side,
            "failure": self.failure,
            "witness": self.witness,
            "sentence": self.sentence,
            "source": self.source,
        }


@final
@dataclass(frozen=True, slots=True, repr=False)
class Audit:
    """Everything an audit found of one mechanism, sample or black box.

    Attributes:
        subject: What was audited, in words.
        entries: One per notion and measure, the strongest promises first.
        notes: What else the reader must know, such as what was not measured and why.
    """

    subject: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The entries and notes, one a line."""
        return "\n".join([f"Audit of {self.subject}", *(f"  {entry}" for entry in self.entries), *self.notes])

    def __repr__(self) -> str:
        return f"Audit of {self.subject}: {len(self.entries)} entries, {len(self.notes)} notes"

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, name: str, **given: float | str) -> Entry:
        """Return the entry of a notion or measure.

        Args:
            name: Its key, or its parameter where one key alone has it; a bare ``"epsilon"``
                or ``"delta"`` means differential privacy.
            **given: What it holds fixed, such as ``delta=1e-6``, ``order=8`` or ``of="total-variation"``.

        Raises:
            InputError: If there is none, or more than one.
        """
        named = [entry for entry in self.entries if entry.key == name]
        if not named:
            named = [entry for entry in self.entries if entry.parameter == name]
            named = [entry for entry in named if entry.key == PLAIN.get(name)] or named
        fitting = [entry for entry in named if _fits(entry, given)]
        if len(fitting) == 1:
            return fitting[0]
        known = dict.fromkeys(entry.name for entry in (fitting or named or self.entries))
        raise InputError(
            f"{'several entries' if fitting else 'no entry'} of the audit fit {named_with(name, given)!r}.",
            f"name one of: {', '.join(known)}.",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the audit as JSON has it."""
        return {
            "subject": self.subject,
            "entries": [entry.as_dict() for entry in self.entries],
            "notes": list(self.notes),
        }


def _fits(entry: Entry, given: dict[str, float | str]) -> bool:
    """Return whether an entry holds fixed just what was given; priors, and what is the default, may go unsaid."""
    unsaid = {"delta": 0.0, "order": math.inf}
    wanted = {name: value for name, value in given.items() if name in entry.given or unsaid.get(name) != value}
    held = {name: value for name, value in entry.given.items() if name != PRIOR or PRIOR in wanted}
    return set(held) == set(wanted) and all(_same(held[name], value) for name, value in wanted.items())


def _same(held: float | str, wanted: float | str) -> bool:
    if isinstance(held, str) or isinstance(wanted, str):
        return _spelt(held) == _spelt(wanted)
    return held == wanted or math.isclose(held, wanted, rel_tol=1e-9)


def _spelt(value: float | str) -> str:
    text = slug(str(value))
    return next((key for key, each in NAMED.items() if text in (key, slug(each.name))), text)


def _json(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
