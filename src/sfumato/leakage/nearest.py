"""Shared by both sides of factorisation: how near they come, and what their programs may be."""

from __future__ import annotations

from typing import Final

from ..core import Bracket
from ..core.frozen import Short

MOST: Final = 4_000_000  # entries of a program that is quickly looked at
TOLERANCES: Final = {
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}  # HiGHS takes no less
NOISE: Final = 1e-12  # what a solver leaves of a zero
_CLOSE: Final = 1e-9  # a distance that floats do not tell from none


class Nearest(Short):
    """The channel that comes nearest to a mechanism, with the total variation that is left."""

    __slots__ = ()

    distance: Bracket

    @property
    def exact(self) -> bool:
        """Whether it makes the mechanism to the last of its integers."""
        return self.distance.upper == 0

    def __bool__(self) -> bool:
        """Whether it makes the mechanism within 1e-9 in total variation, which is proved."""
        return self.distance.upper <= _CLOSE
