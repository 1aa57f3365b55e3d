"""The recipe of a tuple: the true report at a uniformly random place among dummies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...sampling import Integers, Recipe, Row, Words
from ...sampling.coins import below


@dataclass(frozen=True, slots=True)
class AmongDummies(Recipe):
    """Draw a dummy for every place, then put the true report at a uniformly random one.

    Report and dummies have the probabilities of their integers exactly, and the true
    report's place is exactly uniform. Dummies being independent and alike, a tuple and any
    permutation of it are then equally likely: the order tells nothing. Whatever the
    secret is, equally much is drawn and done.

    Attributes:
        report: How the true report is drawn.
        dummy: How a dummy is drawn: a mechanism of one secret.
        places: The number k + 1 of places.

    Source:
        Kawamoto and Murakami, ESORICS 2019, algorithm 1; docs/proofs/tupling.md.
    """

    report: Row
    dummy: Row
    places: int

    @property
    def secrets(self) -> int:
        """As many as the inner mechanism has."""
        return self.report.secrets

    @property
    def shape(self) -> tuple[int, ...]:
        """K + 1 positions of observables."""
        return (self.places,)

    def draw(self, rows: Integers, words: Words) -> NDArray[np.intp]:
        """Return one tuple for each row, array (count, k + 1)."""
        own, count = self.report.draw(rows, words), len(rows)
        # A dummy is drawn for every place, so that the true report's place is chosen by one index alone.
        dummies = self.dummy.draw(np.zeros(count * self.places, dtype=np.intp), words)
        tuples = dummies.reshape(count, self.places)
        tuples[np.arange(count), below(self.places, count, words)] = own
        return tuples
