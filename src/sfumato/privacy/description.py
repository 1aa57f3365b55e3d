"""The description of a notion of privacy: its name, what its claims state, and what they promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Description:
    """What there is to say of a notion beside how it is measured.

    Claims, requirements, audits and the documentation take all names and words from here.

    Attributes:
        key: The name in requirements, in claims and in the atlas, such as ``"differential-privacy"``.
        title: The name within a sentence, such as ``"differential privacy"``.
        numbers: The names of the numbers that a claim states, such as ``("epsilon", "delta")``.
        question: What the number answers, in one plain question.
        promise: What a claim promises, in plain words. Numbers stand in braces, and so do
            ``{about}`` for the pairs, ``{divergence}``, ``{unit}`` and ``{up_to}`` for delta.
        source: Paper and definition.
        context: What else a claim is about, by name, such as ``("relation",)``.
        required: The parts of the context that a claim cannot leave out.
        defaults: The numbers that may be left out, with what they are then.
        audited: When audits measure it, where no class of notions does.
        larger_hides: Whether larger numbers hide more, as the error of an attack does.
    """

    key: str
    title: str
    numbers: tuple[str, ...]
    question: str
    promise: str
    source: str
    context: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    defaults: Mapping[str, float] = field(default_factory=dict)
    audited: str = ""
    larger_hides: bool = False

    @property
    def heading(self) -> str:
        """The title as it begins a line."""
        return self.title[0].upper() + self.title[1:]
