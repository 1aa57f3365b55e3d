"""The interface of all mechanisms: their data, what they state, how they draw, and what they can do."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ..errors import InputError, python
from .guarantees import AnyGuarantee
from .recipe import PointRecipe, Recipe
from .space import Space

_PLAIN: Final = {"builtins", "numpy", "fractions", "decimal", "datetime"}
_APART: Final = {"labels", "guarantees"}
_OWN: Final = __name__.partition(".")[0]


class Capability(Enum):
    """A thing that code may ask of a mechanism; see `Randomizer.supports`."""

    MATRIX = "a matrix of finitely many secrets and reports"
    POINTS = "reports for points on the ground, without numbered secrets"
    NUMBERS = "reports for any whole number"
    TUPLES = "several observables in one report"


class Randomizer(ABC):
    """A local randomizer: a mechanism of any kind, with what its maker states of it.

    It has data and capabilities only. It never proves what it states: `sfumato.evidence.prove` does, for the
    kinds that it knows, and a `Randomizer` from elsewhere can be drawn from but not released.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # subclasses have fields of these names, whose defaults properties would become

        @property
        def secrets(self) -> Space | None:
            """The secrets; None where they are points or whole numbers."""

        @property
        def observables(self) -> Space | None:
            """The observables; None where they are points, whole numbers or parts of a code."""

    @property
    @abstractmethod
    def stated_guarantees(self) -> tuple[AnyGuarantee, ...]:
        """The guarantees that its maker states; none of them is proved."""

    @abstractmethod
    def recipe(self) -> Recipe | PointRecipe:
        """Return the exact way in which a report is drawn.

        Raises:
            InputError: If it is for studies only.
        """

    @abstractmethod
    def supports(self, capability: Capability) -> bool:
        """Return whether it has a capability."""

    def channel(self) -> Any:
        """Return the `Mechanism` from secrets to reports, the matrix in integers.

        Raises:
            InputError: If there is none, or it is too large to list.
        """
        raise InputError(
            f"{self!r} has no matrix of finitely many secrets and reports.",
            python("draw from it with sf.sampler, which needs none."),
        )


def is_known(value: Any) -> bool:
    """Return whether a mechanism and all of its parts are of this package's own classes, exactly.

    A subclass may draw otherwise than the class that it derives from, and so may a mechanism with a part of
    another class, such as a projection that remembers points. Labels of secrets may be of any class. Guarantees
    are looked at where they are proved.
    """
    kind = type(value)
    module = kind.__module__
    if getattr(sys.modules.get(module), kind.__name__, None) is not kind and value is not None:
        return False
    if module.partition(".")[0] != _OWN:
        return module in _PLAIN and (kind is not tuple or all(map(is_known, _odd(value))))
    if not is_dataclass(kind):
        return True
    return all(is_known(getattr(value, each.name, None)) for each in fields(kind) if each.name not in _APART)


def check_known(randomizer: Any) -> None:
    """Refuse a mechanism of which nothing can be proved, because its kind is not this package's own.

    Raises:
        InputError: If it is one.
    """
    if not (isinstance(randomizer, Randomizer) and is_known(randomizer)):
        what = (
            f"the class {randomizer.__name__}"
            if isinstance(randomizer, type)
            else f"a value of {type(randomizer)}"
        )
        raise InputError(
            f"{what} is no kind of mechanism of which anything can be proved.",
            python("pass a Mechanism, a Tupling, a CoordinateNoise or a family of sfumato.mechanisms."),
        )


def _odd(values: tuple[Any, ...]) -> list[Any]:
    """Return the values that are no plain numbers and texts."""
    plain = (int, float, str, bool, type(None))
    return [each for each in values if type(each) not in plain] if set(map(type, values)) - set(plain) else []
