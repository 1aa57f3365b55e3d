"""Figure of the repeated releases: the attackers' errors and the epsilon spent, by the number of reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sfumato.reports.theme import LIGHT, blank
from sfumato.rounding import amount

from ..curve_labels import label_curve
from .study import BOTH, FRESH, MEMO, RepeatedReleasesResults, RepeatedRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS: Final = {FRESH: LIGHT.series[1], MEMO: LIGHT.series[0], BOTH: LIGHT.series[2]}
_METRES: Final = 1000.0


def figures(found: RepeatedReleasesResults) -> dict[str, Figure]:
    """Return the figure ``repeated-releases``: the errors and the proved epsilon against the number of reports.

    Args:
        found: What `study` or `repetition` returned.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    return {"repeated-releases": repeated_figure(found.rows)}


def repeated_figure(rows: Sequence[RepeatedRow]) -> Figure:
    """Return the same from the rows of the table. Bands are the intervals of simulated errors.

    The panels are one above the other, so that the figure can be read on a phone.

    Args:
        rows: At least one.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
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
            [getattr(row, f"{prefix}{what}_m") / _METRES for row in mine] for what in ("error", "lower", "upper")
        )
        reports = [row.reports for row in mine]
        upper.plot(reports, error, style, color=colour, marker="o", markersize=3)
        upper.fill_between(reports, low, high, color=colour, alpha=0.15, linewidth=0)
        label_curve(upper, (reports[at], error[at]), name, colour, offset, align)
    blind = amount(rows[0].blind_error_m, "m")
    upper.set(ylim=(0, None), ylabel="attacker's expected error (km)", title=f"error without a report: {blind}")
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
