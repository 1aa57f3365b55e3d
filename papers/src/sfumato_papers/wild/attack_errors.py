"""Errors of attackers after 1, 10 and 100 reports, under a scheme and its certified counterpart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from sfumato.core import Bracket
from sfumato.core.arrays import Floats
from sfumato.errors import DataError, InputError
from sfumato.geo import Projection, Visits

from ..reproduction import interval
from ..results import RunTables, where
from .attack import PeopleMap, best_guesses
from .channels import DriftingOffset, FixedCells, WildChannel
from .radial import CertifiedNoise

AS_DOCUMENTED: Final = "as documented"
REMEMBERED: Final = "certified, place remembered"
FRESH: Final = "certified, fresh each time"
MECHANISMS: Final = (AS_DOCUMENTED, REMEMBERED, FRESH)
ALONE: Final = "reports alone"
KNOWS: Final = "knows where people go"
REPORTS: Final = (1, 10, 100)

_HALF_M: Final = 6_000.0  # of the square around the middle of the visits
_ATTACKED_SHARE: Final = 0.2  # of the users, whose places are attacked
_FEWEST: Final = 50  # visits


@dataclass(frozen=True, slots=True)
class FoundRow:
    """Errors of an attacker in one run; loss is the mean distance from true point to report."""

    scheme: str
    mechanism: str
    attacker: str
    city: str
    reports: int
    seed: int
    people: int
    median_m: float
    mean_m: float
    within_100: float
    loss_m: float
    epsilon_per_km: float


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Errors of an attack in one run, after some tracks of a home or questions about a person."""

    scheme: str
    mechanism: str
    attack: str
    count: int
    seed: int
    people: int
    median_m: float
    within_50: float
    within_100: float

    @classmethod
    def of(cls, scheme: str, mechanism: str, attack: str, count: int, seed: int, misses_m: Floats) -> ErrorRow:
        """Return the row of the guesses that miss by some vectors, array (people, 2)."""
        errors = np.hypot(*misses_m.T)
        near, nearer = (float((errors <= limit).mean()) for limit in (50, 100))
        return cls(scheme, mechanism, attack, count, seed, len(errors), float(np.median(errors)), near, nearer)


class AttackedTown(NamedTuple):
    """A town: where the attacker knows that people go, and the visits of others, array (n, 2)."""

    name: str
    people: PeopleMap
    truths_m: Floats


def town_of(name: str, visits: Visits) -> AttackedTown:
    """Return the middle of a town, with the visits of a fifth of the users set apart."""
    middle = Projection(float(np.median(visits.lat)), float(np.median(visits.lon)))
    points = middle.forward(visits.lat, visits.lon)
    inside = np.logical_and.reduce(np.abs(points) <= _HALF_M, axis=1)
    if inside.sum() < _FEWEST:
        raise DataError(
            f"{name}: {int(inside.sum())} visits are within 6 km of the middle.", "give more visits of one town."
        )
    known, apart = (middle.forward(part.lat, part.lon) for part in visits.select(inside).held_out(_ATTACKED_SHARE))
    return AttackedTown(name, PeopleMap.of(known), apart)


def scheme_errors(
    key: str,
    channel: WildChannel,
    town: AttackedTown,
    seed: int,
    *,
    alone: int,
    knowing: int,
    reports: Sequence[int] = REPORTS,
) -> list[FoundRow]:
    """Return errors under a channel and under certified noise of the same average distance.

    Each seed moves the borders of cells. Its true points are the same for all schemes and mechanisms.
    """
    counts = list(reports)
    if not counts or counts[0] < 1 or sorted(set(counts)) != counts:
        raise InputError(f"the numbers of reports {counts} do not rise from 1 or more.", "use (1, 10, 100).")
    own_stream = (seed, crc32(key.encode()))
    if isinstance(channel, FixedCells | DriftingOffset):
        origin = np.random.default_rng(own_stream).uniform(0, channel.sides_m).tolist()
        channel = replace(channel, origin_m=tuple(origin))
    spread = 100 * channel.mean_m * np.random.default_rng((seed, 0)).random((alone, 2))
    visitors = np.random.default_rng((seed, 1)).integers(len(town.truths_m), size=knowing)
    visited = town.truths_m[visitors]
    rows: list[FoundRow] = []
    for mechanism, noise in (
        (AS_DOCUMENTED, channel),
        (REMEMBERED, CertifiedNoise.of_mean(channel.mean_m, renewed=False)),
        (FRESH, CertifiedNoise.of_mean(channel.mean_m, renewed=True)),
    ):
        generator = np.random.default_rng((*own_stream, MECHANISMS.index(mechanism)))
        even = noise.reports(spread, counts[-1], generator)
        uneven = noise.reports(visited, counts[-1], generator)
        is_constant = (even == even[:, :1]).all() and (uneven == uneven[:, :1]).all()
        block: list[FoundRow] = []
        for count in counts:
            if is_constant and block:  # more of the same reveals nothing
                block += [replace(row, reports=count) for row in block if row.reports == counts[0]]
                continue
            epsilon = _epsilon(noise, count)
            if alone:
                guess = noise.guesses(even[:, :count])
                about = (key, mechanism, ALONE, "", count, seed)
                block.append(_row(about, spread, guess, guess, even[:, 0], epsilon))
            medians, modes = best_guesses(noise, uneven[:, :count], town.people)
            about = (key, mechanism, KNOWS, town.name, count, seed)
            block.append(_row(about, visited, medians, modes, uneven[:, 0], epsilon))
        rows += block
    return rows


