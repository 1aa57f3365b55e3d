"""Walks across borders: the moment at which a reported value changes, and what it shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError, argument

from .channel import WildChannel
from .drifting import DriftingOffset
from .fixed_cells import FixedCells
from .vocabulary import NEAR_M


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Crossings(CompactRepr):
    """Errors of an attacker at the first change of a reported value, for the walks that had one.

    Attributes:
        across_m: How far the walker is from the border that the attacker infers, array (n,), metres.
        on_road_m: The error along the road for one who knows road and pace, array (n,).
        share: The share of walks with a change.
    """

    across_m: Floats
    on_road_m: Floats
    share: float


def straight_walks(
    count: int, length_m: float, step_m: float, around_m: float, generator: np.random.Generator
) -> Floats:
    """Return straight walks in even directions from even places, array (count, steps, 2), metres.

    Args:
        count: How many.
        length_m: Of each walk.
        step_m: Between two reports.
        around_m: The side of the square in which they begin.
        generator: numpy's generator, seeded.

    Raises:
        InputError: If a walk has fewer than two reports.
    """
    if not 0 < step_m < length_m:
        raise InputError(
            f"a walk of {length_m:g} m in steps of {step_m:g} m makes no two reports.",
            f"use a longer walk or {argument('step_m', 100)}.",
        )
    begin = generator.uniform(0, around_m, (count, 1, 2))
    angle = generator.uniform(0, 2 * np.pi, count)
    direction = np.column_stack([np.cos(angle), np.sin(angle)])[:, None, :]
    walks: Floats = begin + np.arange(0, length_m + step_m / 2, step_m)[None, :, None] * direction
    return walks


def crossings(channel: WildChannel, walks_m: Floats, generator: np.random.Generator) -> Crossings:
    """Return what the first change of the report shows of walkers.

    The attacker takes the walker to be half a step beyond the border between the two reported cells, and takes
    any offset under the grid for none. Where they know the straight road that is walked, and the pace, that is a
    point: half a step after the road meets the border.

    Args:
        channel: A channel of cells.
        walks_m: Array (n, steps, 2), metres.
        generator: numpy's generator, seeded.

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
    half = np.abs(pace) / 2
    beyond = (place - border) * np.sign(pace)
    across = np.abs(beyond - half)
    with np.errstate(divide="ignore"):
        on_road = across * np.hypot(*move.T) / np.abs(pace)
    return Crossings(across, on_road, len(crossed) / len(walks_m))


def averaged_on_road(
    channel: WildChannel, walks_m: Floats, reports: int, generator: np.random.Generator
) -> Floats:
    """Return errors along the road, for an attacker who knows the road and the pace and averages reports.

    Args:
        channel: A channel of noise.
        walks_m: Array (n, steps, 2), metres.
        reports: How many are made, from the first step on.
        generator: numpy's generator, seeded.

    Returns:
        Array (n,), metres.
    """
    direction = walks_m[:, -1] - walks_m[:, 0]
    direction /= np.hypot(*direction.T)[:, None]
    used = walks_m[:, :reports]
    off = (channel.along(used, generator) - used).mean(axis=1)
    errors: Floats = np.abs((off * direction).sum(axis=1))
    return errors


@dataclass(frozen=True, slots=True, repr=False)
class CrossingRow(CompactRepr):
    """Errors of an attacker who watches walks, in one run.

    Attributes:
        scheme: The scheme's key.
        mechanism: As documented, or certified noise of the same average distance.
        step_m: Between two reports, metres.
        seed: Of the run.
        walks: How many walks there were.
        crossed: The share of walks in which the reported value changed.
        across_m: The median distance from the border that was inferred, metres; NaN for noise, which has none.
        on_road_m: The median error along the road for an attacker who knows the straight road that is walked.
        within_50: The share of those walks with an error along the road of at most 50 m.
        within_100: Of at most 100 m.
        within_200: Of at most 200 m.
    """

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


def walked(
    scheme: str, mechanism: str, channel: WildChannel, step_m: float, seed: int, walks: int, length_m: float
) -> CrossingRow:
    """Return what attackers find of people who walk straight on.

    Of cells they wait for the first change of the report. Of noise that is drawn for each report they average all
    of a walk, knowing the road and the pace; of noise that is not, there is one report for the walk.

    Args:
        scheme: The scheme's key.
        mechanism: Its name.
        channel: The channel.
        step_m: Between two reports, metres.
        seed: Of the study.
        walks: How many walks.
        length_m: Of each, metres.
    """
    generator = np.random.default_rng(seed)
    paths = straight_walks(walks, length_m, step_m, 100 * channel.mean_m, generator)
    if isinstance(channel, FixedCells | DriftingOffset):
        found = crossings(channel, paths, generator)
        across, errors, share = float(np.median(found.across_m)), found.on_road_m, found.share
    else:
        reports = paths.shape[1] if channel.independent else 1
        across, errors, share = np.nan, averaged_on_road(channel, paths, reports, generator), 1.0
    shares = [float((errors <= near).mean()) for near in NEAR_M]
    return CrossingRow(scheme, mechanism, step_m, seed, walks, share, across, float(np.median(errors)), *shares)
