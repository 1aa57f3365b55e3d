"""Repeated releases: an attacker's error after t reports of one place, with fresh noise and with a memo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sfumato.attacks import blind
from sfumato.core import Mechanism, Prior
from sfumato.ledgers import Scheme, averaging_errors, errors_after
from sfumato.reports.theme import LIGHT, blank
from sfumato.rounding import amount

from ..curve_labels import label_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    unseen = blind(prior, metric).error
    rows = []
    for name, scheme in (
        (FRESH, Scheme.fresh(mechanism)),
        (MEMO, Scheme.memo(mechanism)),
        (BOTH, Scheme(mechanism, mechanism)),
    ):
        best = errors_after(scheme, prior, metric, reports, trials=trials, seed=seed)
        mean = averaging_errors(scheme, prior, reports, trials=trials, seed=seed)
        for place, t in enumerate(best.reports):
            row = RepeatedRow(
                scheme=name,
                reports=t,
                error_m=float(best.error[place]),
                lower_m=float(best.lower[place]),
                upper_m=float(best.upper[place]),
                exact=best.exact[place],
                averaging_error_m=float(mean.error[place]),
                epsilon_upper_per_km=scheme.epsilon_upper(per_km, t),
                averaging_lower_m=float(mean.lower[place]),
                averaging_upper_m=float(mean.upper[place]),
                blind_error_m=unseen,
            )
            rows.append(row)
    return rows


def repeated_figure(rows: Sequence[RepeatedRow]) -> Figure:
    """Return the errors and the proved epsilon against the number of reports; bands are intervals."""
    figure = blank(6.2, 6.6)
    from matplotlib.ticker import LogLocator

    upper, lower = figure.subplots(2, 1, height_ratios=(3, 2))
    schemes = {row.scheme: [each for each in rows if each.scheme == row.scheme] for row in rows}
    for scheme, prefix, style, name, at, offset, align in (
        (FRESH, "", "-", FRESH, -1, (0, 9), "right"),
        (MEMO, "", "-", MEMO, -1, (0, -9), "right"),
        (BOTH, "", "-", BOTH, -1, (0, 10), "right"),
        (FRESH, "averaging_", ":", f"mean of the reports, {FRESH}", 1, (9, 5), "left"),
    ):
        mine, colour = schemes[scheme], _COLOURS[scheme]
        error, low, high = (
            [getattr(row, f"{prefix}{what}_m") / 1000 for row in mine] for what in ("error", "lower", "upper")
        )
        reports = [row.reports for row in mine]
        upper.plot(reports, error, style, color=colour, marker="o", markersize=3)
        upper.fill_between(reports, low, high, color=colour, alpha=0.15, linewidth=0)
        label_curve(upper, (reports[at], error[at]), name, colour, offset, align)
    unseen = amount(rows[0].blind_error_m, "m")
    upper.set(ylim=(0, None), ylabel="attacker's expected error (km)", title=f"error without a report: {unseen}")
    for name, mine in schemes.items():
        spent = [row.reports for row in mine], [row.epsilon_upper_per_km for row in mine]
        lower.plot(*spent, color=_COLOURS[name], linestyle=(0, (4, 4)) if name == BOTH else "-", linewidth=2)
        if name != BOTH:
            shown = (FRESH, (-12, 0)) if name == FRESH else (f"{MEMO}, or {BOTH}", (0, 9))
            label_curve(lower, (spent[0][-1], spent[1][-1]), shown[0], _COLOURS[name], shown[1], "right")
    lower.set(yscale="log", ylabel="proved epsilon in all (per km)")
    lower.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    lower.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_minor_formatter("")
    for ax in (upper, lower):
        ax.set(xscale="log", xlabel="reports of the same place")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    return figure