def _row(
    about: tuple[str, str, str, str, int, int],
    truths: Floats,
    medians: Floats,
    modes: Floats,
    reports: Floats,
    epsilon: float,
) -> FoundRow:
    errors, misses, losses = (np.hypot(*(points - truths).T) for points in (medians, modes, reports))
    median, mean, loss = float(np.median(errors)), float(errors.mean()), float(losses.mean())
    return FoundRow(*about, len(truths), median, mean, float((misses <= 100).mean()), loss, epsilon)


def _epsilon(channel: WildChannel, count: int) -> float:
    """Return the epsilon of reports together, per km."""
    times = count if channel.independent else 1
    if isinstance(channel, CertifiedNoise):
        proof = channel.proof
        return times * proof.upper if proof.holds else math.inf
    return times * 1000 * channel.finite_epsilon


def over_seeds(rows: Iterable[object], column: str) -> Bracket:
    """Return the mean of a column over runs, and Student's interval of 95 % for it, at least 0."""
    mean = interval([getattr(row, column) for row in rows])
    return Bracket(max(mean.lower, 0.0), mean.value, mean.upper)


def shares(share: Bracket) -> str:
    """Return a measured share with its interval as text: ``8 % (5 to 12)``."""
    if share.lower == share.upper:  # the same in all runs
        return f"{100 * share.value:.0f} %"
    return f"{100 * share.value:.0f} % ({100 * share.lower:.0f} to {100 * min(share.upper, 1.0):.0f})"


def metres(size: Bracket | float) -> str:
    """Return a length in metres or kilometres as text, of a measured one with its interval."""
    if isinstance(size, Bracket):
        if not math.isfinite(size.upper) or size.value < 1:
            return metres(size.value)
        return f"{metres(size.value)} ({_bare(size.lower, size.value)} to {_bare(size.upper, size.value)})"
    if size < 1:
        return "less than 1 m"
    return f"{_bare(size, size)} {'km' if size >= 1000 else 'm'}"


def _bare(number: float, like: float) -> str:
    if like >= 1000:
        return f"{number / 1000:.2f}"
    return f"{number:.0f}" if like >= 10 else f"{number:.1f}"


@dataclass(frozen=True, slots=True)
class CloseRow:
    """Errors of an attacker: means over the runs, with intervals of 95 %."""

    scheme: str
    mechanism: str
    attacker: str
    city: str
    reports: int
    median_m: Bracket
    within_100: Bracket
    mean_m: float
    loss_m: float
    epsilon_per_km: float


def close_row(rows: Iterable[CloseRow], scheme: str, mechanism: str, attacker: str, reports: int) -> CloseRow:
    """Return the row of a scheme, mechanism, attacker and number of reports, in the first city."""
    return where(rows, scheme=scheme, mechanism=mechanism, attacker=attacker, reports=reports)[0]


def close_of(tables: RunTables) -> list[CloseRow]:
    """Return the means over runs, from their own table or that of the runs."""
    if "close" in tables:
        return tables.rows("close", CloseRow)
    return close_rows(tables.rows("found", FoundRow))


def close_rows(rows: Iterable[FoundRow]) -> list[CloseRow]:
    """Return means over runs, of each scheme, mechanism, attacker, city and number of reports."""
    runs: dict[tuple[str, str, str, str, int], list[FoundRow]] = {}
    for row in rows:
        runs.setdefault((row.scheme, row.mechanism, row.attacker, row.city, row.reports), []).append(row)
    means = []
    for about, group in runs.items():
        median, near, mean, loss = (
            over_seeds(group, column) for column in ("median_m", "within_100", "mean_m", "loss_m")
        )
        share = Bracket(near.lower, near.value, min(near.upper, 1.0))
        epsilon = max(row.epsilon_per_km for row in group)
        means.append(CloseRow(*about, median, share, mean.value, loss.value, epsilon))
    return means
