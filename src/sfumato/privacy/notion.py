"""What every notion of privacy can do: measure a mechanism, and say what a value means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, final

from ._channel import AnyMechanism
from .finding import Finding


class Notion(ABC):
    """A definition of privacy with one parameter left open, of which the least value is sought.

    A notion holds what else its definition needs (a relation on secrets, priors, a
    metric, an allowed delta) and measures any mechanism by it. Smaller values hide more.

    Attributes:
        key: The name by which the atlas knows the notion, such as ``"differential-privacy"``.
        title: Its name in texts.
        parameter: What the open parameter is called, such as ``"epsilon"``.
        source: Paper and definition.
    """

    __slots__ = ()

    key: ClassVar[str]
    title: ClassVar[str]
    parameter: ClassVar[str]
    source: ClassVar[str]

    @abstractmethod
    def measure(self, mechanism: AnyMechanism) -> Finding:
        """Return the least value of the parameter that the mechanism satisfies.

        Args:
            mechanism: A mechanism, or its array (secrets, observables).

        Raises:
            InputError: If the array is no mechanism, or sizes do not fit the notion's.
        """

    @abstractmethod
    def sentence(self, value: float) -> str:
        """Return what a mechanism of this value promises, in one or two plain sentences."""

    @final
    def holds(self, mechanism: AnyMechanism, value: float) -> bool:
        """Return whether the mechanism satisfies the notion at a value for certain, rounding included."""
        return self.measure(mechanism).upper <= value
