"""Repeated releases as a study to reproduce: its parts, claims and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.core import Prior
from sfumato.errors import DataError
from sfumato.geo import Grid, Region, Visits
from sfumato.mechanisms import planar_geometric
from sfumato.rounding import about, amount, at_most

from ..reproduction import Equation, Made, Paper, PaperClaim, RunTables, Setting, StudyPart, follows, ours
from ..results import columns_of
from .study import BOTH, FRESH, MEMO, REPORTS, RepeatedRow, repeated_figure, repetition

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TABLE: Final = "repeated-releases"
_EPSILON: Final = "2/km"
_CLOSE: Final = 1e-6  # relative, of errors that are summed in floats


def _parts(setting: Setting) -> Sequence[StudyPart]:
    cell, trials, most = ("1 km", 1_000, 100) if setting.quick else ("500 m", 2_000, max(REPORTS))
    reports = tuple(count for count in REPORTS if count <= most)
    (name, visits), *_ = setting.data.items()
    own, region = _busiest(name, visits)
    return [StudyPart(f"reports of {name}", _repeated, (own, region, cell, reports, trials))]


def _busiest(name: str, visits: Visits) -> tuple[Visits, str]:
    """Return the visits of the person with most visits, and a map around their median."""
    person = next(iter(visits.users()), None) if visits.user is not None else None
    if person is None:
        raise DataError(
            f"the visits {name!r} have no users.", "give visits with a column that says whose each is."
        )
    own = visits.of_user(person)
    return own, f"8 km x 6 km around {np.median(own.lat):.5f},{np.median(own.lon):.5f}"


def _repeated(own: Visits, region: str, cell: str, reports: tuple[int, ...], trials: int) -> Made:
    grid = Grid.covering(region, cell=cell)
    prior = Prior.from_visits(grid, own.inside(Region.parse(region)))
    rows = repetition(planar_geometric(grid, _EPSILON), prior, reports, trials=trials)
    return {_TABLE: [columns_of(row) for row in rows]}


def _claims(tables: RunTables) -> Sequence[PaperClaim]:
    rows = {name: [row for row in tables.rows(_TABLE, RepeatedRow) if row.scheme == name] for name in _SCHEMES}
    fresh, memo, both = (rows[name] for name in _SCHEMES)
    once, last = fresh[0], fresh[-1]
    return [
        follows(
            "Composition",
            "Fresh reports of one place add up: t of them cost t times epsilon.",
            all(_same(row.epsilon_upper_per_km, row.reports * once.epsilon_upper_per_km) for row in fresh),
            f"One report costs {at_most(once.epsilon_upper_per_km)}/km, {last.reports} cost "
            f"{at_most(last.epsilon_upper_per_km)}/km, proved on the integers of the mechanism.",
        ),
        follows(
            "A memo",
            "One stored report costs one epsilon and reveals no more, however often it is repeated.",
            all(
                _same(row.epsilon_upper_per_km, memo[0].epsilon_upper_per_km)
                and _same(row.error_m, memo[0].error_m)
                for row in memo
            ),
            f"The best attacker's error after {memo[-1].reports} reports is {_metres(memo[-1].error_m)}, as after "
            f"one, and {at_most(memo[-1].epsilon_upper_per_km)}/km is spent.",
            own=True,
        ),
        follows(
            "RAPPOR (Erlingsson, Pihur and Korolova 2014), section not known",
            "Fresh noise on a memo never reveals more than the memo.",
            all(row.upper_m >= memo[0].error_m * (1 - _CLOSE) for row in both)
            and all(row.epsilon_upper_per_km <= memo[0].epsilon_upper_per_km * (1 + _CLOSE) for row in both),
            f"The best attacker's error is {_metres(both[0].error_m)} after one report and {_between(both[-1])} "
            f"after {both[-1].reports}, against {_metres(memo[0].error_m)} for the memo itself.",
        ),
        ours(
            "Averaging",
            "Fresh noise wears off: the attacker's error after many reports is smaller than after one.",
            last.upper_m < once.lower_m,
            f"The best attacker's error is {_metres(once.blind_error_m)} without a report, "
            f"{_metres(once.error_m)} after one and {_between(last)} after {last.reports}.",
        ),
        ours(
            "Averaging",
            "The mean of the reports needs no knowledge of the person, and comes closer with each fresh report.",
            last.averaging_upper_m < once.averaging_lower_m
            and memo[-1].averaging_upper_m > once.averaging_lower_m,
            f"It is {_metres(once.averaging_error_m)} off after one report and {_metres(last.averaging_error_m)} "
            f"after {last.reports}; of a memo it stays {_metres(memo[-1].averaging_error_m)} off.",
        ),
    ]


_SCHEMES: Final = (FRESH, MEMO, BOTH)


def _same(first: float, second: float) -> bool:
    return abs(first - second) <= _CLOSE * abs(second)


def _metres(value: float) -> str:
    return amount(value, "m")


def _between(row: RepeatedRow) -> str:
    if row.exact:
        return _metres(row.error_m)
    return f"{_metres(row.error_m)} (simulated: {about(row.lower_m, 3)} to {about(row.upper_m, 3)} m)"


def _figures(tables: RunTables) -> Mapping[str, Figure]:
    return {_TABLE: repeated_figure(tables.rows(_TABLE, RepeatedRow))}


PAPER: Final = Paper(
    name="repeated-releases",
    title="Repeated releases: what an attacker learns from many reports of one place",
    source="C. Dwork and A. Roth, 2014 (composition); U. Erlingsson, V. Pihur and A. Korolova, RAPPOR, CCS 2014 "
    "(memos, and noise on memos)",
    version="No text was available: the claims are known from summaries.",
    about=(
        "The person with most visits reports one place repeatedly through planar geometric noise of 2/km. "
        "The attacker knows how often the person is at each place. Errors are expected distances in metres. They "
        "are exact sums, or simulated for many reports, with intervals that hold for any number of trials.",
        "Only the first file is used.",
    ),
    parts=_parts,
    claims=_claims,
    figures=_figures,
    captions={
        _TABLE: "Above: the error of the best attacker (lines) and of the mean of fresh reports (dotted), against "
        "the number of reports. Below: the proved epsilon of all reports."
    },
    equations=(
        Equation("Composition", "epsilon of t reports", "sf.ledgers.Scheme", f"{_TABLE}.csv"),
        Equation("Attack", "t reports of one place", "sf.ledgers.errors_after", f"{_TABLE}.csv"),
        Equation("Averaging", "the mean of the reports", "sf.ledgers.averaging_errors", f"{_TABLE}.csv"),
        Equation("RAPPOR", "a memo, and noise on it", "sf.ledgers.Scheme", f"{_TABLE}.csv"),
    ),
    minutes=4,
)
