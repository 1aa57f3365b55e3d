"""Files of noise for coordinates on the command line: the cells on which numbers are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..files import MechanismFile
    from ..geo import Visits
    from ..mechanisms.planar import Coarsening


def coarse_of(held: MechanismFile, visits: Visits | None = None, *, spread: bool = False) -> Coarsening:
    """Return the noise seen on the cells of the file's prior, or on about a hundred over its table or visits.

    Args:
        held: The file.
        visits: Where people are, for noise with a file that says nothing about that.
        spread: Spread people over their cell.
    """
    from ..geo import Grid
    from ..mechanisms.planar import coarsened

    if held.prior is None and held.mechanism.remap is None and visits is None:
        raise InputError(
            "the file says nothing about where people are: it holds neither a prior nor a table.",
            "make one from visits with sfumato design.",
        )
    cells = None if held.prior is None else held.prior.space
    if cells is None and held.mechanism.remap is None and visits is not None:
        region = visits.region(trim=0.02)
        cells = Grid.covering(visits, shape=region.shape_of(100), region=region)
    return coarsened(held.mechanism, cells, spread=spread)  # type: ignore[arg-type]
