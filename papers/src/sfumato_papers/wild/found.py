"""Errors of attackers after 1, 10 and 100 reports, under a scheme and its certified counterpart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from zlib import crc32

import numpy as np

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError, InputError
from sfumato.geo import Projection, Visits

from .attack import believed, blind_guess
from .certified import CertifiedNoise
from .channel import WildChannel
from .drifting import DriftingOffset
from .fixed_cells import FixedCells
from .people import PeopleMap
from .vocabulary import ALONE, AS_DOCUMENTED, FRESH, KNOWS, MECHANISMS, NEAR_M, NO_REPORT, REMEMBERED, REPORTS

_HALF_M: Final = 6_000.0  # of the square around the middle of the visits
_HELD: Final = 0.2  # of the users, whose places are attacked
_FEWEST: Final = 50  # visits


@dataclass(frozen=True, slots=True, repr=False)
class FoundRow(CompactRepr):
    """Errors of an attacker in one run.

    Attributes:
        scheme: The scheme's key.
        mechanism: As documented, or one of the certified ones of the same average distance.
        attacker: What they know in addition to the reports and the law.
        city: Whose visits say where people go; "" where nothing does.
        reports: How many reports they have; 0 for none.
        seed: Of the run.
        people: How many true points were attacked.
        median_m: The median distance of their guess from the true point, metres.
        mean_m: The mean distance, metres.
        within_50: The share of true points within 50 m of where the attacker believes most to be near.
        within_100: Within 100 m.
        within_200: Within 200 m.
        loss_m: The mean distance from true point to report, of the guess where there is no report.
        epsilon_per_km: What the mechanism keeps for these reports together; proved of the certified ones.
    """

    scheme: str
    mechanism: str
    attacker: str
    city: str
    reports: int
    seed: int
    people: int
    median_m: float
    mean_m: float
    within_50: float
    within_100: float
    within_200: float
    loss_m: float
    epsilon_per_km: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttackedTown(CompactRepr):
    """A town: where people go, and the true points that are attacked.

    Attributes:
        name: Its name.
        people: What the attacker knows: where others went.
        truths_m: Visits of other people than those, array (n, 2), metres.
    """

    name: str
    people: PeopleMap
    truths_m: Floats


def town_of(name: str, visits: Visits) -> AttackedTown:
    """Return the middle of a town, with the places of a fifth of the users apart.

    Args:
        name: Its name.
        visits: Visits, best with users.

    Raises:
        DataError: If there are fewer than 50 visits in the middle.
    """
    middle = Projection(float(np.median(visits.lat)), float(np.median(visits.lon)))
    points = middle.forward(visits.lat, visits.lon)
    inside = np.logical_and.reduce(np.abs(points) <= _HALF_M, axis=1)
    if inside.sum() < _FEWEST:
        raise DataError(
            f"{name}: {int(inside.sum())} visits are within 6 km of the middle.", "give more visits of one town."
        )
    known, apart = visits.select(inside).held_out(_HELD)
    return AttackedTown(
        name,
        PeopleMap.of(middle.forward(known.lat, known.lon)),
        middle.forward(apart.lat, apart.lon),
    )


def measured(
    key: str,
    channel: WildChannel,
    town: AttackedTown,
    seed: int,
    *,
    alone: int,
    knowing: int,
    reports: Sequence[int] = REPORTS,
) -> list[FoundRow]:
    """Return how close attackers come under a channel and under certified noise of the same average distance.

    Borders of cells lie somewhere else for each seed. The true points of a seed are the same for all schemes and
    mechanisms; what is drawn for them is not.

    Args:
        key: Of the scheme.
        channel: The channel.
        town: Where people go.
        seed: Of the study.
        alone: How many true points, spread evenly, are attacked with the reports alone; may be 0.
        knowing: How many visits are attacked with knowledge of where people go.
        reports: The numbers of reports, rising.

    Raises:
        InputError: If the numbers of reports do not rise from 1 or more.
    """
    counts = list(reports)
    if not counts or counts[0] < 1 or sorted(set(counts)) != counts:
        raise InputError(f"the numbers of reports {counts} do not rise from 1 or more.", "use (1, 10, 100).")
    own_stream = (seed, crc32(key.encode()))
    if isinstance(channel, FixedCells | DriftingOffset):
        channel = channel.moved(tuple(np.random.default_rng(own_stream).uniform(0, _sides(channel)).tolist()))
    spread = 100 * channel.mean_m * np.random.default_rng((seed, 0)).random((alone, 2))
    visited = _visited(town, seed, knowing)
    rows: list[FoundRow] = []
    for mechanism, drawn in (
        (AS_DOCUMENTED, channel),
        (REMEMBERED, CertifiedNoise.of_mean(channel.mean_m, renewed=False)),
        (FRESH, CertifiedNoise.of_mean(channel.mean_m, renewed=True)),
    ):
        generator = np.random.default_rng((*own_stream, MECHANISMS.index(mechanism)))
        even = drawn.reports(spread, counts[-1], generator)
        uneven = drawn.reports(visited, counts[-1], generator)
        repeated = (even == even[:, :1]).all() and (uneven == uneven[:, :1]).all()
        own: list[FoundRow] = []
        for count in counts:
            if repeated and own:  # more of the same tells nothing
                own += [replace(row, reports=count) for row in own if row.reports == counts[0]]
                continue
            epsilon = _epsilon(drawn, count)
            if alone:
                guess = drawn.guesses(even[:, :count])
                about = (key, mechanism, ALONE, "", count, seed)
                own.append(_row(about, spread, guess, guess, even[:, 0], epsilon))
            best = believed(drawn, uneven[:, :count], town.people)
            about = (key, mechanism, KNOWS, town.name, count, seed)
            own.append(_row(about, visited, best.medians_m, best.likeliest_m, uneven[:, 0], epsilon))
        rows += own
    return rows


def unseen(town: AttackedTown, seed: int, knowing: int) -> list[FoundRow]:
    """Return the error of an attacker who knows where people go and has no report.

    Args:
        town: Where people go.
        seed: Of the study.
        knowing: How many visits are guessed.
    """
    visited = _visited(town, seed, knowing)
    guess = np.broadcast_to(blind_guess(town.people), visited.shape)
    densest = np.broadcast_to(town.people.densest_m, visited.shape)
    return [_row(("", NO_REPORT, KNOWS, town.name, 0, seed), visited, guess, densest, guess, 0.0)]


def _visited(town: AttackedTown, seed: int, count: int) -> Floats:
    """Return the visits that are attacked in a run, array (count, 2), metres."""
    return town.truths_m[np.random.default_rng((seed, 1)).integers(len(town.truths_m), size=count)]


def _row(
    about: tuple[str, str, str, str, int, int],
    truths: Floats,
    medians: Floats,
    likeliest: Floats,
    reports: Floats,
    epsilon: float,
) -> FoundRow:
    errors, misses = np.hypot(*(medians - truths).T), np.hypot(*(likeliest - truths).T)
    middle, mean = float(np.median(errors)), float(errors.mean())
    loss = float(np.hypot(*(reports - truths).T).mean())
    near, nearer, nearest = (float((misses <= limit).mean()) for limit in NEAR_M)
    return FoundRow(*about, len(truths), middle, mean, near, nearer, nearest, loss, epsilon)


def _epsilon(channel: WildChannel, count: int) -> float:
    """Return the epsilon of reports together, per km."""
    times = count if channel.independent else 1
    if isinstance(channel, CertifiedNoise):
        proof = channel.proof
        return times * proof.upper if proof.holds else math.inf
    return times * 1000 * channel.finite_epsilon


def _sides(channel: FixedCells | DriftingOffset) -> tuple[float, float]:
    if isinstance(channel, FixedCells):
        return channel.width_m, channel.height_m
    return channel.step_m, channel.step_m
