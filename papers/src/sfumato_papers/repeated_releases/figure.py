"""Figure of the repeated releases: the attackers' errors and the epsilon spent, by the number of reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sfumato.reports.theme import LIGHT, blank

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
    figure = blank(5, 8.6)
    from matplotlib.ticker import LogLocator

    upper, lower = figure.subplots(2, 1)
    schemes = {row.scheme: [each for each in rows if each.scheme == row.scheme] for row in rows}
    for prefix, style, attack in (("", "-", "optimal attack"), ("averaging_", ":", "mean of the reports")):
        for name, mine in schemes.items():
            error, low, high = (
                [getattr(row, f"{prefix}{what}_m") / _METRES for row in mine]
                for what in ("error", "lower", "upper")
            )
            reports, colour = [row.reports for row in mine], _COLOURS[name]
            upper.plot(reports, error, style, color=colour, marker="o", markersize=3, label=f"{name}: {attack}")
            upper.fill_between(reports, low, high, color=colour, alpha=0.15, linewidth=0)
    blind = rows[0].blind_error_m / _METRES
    upper.axhline(blind, color=LIGHT.muted, linestyle="--", linewidth=1, label="without a report")
    upper.set(ylim=(0, None), ylabel="attacker's expected error (km)", title="what the attacker learns")
    for name, mine in schemes.items():
        dashes = (0, (4, 4)) if name == BOTH else "-"
        spent = [row.reports for row in mine], [row.epsilon_upper_per_km for row in mine]
        lower.plot(*spent, color=_COLOURS[name], linestyle=dashes, linewidth=2, label=name)
    lower.set(
        yscale="log", ylabel="proved epsilon of all reports (per km)", title="what is spent against any attacker"
    )
    lower.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    lower.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_minor_formatter("")
    upper.legend(fontsize=8.5, loc="upper center", bbox_to_anchor=(0.45, -0.16), frameon=False)
    lower.legend(fontsize=8.5, handlelength=3)
    for ax in (upper, lower):
        ax.set(xscale="log", xlabel="reports of the same place")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    return figure
