"""Sizes: what is to be covered, and by how many cells or vertices, with what to choose where they are too many."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..core.units import show
from ..errors import InputError, argument
from .region import Region
from .visits import Visits

MOST_CELLS: Final = 10_000
"""A mechanism has a number for every pair of cells: 800 MB for 10,000 cells."""


def area_of(places: Visits | Region | str, region: Region | str | None) -> Region:
    """Return the region to cover: the one named, or that of the places."""
    chosen = places if region is None else region
    if isinstance(chosen, Visits):
        return chosen.region()
    return Region.parse(chosen) if isinstance(chosen, str) else chosen


def check_size(cells: float, region: Region, visits: Visits | None, by: str) -> None:
    """Refuse one cell, and more cells than a mechanism can have.

    Args:
        cells: How many there would be.
        region: What they cover.
        visits: The visits, where the region is theirs or they are to be inside.
        by: The argument that decides how many there are, with its function.

    Raises:
        InputError: With the size of the region and what to choose instead.
    """
    if cells <= 1:
        raise InputError(
            f"a region of {region.size} gives one cell, and a mechanism on one cell has nothing to hide.",
            f"choose smaller cells with {argument(by)}",
            f"choose a wider region with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
        )
    if cells <= MOST_CELLS:
        return
    width, height = region.size_m
    noun = "vertices" if by.startswith("Lattice") else "cells"
    hints = [f"choose fewer {noun} with {argument(by, _fewer(width, height, by))}{_least(width, height, by)}"]
    core = _core(cells, region, visits)
    if core is not None and not by.endswith("shape"):
        hints.append(
            f"keep to the middle with {argument('region', core)} ({core.size}), which leaves out up to 5 % of the "
            "visits on each side."
        )
    raise InputError(
        f"a region of {region.size} gives {cells:,.0f} {noun}, but at most {MOST_CELLS:,} are possible.", *hints
    )


def _fewer(width: float, height: float, by: str) -> object:
    """Return what to ask for to have some hundred cells over a rectangle in metres."""
    if by == "resolution":
        return ""
    side = max(width, height, (width * height) ** 0.5) / 30
    if by.endswith("shape"):
        return max(2, round(width / side)), max(1, round(height / side))
    digits = -int(np.floor(np.log10(side)))
    return show(float(np.ceil(side * 10.0**digits) / 10.0**digits), "m")


def _least(width: float, height: float, by: str) -> str:
    """Return the least spacing or cell that fits, in words."""
    if by == "resolution" or by.endswith("shape") or not width * height > 0:
        return ""
    side = (width * height / MOST_CELLS) ** 0.5
    while (width / side + 4) * (height / side + 4) > MOST_CELLS:
        side *= 1.02
    digits = 1 - int(np.floor(np.log10(side)))
    return f" ({show(float(np.ceil(side * 10.0**digits) / 10.0**digits), 'm')} is about the least that fits)"


def _core(cells: float, region: Region, visits: Visits | None) -> Region | None:
    """Return where most of the visits are, if the cells over it are few enough."""
    if visits is None or not (inside := region.contains(visits.lat, visits.lon)).any():
        return None
    core = visits.select(inside).region(trim=0.05)
    (width, height), (wide, high) = core.size_m, region.size_m
    left = cells * (width / wide) * (height / high)
    return core if 4 < left < MOST_CELLS / 2 else None
