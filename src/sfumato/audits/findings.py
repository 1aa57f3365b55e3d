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
    witness: str = ""
    sentence: str = ""
    source: str = ""

    @property
    def side(self) -> str:
        """Which side of the true value is known, in a few words."""
        if self.upper is None:
            return f"at least, with confidence {1 - self.failure:.3g}" if self.lower is not None else "estimate"
        if self.failure:
            return f"at most, with confidence {1 - self.failure:.3g}"
        return "at most, proved" if self.proved else "at most, rounded up"

    @property
    def shown(self) -> float:
        """The value on the side that is safe to tell: the upper bound, else the lower one, else the estimate."""
        return next(v for v in (self.upper, self.lower, self.value) if v is not None)

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
    fixed = {name: value for name, value in entry.given.items() if value != 0 or name in given}
    return set(fixed) == set(given) and all(
        math.isclose(fixed[name], value, rel_tol=1e-9) for name, value in given.items()
    )


def _json(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
