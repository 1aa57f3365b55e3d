"""Requests to an audit: a notion or measure by name, with what is held fixed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, final

from ..core import units
from ..core.immutable import CompactRepr
from ..divergences import NAMED, Divergence, named
from ..errors import InputError
from ..privacy.vocabulary import kinds
from ..rounding import exactly

_FORM: Final = re.compile(r"^\s*(?P<name>[A-Za-z][\w -]*?)\s*(?:\((?P<given>[^()]*)\))?\s*$")
_HINT: Final = 'write it as "gaussian", "renyi-privacy(order=8)" or "divergence-privacy(of=total-variation)".'

OF, PRIOR, EVERY, NUMBERS = "of", "prior", "every", ("delta", "epsilon", "order")

PLAIN: Final = {"epsilon": "differential-privacy", "delta": "differential-privacy"}
"""The notion that a bare parameter stands for, where several notions have it."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Request(CompactRepr):
    """A notion or measure by name.

    Attributes:
        name: A key, or a parameter such as ``"epsilon"`` that stands for one.
        given: What is held fixed: numbers such as ``{"order": 8.0}``, ``{"of": ...}`` for the
            divergence, and ``{"prior": "every"}`` for a promise against every prior.
    """

    name: str
    given: Mapping[str, float | str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Request:
        """Read a request.

        Raises:
            InputError: If it has another form, or fixes what does not exist.
        """
        match = _FORM.match(text)
        if match is None:
            raise InputError(f"{text.strip()!r} names no notion or measure.", _HINT)
        given: dict[str, float | str] = {}
        for part in filter(str.strip, (match["given"] or "").split(",")):
            name, equals, value = (each.strip() for each in part.partition("="))
            if not equals or not value:
                raise InputError(f"{part.strip()!r} in {text.strip()!r} gives no value.", _HINT)
            if name in given:
                raise InputError(f"{name} is given twice in {text.strip()!r}.", "give it once.")
            given[name] = _value(name, value, text)
        return cls(match["name"].strip().replace("_", "-").replace(" ", "-").lower(), given)

    def __str__(self) -> str:
        return named_with(self.name, self.given)


def request_name(key: str, parameter: str) -> str:
    """Return the name that asks for one number of a notion: its key, or the number's where two share all else."""
    found = kinds(key)
    mine = [kind.parts() for kind in found if kind.parameter == parameter]
    twins = [kind for kind in found if kind.parameter != parameter and kind.parts() in mine]
    return parameter if twins else key


def named_with(name: str, given: Mapping[str, float | str]) -> str:
    """Return a name with what is held fixed, as requests are written."""
    fixed = ", ".join(
        f"{key}={value if isinstance(value, str) else exactly(value)}" for key, value in given.items()
    )
    return f"{name}({fixed})" if fixed else name


def divergence_key(divergence: Divergence) -> str:
    """Return what requests call a divergence."""
    known = (key for key, each in NAMED.items() if each is divergence)
    return next(known, slug(divergence.name))


def slug(name: str) -> str:
    """Return a name as requests spell it: ``total-variation``."""
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def _value(name: str, value: str, text: str) -> float | str:
    if name in NUMBERS:
        return units.parse(value, unit="", what=name) if value != "inf" else float("inf")
    if name == OF:
        return divergence_key(named(value))
    if name == PRIOR:
        if value != EVERY:
            raise InputError(
                f"prior={value} in {text.strip()!r} is not known.", "write prior=every, or leave it out."
            )
        return EVERY
    raise InputError(
        f"{name!r} in {text.strip()!r} cannot be held fixed.",
        f"what can be is {', '.join((*NUMBERS, f'{OF} (a divergence)', f'{PRIOR}={EVERY}'))}.",
    )
