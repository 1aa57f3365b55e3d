"""Repeated releases: an attacker's error after t reports of one place, with fresh noise and with a memo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.attacks import blind
from sfumato.core import Mechanism, Prior
from sfumato.errors import DataError
from sfumato.geo import Grid, Region, Visits
from sfumato.ledgers import Scheme, averaging_errors, errors_after
from sfumato.mechanisms import planar_geometric
from sfumato.reports.theme import LIGHT, blank
from sfumato.rounding import about, amount, at_most

from ..curve_labels import label_curve
from ..reproduction import Paper, PaperClaim, RunTables, Setting, StudyPart, Tables, equations, follows, remark
from ..results import where

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_TABLE: Final = "repeated-releases"
_EPSILON: Final = "2/km"
_CLOSE: Final = 1e-6  # relative, of errors that are summed in floats
REPORTS: Final = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
FRESH: Final = "fresh noise each time"
MEMO: Final = "one report, kept as a memo"
BOTH: Final = "fresh noise on a memo"
_COLOURS: Final = {FRESH: LIGHT.series[1], MEMO: LIGHT.series[0], BOTH: LIGHT.series[2]}


@dataclass(frozen=True, slots=True)
class RepeatedRow:
    """The attackers' errors and the proved epsilon after some reports; ends of intervals where simulated."""

    scheme: str
    reports: int
    error_m: float
    lower_m: float
    upper_m: float
    exact: bool
    averaging_error_m: float
    epsilon_upper_per_km: float
    averaging_lower_m: float
    averaging_upper_m: float
    blind_error_m: float


def repetition(
    mechanism: Mechanism, prior: Prior, reports: Sequence[int] = REPORTS, *, trials: int = 2_000, seed: int = 1
) -> list[RepeatedRow]:
    """Return what t reports of one place reveal to the best attack and to averaging, for three ways to repeat."""
    metric, per_km = (mechanism.secrets.metric("euclidean", unit=unit) for unit in ("m", "km"))
    blind_error = blind(prior, metric).error
    rows = []
    for name, scheme in (
        (FRESH, Scheme.fresh(mechanism)),
        (MEMO, Scheme.memo(mechanism)),
        (BOTH, Scheme(mechanism, mechanism)),
    ):
        best = errors_after(scheme, prior, metric, reports, trials=trials, seed=seed)
        mean = averaging_errors(scheme, prior, reports, trials=trials, seed=seed)
        ends = (best.error, best.lower, best.upper, mean.error, mean.lower, mean.upper)
        for t, exact, error, lower, upper, average, average_lower, average_upper in zip(
            best.reports, best.exact, *(column.tolist() for column in ends), strict=True
        ):
            epsilon = scheme.epsilon_upper(per_km, t)
            averages = (average, epsilon, average_lower, average_upper)
            rows.append(RepeatedRow(name, t, error, lower, upper, exact, *averages, blind_error))
    return rows


def _parts(setting: Setting) -> Sequence[StudyPart]:
    """Return the study of the person with most visits, on a map around their median."""
    cell, trials, most = ("1 km", 1_000, 100) if setting.quick else ("500 m", 2_000, max(REPORTS))
    reports = tuple(count for count in REPORTS if count <= most)
    (name, visits), *_ = setting.data.items()
    person = next(iter(visits.users()), None) if visits.user is not None else None
    if person is None:
        raise DataError(
            f"the visits {name!r} have no users.", "give visits with a column that says whose each is."
        )
    user_visits = visits.of_user(person)
    region = f"8 km x 6 km around {np.median(user_visits.lat):.5f},{np.median(user_visits.lon):.5f}"
    return [StudyPart(f"reports of {name}", _repeat, (user_visits, region, cell, reports, trials))]


def _repeat(visits: Visits, region: str, cell: str, reports: tuple[int, ...], trials: int) -> Tables:
    grid = Grid.covering(region, cell=cell)
    prior = Prior.from_visits(grid, visits.inside(Region.parse(region)))
    return {_TABLE: repetition(planar_geometric(grid, _EPSILON), prior, reports, trials=trials)}


