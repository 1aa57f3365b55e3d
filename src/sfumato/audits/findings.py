"""What an audit found: an entry per notion or measure, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

from ..errors import InputError


@final
@dataclass(frozen=True, slots=True)
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
        given: What is held fixed, such as ``{"delta": 1e-6}``.
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
    given: dict[str, float] = field(default_factory=dict)
    proved: bool = False
    failure: float = 0.0
    larger_hides: bool = False
    witness: str = ""
    sentence: str = ""
    source: str = ""

    @property
    def side(self) -> str:
        """Which side of the true value is known, in a few words."""
        safe = self.lower if self.larger_hides else self.upper
        word = "at least" if (safe is None) != self.larger_hides else "at most"
        if safe is None and (self.lower is None) == (self.upper is None):
            return "estimate"
        if self.failure:
            return f"{word}, with confidence {1 - self.failure:.3g}"
        return f"{word}, proved" if self.proved else f"{word}, rounded {'down' if word == 'at least' else 'up'}"

    @property
    def shown(self) -> float:
        """The value on the side that is safe to tell, else on the other one, else the estimate."""
        sides = (self.lower, self.upper) if self.larger_hides else (self.upper, self.lower)
        return next(value for value in (*sides, self.value) if value is not None)

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as JSON has it; infinities are text."""
        return {
            "key": self.key,
            "title": self.title,
            "parameter": self.parameter,
            "value": _json(self.value),
            "lower": _json(self.lower),
            "upper": _json(self.upper),
            "unit": ("/" if self.per else "") + self.unit if self.unit else "",
            "given": {name: _json(value) for name, value in self.given.items()},
            "side": self.side,
            "failure": self.failure,
            "witness": self.witness,
            "sentence": self.sentence,
            "source": self.source,
        }


@final
@dataclass(frozen=True, slots=True)
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

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def find(self, key: str, **given: float) -> Entry:
        """Return the entry of a notion or measure.

        Args:
            key: Its key, or its parameter where one entry alone has it.
            given: What it holds fixed, such as ``delta=1e-6``.

        Raises:
            InputError: If there is none, or more than one.
        """
        named = [entry for entry in self.entries if key in (entry.key, entry.parameter)]
        fitting = [entry for entry in named if _fits(entry, given)]
        exact = [entry for entry in fitting if entry.key == key] or fitting
        if len(exact) == 1:
            return exact[0]
        known = ", ".join(dict.fromkeys(entry.key for entry in (exact or named or self.entries)))
        fixed = f" with {', '.join(f'{k}={v:g}' for k, v in given.items())}" if given else ""
        raise InputError(
            f"{'several entries' if exact else 'no entry'} of the audit fit {key!r}{fixed}.",
            f"name one of: {known}.",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the audit as JSON has it."""
        return {
            "subject": self.subject,
            "entries": [entry.as_dict() for entry in self.entries],
            "notes": list(self.notes),
        }


def _fits(entry: Entry, given: dict[str, float]) -> bool:
    return set(entry.given) == set(given) and all(
        math.isclose(entry.given[name], value, rel_tol=1e-9) for name, value in given.items()
    )


def _json(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
