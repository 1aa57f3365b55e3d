"""Means over the runs with their intervals, for figures, claims and the docs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sfumato.core import Bracket
from sfumato.core.immutable import CompactRepr

from ..reproduction.interval import interval
from .found import FoundRow


class _Run(Protocol):
    @property
    def seed(self) -> int: ...


_Row = TypeVar("_Row", bound=_Run)


def over_seeds(rows: Iterable[_Row], value: Callable[[_Row], float]) -> Bracket:
    """Return the mean over runs, and Student's interval of 95 % for it, at least 0.

    Args:
        rows: The rows of one quantity, one for each seed.
        value: What is averaged.
    """
    found = interval([value(row) for row in rows])
    return Bracket(max(found.lower, 0.0), found.value, found.upper)


def shares(found: Bracket) -> str:
    """Return a measured share with its interval as text: ``8 % (5 to 12)``."""
    if found.lower == found.upper:  # the same in all runs
        return f"{100 * found.value:.0f} %"
    return f"{100 * found.value:.0f} % ({100 * found.lower:.0f} to {100 * min(found.upper, 1.0):.0f})"


def metres(found: Bracket | float) -> str:
    """Return a length in metres or kilometres, of a measured one with its interval, as text."""
    if isinstance(found, Bracket):
        if not math.isfinite(found.upper) or found.value < 1:
            return metres(found.value)
        return f"{metres(found.value)} ({_bare(found.lower, found.value)} to {_bare(found.upper, found.value)})"
    if found < 1:
        return "less than 1 m"
    return f"{_bare(found, found)} {'km' if found >= 1000 else 'm'}"


def _bare(number: float, like: float) -> str:
    if like >= 1000:
        return f"{number / 1000:.2f}"
    return f"{number:.0f}" if like >= 10 else f"{number:.1f}"


@dataclass(frozen=True, slots=True, repr=False)
class CloseRow(CompactRepr):
    """Errors of an attacker, over the runs.

    Attributes:
        scheme: The scheme's key.
        mechanism: As documented, or certified.
        attacker: What they know.
        city: Whose visits say where people go; "" where nothing does.
        reports: How many reports they have.
        median_m: The mean over runs of the median error, metres.
        median_m_lower: The lower end of its interval of 95 %.
        median_m_upper: The upper end.
        mean_m: The mean over runs of the mean error, metres.
        within_50: The mean share found within 50 m.
        within_50_lower: The lower end of its interval of 95 %.
        within_50_upper: The upper end.
        within_100: The mean share found within 100 m.
        within_100_lower: The lower end of its interval.
        within_100_upper: The upper end.
        within_200: The mean share found within 200 m.
        within_200_lower: The lower end of its interval.
        within_200_upper: The upper end.
        loss_m: The mean distance from the attacked points to their first reports, metres.
        epsilon_per_km: What these reports keep together.
    """

    scheme: str
    mechanism: str
    attacker: str
    city: str
    reports: int
    median_m: float
    median_m_lower: float
    median_m_upper: float
    mean_m: float
    within_50: float
    within_50_lower: float
    within_50_upper: float
    within_100: float
    within_100_lower: float
    within_100_upper: float
    within_200: float
    within_200_lower: float
    within_200_upper: float
    loss_m: float
    epsilon_per_km: float

    @property
    def median(self) -> Bracket:
        """The median error with its interval, metres."""
        return Bracket(self.median_m_lower, self.median_m, self.median_m_upper)

    @property
    def near(self) -> Bracket:
        """The share found within 100 m, with its interval."""
        return Bracket(self.within_100_lower, self.within_100, self.within_100_upper)


def close_row(rows: Iterable[CloseRow], scheme: str, mechanism: str, attacker: str, reports: int) -> CloseRow:
    """Return the row of a scheme, mechanism, attacker and number of reports, of the first city that there is.

    Args:
        rows: Means over runs.
        scheme: The scheme's key.
        mechanism: As documented, or certified.
        attacker: What they know.
        reports: How many reports they have.
    """
    wanted = (scheme, mechanism, attacker, reports)
    return next(row for row in rows if (row.scheme, row.mechanism, row.attacker, row.reports) == wanted)


def close_rows(rows: Iterable[FoundRow]) -> list[CloseRow]:
    """Return means over runs, of each scheme, mechanism, attacker, city and number of reports.

    Args:
        rows: Of all runs.
    """
    runs: dict[tuple[str, str, str, str, int], list[FoundRow]] = {}
    for row in rows:
        runs.setdefault((row.scheme, row.mechanism, row.attacker, row.city, row.reports), []).append(row)
    found = []
    for about, own in runs.items():
        median = over_seeds(own, lambda row: row.median_m)
        near, nearer, nearest = (
            over_seeds(own, value)
            for value in (lambda row: row.within_50, lambda row: row.within_100, lambda row: row.within_200)
        )
        found.append(
            CloseRow(
                *about,
                median_m=median.value,
                median_m_lower=median.lower,
                median_m_upper=median.upper,
                mean_m=over_seeds(own, lambda row: row.mean_m).value,
                within_50=near.value,
                within_50_lower=near.lower,
                within_50_upper=min(near.upper, 1.0),
                within_100=nearer.value,
                within_100_lower=nearer.lower,
                within_100_upper=min(nearer.upper, 1.0),
                within_200=nearest.value,
                within_200_lower=nearest.lower,
                within_200_upper=min(nearest.upper, 1.0),
                loss_m=over_seeds(own, lambda row: row.loss_m).value,
                epsilon_per_km=max(row.epsilon_per_km for row in own),
            )
        )
    return found
