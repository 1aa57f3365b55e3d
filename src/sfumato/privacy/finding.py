"""What measuring a mechanism under a notion found: a value, which side it is on, and who attains it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..core import Space
from ..core.arrays import Floats
from ..escaping import plain
from ..rounding import Logarithm, log_below

if TYPE_CHECKING:
    from .notion import Notion


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """What attains a value; whatever does not apply is None or empty.

    Attributes:
        pair: Positions of two secrets, or of two distributions of a family.
        outputs: Positions of the observables, one or a set.
        prior: The prior, array (n,).
        event: Positions of the secrets in the event whose probability changes most.
        note: What else is needed to check it, in words.
        names: What the two of the pair are called, where they are not secrets.
    """

    pair: tuple[int, int] | None = None
    outputs: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    prior: Floats | None = None
    event: NDArray[np.intp] | None = None
    note: str = ""
    names: tuple[str, str] | None = None

    def describe(self, secrets: Space, observables: Space) -> str:
        """Return the witness in words, with the labels of secrets and observables."""
        parts = []
        if self.pair is not None:
            first, second = self.names or tuple(secrets.labels[each] for each in self.pair)
            parts.append(f"{first} against {second}")
        if self.event is not None:
            parts.append(f"the event {_listed(secrets, self.event)}")
        if len(self.outputs):
            word = "report" if len(self.outputs) == 1 else "reports"
            parts.append(f"{word} {_listed(observables, self.outputs)}")
        if self.note:
            parts.append(self.note)
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finding:
    """The least value of a notion's parameter that a mechanism satisfies.

    Attributes:
        notion: The notion, with its relation, priors and fixed parameters.
        value: The least value, as floating point computed it; ``inf`` if none is enough.
        rounding: A bound of what floating point may have got wrong.
        witness: What attains the value.
        factor: e to the least value, where that is known as a fraction, of at least 1.
    """

    notion: Notion
    value: float
    rounding: float
    witness: Witness
    factor: Fraction | None = None

    @classmethod
    def of_factor(cls, notion: Notion, factor: Fraction, witness: Witness) -> Self:
        """Return the finding of an epsilon whose exponential is known."""
        value = Logarithm(factor)
        return cls(notion, float(value), value - log_below(factor), witness, factor)

    @property
    def upper(self) -> float:
        """A value that the mechanism satisfies for certain: rounded up, unless it is exact."""
        if self.factor is not None:
            return Logarithm(self.factor)
        exact = math.isinf(self.value) or self.rounding == 0
        return self.value if exact else math.nextafter(self.value + self.rounding, math.inf)

    @property
    def lower(self) -> float:
        """A value below which it fails for certain: rounded down, at least 0."""
        if self.factor is not None:
            return log_below(self.factor)
        if self.rounding == 0:
            return self.value
        if math.isinf(self.value):
            return 0.0 if math.isinf(self.rounding) else self.value
        return max(0.0, math.nextafter(self.value - self.rounding, -math.inf))

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        return self.notion.sentence(self.upper)

    def __repr__(self) -> str:
        return f"{self.notion.heading}: {self.notion.parameter} {self.value:.6g}"


def _listed(space: Space, positions: NDArray[np.intp], most: int = 6) -> str:
    names = [plain(space.labels[int(position)]) for position in positions[:most]]
    if len(positions) > most:
        names.append(f"... ({len(positions)} in all)")
    return "{" + ", ".join(names) + "}" if len(positions) > 1 else names[0]