def _claims(tables: RunTables) -> Sequence[PaperClaim]:
    rows = tables.rows(_TABLE, RepeatedRow)
    fresh, memo, both = (where(rows, scheme=name) for name in (FRESH, MEMO, BOTH))
    once, last = fresh[0], fresh[-1]
    return [
        follows(
            "Composition",
            "Fresh reports of one place add up: t of them cost t times epsilon.",
            all(_is_close(row.epsilon_upper_per_km, row.reports * once.epsilon_upper_per_km) for row in fresh),
            f"One report costs {at_most(once.epsilon_upper_per_km)}/km, {last.reports} cost "
            f"{at_most(last.epsilon_upper_per_km)}/km, proved on the integers of the mechanism.",
        ),
        follows(
            "A memo",
            "One stored report costs one epsilon and reveals no more, however often it is repeated.",
            all(
                _is_close(row.epsilon_upper_per_km, memo[0].epsilon_upper_per_km)
                and _is_close(row.error_m, memo[0].error_m)
                for row in memo
            ),
            f"The best attacker's error after {memo[-1].reports} reports is {_metres(memo[-1].error_m)}, as after "
            f"one, and {at_most(memo[-1].epsilon_upper_per_km)}/km is spent.",
            is_ours=True,
        ),
        follows(
            "RAPPOR (Erlingsson, Pihur and Korolova 2014), section not known",
            "Fresh noise on a memo never reveals more than the memo.",
            all(row.upper_m >= memo[0].error_m * (1 - _CLOSE) for row in both)
            and all(row.epsilon_upper_per_km <= memo[0].epsilon_upper_per_km * (1 + _CLOSE) for row in both),
            f"The best attacker's error is {_metres(both[0].error_m)} after one report and {_error_of(both[-1])} "
            f"after {both[-1].reports}, against {_metres(memo[0].error_m)} for the memo itself.",
        ),
        remark(
            "Averaging",
            "Fresh noise wears off: the attacker's error after many reports is smaller than after one.",
            last.upper_m < once.lower_m,
            f"The best attacker's error is {_metres(once.blind_error_m)} without a report, "
            f"{_metres(once.error_m)} after one and {_error_of(last)} after {last.reports}.",
        ),
        remark(
            "Averaging",
            "The mean of the reports needs no knowledge of the person, and comes closer with each fresh report.",
            last.averaging_upper_m < once.averaging_lower_m
            and memo[-1].averaging_upper_m > once.averaging_lower_m,
            f"It is {_metres(once.averaging_error_m)} off after one report and {_metres(last.averaging_error_m)} "
            f"after {last.reports}; of a memo it stays {_metres(memo[-1].averaging_error_m)} off.",
        ),
    ]


def _is_close(first: float, second: float) -> bool:
    return abs(first - second) <= _CLOSE * abs(second)


def _metres(value: float) -> str:
    return amount(value, "m")


def _error_of(row: RepeatedRow) -> str:
    if row.exact:
        return _metres(row.error_m)
    return f"{_metres(row.error_m)} (simulated: {about(row.lower_m, 3)} to {about(row.upper_m, 3)} m)"


def repeated_figure(rows: Sequence[RepeatedRow]) -> Figure:
    """Return the errors and the proved epsilon against the number of reports; bands are intervals."""
    figure = blank(6.2, 6.6)
    from matplotlib.ticker import LogLocator

    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    schemes = {name: where(rows, scheme=name) for name in _COLOURS}
    for scheme, prefix, style, name, at, offset, align in (
        (FRESH, "", "-", FRESH, -1, (0, 9), "right"),
        (MEMO, "", "-", MEMO, -1, (0, -9), "right"),
        (BOTH, "", "-", BOTH, -1, (0, 10), "right"),
        (FRESH, "averaging_", ":", f"mean of the reports, {FRESH}", 1, (9, 5), "left"),
    ):
        subset, colour = schemes[scheme], _COLOURS[scheme]
        error, low, high = (
            [getattr(row, f"{prefix}{field}_m") / 1000 for row in subset] for field in ("error", "lower", "upper")
        )
        reports = [row.reports for row in subset]
        upper.plot(reports, error, style, color=colour, marker="o", markersize=3)
        upper.fill_between(reports, low, high, color=colour, alpha=0.15, linewidth=0)
        label_curve(upper, (reports[at], error[at]), name, colour, offset, align)
    baseline = amount(rows[0].blind_error_m, "m")
    upper.set(ylim=(0, None), ylabel="attacker's expected error (km)", title=f"error without a report: {baseline}")
    for name, subset in schemes.items():
        curve = [row.reports for row in subset], [row.epsilon_upper_per_km for row in subset]
        lower.plot(*curve, color=_COLOURS[name], linestyle=(0, (4, 4)) if name == BOTH else "-", linewidth=2)
        if name != BOTH:
            caption = (FRESH, (-12, 0)) if name == FRESH else (f"{MEMO}, or {BOTH}", (0, 9))
            label_curve(lower, (curve[0][-1], curve[1][-1]), caption[0], _COLOURS[name], caption[1], "right")
    lower.set(yscale="log", ylabel="proved epsilon in all (per km)")
    lower.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    lower.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_minor_formatter("")
    for ax in (upper, lower):
        ax.set(xscale="log", xlabel="reports of the same place")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    return figure


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
    figures=lambda tables: {_TABLE: repeated_figure(tables.rows(_TABLE, RepeatedRow))},
    captions={
        _TABLE: "Above: the error of the best attacker (lines) and of the mean of fresh reports (dotted), against "
        "the number of reports. Below: the proved epsilon of all reports."
    },
    equations=equations(
        ("Composition", "epsilon of t reports", "sf.ledgers.Scheme", _TABLE),
        ("Attack", "t reports of one place", "sf.ledgers.errors_after", _TABLE),
        ("Averaging", "the mean of the reports", "sf.ledgers.averaging_errors", _TABLE),
        ("RAPPOR", "a memo, and noise on it", "sf.ledgers.Scheme", _TABLE),
    ),
    minutes=4,
)
