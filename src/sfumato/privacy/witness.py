"""Witnesses: the secrets, reports, priors and events that attain the value of a notion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..core import Space
from ..core.arrays import Floats
from ..core.frozen import Short
from ..core.naming import label_phrase


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Witness(Short):
    """The secrets, reports and priors that attain a value; parts that do not apply are None or empty.

    Attributes:
        pair: Positions of two secrets, or of two distributions of a family.
        outputs: Positions of the observables, one or a set.
        prior: The prior, array (n,).
        event: Positions of the secrets in the event whose probability changes most.
        note: Anything else that is needed to check it, in words.
        names: The names of the two of the pair, where they are not secrets.
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
            first, second = self.names or tuple(label_phrase(secrets.labels[each]) for each in self.pair)
            parts.append(f"{first} against {second}")
        if self.event is not None:
            parts.append(f"the event {_listed(secrets, self.event)}")
        if len(self.outputs):
            word = "report" if len(self.outputs) == 1 else "reports"
            parts.append(f"{word} {_listed(observables, self.outputs)}")
        if self.note:
            parts.append(self.note)
        return ", ".join(parts)


def _listed(space: Space, positions: NDArray[np.intp], most: int = 6) -> str:
    names = [label_phrase(space.labels[int(position)]) for position in positions[:most]]
    if len(positions) > most:
        names.append(f"... ({len(positions)} in all)")
    return "{" + ", ".join(names) + "}" if len(positions) > 1 else names[0]
