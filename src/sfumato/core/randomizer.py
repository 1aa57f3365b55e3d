"""The interfaces of mechanisms and of recipes, the exact ways in which reports are drawn."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, python
from .arrays import Floats
from .guarantees import AnyGuarantee
from .space import Space

if TYPE_CHECKING:
    from .mechanism import Mechanism

_PLAIN: Final = {"builtins", "numpy", "fractions", "decimal", "datetime"}
_NUMBERS_AND_TEXTS: Final = {int, float, str, bool}
_COMPUTED: Final = (property, cached_property)  # by the class itself, at some cost
_OWN: Final = __name__.partition(".")[0]
Integers = NDArray[np.signedinteger[Any]]
Uints = NDArray[np.uint64]


class Words(Protocol):
    """A source of independent, uniform 64-bit words."""

    def draw(self, count: int) -> Uints:
        """Return the next ``count`` words."""


class Recipe(ABC):
    """The exact way in which a report is drawn: integers, uniform choices and rational coins, no float."""

    __slots__ = ()

    rowwise: ClassVar[bool] = False
    """Whether rows draw the same words together as each alone (but for ties): see `KeyedWords`."""

    @property
    @abstractmethod
    def secrets(self) -> int | None:
        """Number of secrets, at positions 0, 1, ...; None where the secret is any integer."""

    @property
    def row(self) -> Recipe | None:
        """The `Row` that draws the true report, where reports are positions of its mechanism's observables."""
        return None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one report; () where it is a single number."""
        return ()

    @abstractmethod
    def draw(self, rows: Integers, words: Words) -> Integers:
        """Return one independent report for each secret, array (count, ...) of reports of shape `shape`.

        ``rows`` has positions of secrets, or the integers themselves, array (count,); it is not checked here.
        """


class PointRecipe(ABC):
    """The exact way in which a report is drawn for a point on the ground."""

    __slots__ = ()

    @abstractmethod
    def blurred(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Floats:
        """Return a report for each point in degrees: latitudes and longitudes, array (n, 2).

        With ``nearest`` points outside the region served move to its nearest point; otherwise they are an
        `InputError`.
        """

    @abstractmethod
    def blurred_one(self, lat: float, lon: float, words: Words, *, nearest: bool) -> tuple[float, float]:
        """Return a report for one point: latitude and longitude; see `blurred`."""


class Capability(Enum):
    """A thing that code may need of a mechanism; see `Randomizer.supports`."""

    MATRIX = "a matrix of finitely many secrets and reports"
    POINTS = "reports for points on the ground, without numbered secrets"
    NUMBERS = "reports for any whole number"
    TUPLES = "several observables in one report"


class Randomizer(ABC):
    """A local randomizer: a mechanism of any kind, with the guarantees that its maker states.

    It never proves them: `sfumato.proofs.prove` does, for the kinds that it knows. A `Randomizer` from elsewhere
    can be drawn from but not released.
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
        """Return the exact way in which a report is drawn; `InputError` if it is for studies only."""

    @abstractmethod
    def supports(self, capability: Capability) -> bool:
        """Return whether it has a capability."""

    def channel(self) -> Mechanism:
        """Return the mechanism from secrets to reports, its matrix in integers.

        Raises:
            InputError: If there is none, or it is too large to list.
        """
        raise InputError(
            f"{self!r} has no matrix of finitely many secrets and reports.",
            python("draw from it with sf.sampler, which needs none."),
        )


def is_known(value: Any) -> bool:
    """Return whether a mechanism and all of its parts are of exactly this package's own classes.

    A subclass, or a part of another class, may draw otherwise than the proof assumes. Labels may be of any class.
    """
    return _foreign(value) is None


def check_known(randomizer: Any) -> None:
    """Refuse a mechanism that is not this package's own (`InputError`), because nothing can be proved of it."""
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
    return next((part for part in map(_foreign, parts) if part is not None), None)
