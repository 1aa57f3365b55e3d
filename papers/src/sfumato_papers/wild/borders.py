"""Borders of cells: two people a metre apart, and walks on which a report changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.errors import InputError, argument
from sfumato.geo import Grid, Projection
from sfumato.privacy import MetricDifferentialPrivacy

from .attack_errors import median_and_shares
from .channels import DriftingOffset, FixedCells, WildChannel, directions
from .radial import CertifiedNoise

_APART_M: Final = 1.0
_PLANE: Final = Projection(40.0, -30.0).crs


@dataclass(frozen=True, slots=True)
class BorderRow:
    """The epsilons per km of one report about two people a metre apart; those of certified noise are proved."""

    scheme: str
    same_cell_epsilon: float
    border_epsilon: float
    certified_epsilon: float
    certified_factor: float


def at_border(key: str, cells: FixedCells) -> BorderRow:
    """Return the audited epsilons of fixed cells for two people a metre apart."""
    found = []
    for middle in (cells.width_m / 2, 0.0):  # inside a cell, and at its border
        two = Grid(2, 1, (_APART_M, _APART_M), (middle - _APART_M, cells.height_m / 2), _PLANE)
        notion = MetricDifferentialPrivacy(two.metric("euclidean", unit="km"))
        found.append(float(notion.measure(cells.moved((0.0, 0.0)).mechanism(two)).value))
    proof = CertifiedNoise.of_mean(cells.mean_m, renewed=False).proof
    return BorderRow(key, found[0], found[1], proof.upper, float(proof.factor(_APART_M)))


class Crossings(NamedTuple):
    """Errors at the first change of a report, across the border and along the road, and the share of walks."""

    across_m: Floats
    on_road_m: Floats
    share: float


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


def crossings(channel: WildChannel, walks_m: Floats, generator: np.random.Generator) -> Crossings:
    """Return the errors of an attacker who places walkers half a step beyond the border of the first change.

    Source:
        M. Thomson in mozilla/standards-positions 1193, and draft-thomson-geopriv-location-obscuring-03, 2011.
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
    return Crossings(across, on_road, len(crossed) / len(walks_m))


def averaged_on_road(
    channel: WildChannel, walks_m: Floats, reports: int, generator: np.random.Generator
) -> Floats:
    """Return the errors along the road of an attacker who knows road and pace and averages reports."""
    direction = walks_m[:, -1] - walks_m[:, 0]
    direction /= np.hypot(*direction.T)[:, None]
    used = walks_m[:, :reports]
    off = (channel.along(used, generator) - used).mean(axis=1)
    errors: Floats = np.abs((off * direction).sum(axis=1))
    return errors


@dataclass(frozen=True, slots=True)
class CrossingRow:
    """Errors of an attacker who watches walks, in one run: medians, and shares along the road."""

    scheme: str
    mechanism: str
    step_m: float
    seed: int
    walks: int
    crossed: float
    across_m: float
    on_road_m: float
    within_50: float
    within_100: float
    within_200: float


def walk_errors(
    scheme: str, mechanism: str, channel: WildChannel, step_m: float, seed: int, walks: int, length_m: float
) -> CrossingRow:
    """Return the errors of attackers who wait for the first change of a cell, or average the noise of a walk."""
    generator = np.random.default_rng(seed)
    paths = straight_walks(walks, length_m, step_m, 100 * channel.mean_m, generator)
    if isinstance(channel, FixedCells | DriftingOffset):
        found = crossings(channel, paths, generator)
        across, errors, share = float(np.median(found.across_m)), found.on_road_m, found.share
    else:
        reports = paths.shape[1] if channel.independent else 1
        across, errors, share = np.nan, averaged_on_road(channel, paths, reports, generator), 1.0
    return CrossingRow(scheme, mechanism, step_m, seed, walks, share, across, *median_and_shares(errors))
