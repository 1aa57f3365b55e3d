"""Borders of cells: two people a metre apart, and walks on which a report changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.errors import InputError, argument
from sfumato.geo import Grid, Projection
from sfumato.privacy import MetricDifferentialPrivacy

from .channels import FixedCells, WildChannel, directions
from .radial import CertifiedNoise

_APART_M: Final = 1.0
_PLANE: Final = Projection(40.0, -30.0).crs


@dataclass(frozen=True, slots=True)
class BorderRow:
    """Epsilons per km of one report about two people a metre apart, and the proved factor of certified noise."""

    scheme: str
    same_cell_epsilon: float
    border_epsilon: float
    certified_factor: float


def at_border(key: str, cells: FixedCells) -> BorderRow:
    """Return the audited epsilons of fixed cells for two people a metre apart."""
    aligned, found = replace(cells, origin_m=(0.0, 0.0)), []
    for middle in (cells.width_m / 2, 0.0):  # inside a cell, and at its border
        two = Grid(2, 1, (_APART_M, _APART_M), (middle - _APART_M, cells.height_m / 2), _PLANE)
        notion = MetricDifferentialPrivacy(two.metric("euclidean", unit="km"))
        found.append(float(notion.measure(aligned.mechanism(two)).value))
    proof = CertifiedNoise.of_mean(cells.mean_m, renewed=False).proof
    return BorderRow(key, found[0], found[1], float(proof.factor(_APART_M)))


def straight_walks(
    count: int, length_m: float, step_m: float, around_m: float, generator: np.random.Generator
) -> Floats:
    """Return straight walks in uniform directions from uniform places, array (count, steps, 2)."""
    if not 0 < step_m < length_m:
        raise InputError(
            f"a walk of {length_m:g} m in steps of {step_m:g} m makes no two reports.",
            f"use a longer walk or {argument('step_m', 100)}.",
        )
    begin = generator.uniform(0, around_m, (count, 1, 2))
    way = directions(count, generator)[:, None, :]
    walks: Floats = begin + np.arange(0, length_m + step_m / 2, step_m)[None, :, None] * way
    return walks


def crossings(channel: WildChannel, walks_m: Floats, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the errors across the border and along the road, of walks on which a report changes.

    The attacker places walkers half a step beyond the border of the first change: see M. Thomson in
    mozilla/standards-positions 1193, and draft-thomson-geopriv-location-obscuring-03, 2011.
    """
    reports = channel.along(walks_m, generator)
    changed = (reports[:, 1:] != reports[:, :-1]).any(axis=2)
    crossed = np.flatnonzero(changed.any(axis=1))
    after = changed[crossed].argmax(axis=1) + 1
    old, new = reports[crossed, after - 1], reports[crossed, after]
    here, before = walks_m[crossed, after], walks_m[crossed, after - 1]
    apart = new - old
    # Of a corner that is cut in one step, the border across the larger move counts.
    normal = np.where(np.abs(apart) == np.abs(apart).max(axis=1, keepdims=True), np.sign(apart), 0.0)
    normal[(np.abs(normal).sum(axis=1) > 1), 1] = 0.0
    border = ((old + new) / 2 * np.abs(normal)).sum(axis=1)
    place = (here * np.abs(normal)).sum(axis=1)
    move = here - before
    pace = (move * np.abs(normal)).sum(axis=1)
    across = np.abs((place - border) * np.sign(pace) - np.abs(pace) / 2)
    with np.errstate(divide="ignore"):
        on_road = across * np.hypot(*move.T) / np.abs(pace)
    return across, on_road


@dataclass(frozen=True, slots=True)
class CrossingRow:
    """The median error along the road of an attacker who waits for the first change of a cell, in one run."""

    scheme: str
    step_m: float
    seed: int
    walks: int
    on_road_m: float


def walk_errors(
    scheme: str, channel: WildChannel, step_m: float, seed: int, walks: int, length_m: float
) -> CrossingRow:
    """Return the error of an attacker who watches straight walks."""
    generator = np.random.default_rng(seed)
    paths = straight_walks(walks, length_m, step_m, 100 * channel.mean_m, generator)
    _, errors = crossings(channel, paths, generator)
    return CrossingRow(scheme, step_m, seed, walks, float(np.median(errors)))
