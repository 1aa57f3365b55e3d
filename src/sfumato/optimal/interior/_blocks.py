"""Which factors a program's blocks get."""

from __future__ import annotations

from typing import Protocol

from ._arrays import Floats
from ._dense import DenseBlocks
from ._form import Form
from ._rows import Point, Rows
from ._sparse import BandedBlocks
from ._workers import Workers

SMALLEST = 384


class Blocks(Protocol):
    """What a Newton system needs of its blocks."""

    def factor(self, rows: Rows, point: Point, z: Floats) -> Floats:
        """Factor every block and return the Schur complement of the coupling rows."""
        ...

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return H_o^{-1} right_o as (rest, share): the solution is rest + share * u_o."""
        ...


def choose(form: Form, workers: Workers) -> Blocks:
    """Return factors near the diagonal for large blocks, dense ones else.

    Distortion rows fill the blocks, and smaller blocks gain nothing (measured at 196 secrets).
    """
    if form.guesses is None and form.size >= SMALLEST:
        return BandedBlocks(form, workers)
    return DenseBlocks(form, workers)
