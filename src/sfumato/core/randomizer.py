"""The interface of all mechanisms: their data, what they state, how they draw, and what they can do."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ..errors import InputError, python
from .guarantees import AnyGuarantee
from .recipe import PointRecipe, Recipe
from .space import Space

_PLAIN: Final = {"builtins", "numpy", "fractions", "decimal", "datetime"}
_NUMBERS_AND_TEXTS: Final = {int, float, str, bool}
_COMPUTED: Final = (property, cached_property)  # by the class itself, at some cost
_OWN: Final = __name__.partition(".")[0]


class Capability(Enum):
    """A thing that code may ask of a mechanism; see `Randomizer.supports`."""

    MATRIX = "a matrix of finitely many secrets and reports"
    POINTS = "reports for points on the ground, without numbered secrets"
    NUMBERS = "reports for any whole number"
    TUPLES = "several observables in one report"


class Randomizer(ABC):
    """A local randomizer: a mechanism of any kind, with what its maker states of it.

    It has data and capabilities only. It never proves what it states: `sfumato.proofs.prove` does, for the
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
    another class, such as a projection that remembers points. Labels of secrets may be of any class.
    """
    return _foreign(value) is None


def check_known(randomizer: Any) -> None:
    """Refuse a mechanism of which nothing can be proved, because its kind is not this package's own.

    Raises:
        InputError: If it is one.
    """
    foreign = _foreign(randomizer)
    if foreign is not None or not isinstance(randomizer, Randomizer):
        kind = type(randomizer)
        what = f"the class {randomizer.__name__}" if isinstance(randomizer, type) else f"a value of {kind}"
        part = "" if foreign in (None, kind) else f" with a part of type {foreign.__name__}"
        raise InputError(
            f"{what}{part} is no kind of mechanism of which anything can be proved.",
            python("pass a Mechanism, a Tupling, a CoordinateNoise or a family of sfumato.mechanisms."),
        )


def _foreign(value: Any) -> type | None:
    """Return the type of a value, or of the first of its parts, that is not this package's own."""
    kind = type(value)
    module = kind.__module__
    own = module.partition(".")[0] == _OWN
    exact = value is None or getattr(sys.modules.get(module), kind.__name__, None) is kind
    if not (exact and (own or module in _PLAIN)):
        return kind
    parts: Iterable[Any] = ()
    if kind is tuple:
        parts = value if set(map(type, value)) - _NUMBERS_AND_TEXTS else ()
    elif own and is_dataclass(kind):
        stored = (each.name for each in fields(kind) if not isinstance(getattr(kind, each.name, None), _COMPUTED))
        parts = (getattr(value, name, None) for name in stored if name != "labels")
    return next((found for found in map(_foreign, parts) if found is not None), None)
