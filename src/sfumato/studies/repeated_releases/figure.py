"""Figure of the repeated releases: the attackers' errors and the epsilon spent, by the number of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...report.drawing import blank
from .study import BOTH, FRESH, MEMO, RepeatedReleasesResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS: Final = {FRESH: "#D55E00", MEMO: "#0072B2", BOTH: "#009E73"}
_METRES: Final = 1000.0


def figures(found: RepeatedReleasesResults) -> dict[str, Figure]:
    """Return the figure ``repeated-releases``: the errors and the proved epsilon against the number of reports.

    Bands are the intervals of simulated errors.

    Args:
        found: What `study` or `repetition` returned.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(12, 5.4)
    from matplotlib.ticker import LogLocator

    left, right = figure.subplots(1, 2)
    for curves, style, attack in (
        (found.optimal, "-", "optimal attack"),
        (found.averaging, ":", "mean of the reports"),
    ):
        for name, curve in curves.items():
            error, lower, upper = (values / _METRES for values in (curve.error, curve.lower, curve.upper))
            colour = _COLOURS[name]
            left.plot(
                curve.reports, error, style, color=colour, marker="o", markersize=3, label=f"{name}: {attack}"
            )
            left.fill_between(curve.reports, lower, upper, color=colour, alpha=0.15, linewidth=0)
    left.axhline(
        found.blind_error_m / _METRES, color="#555555", linestyle="--", linewidth=1, label="without a report"
    )
    left.set(ylim=(0, None), ylabel="attacker's expected error (km)", title="what the attacker learns")
    for name, values in found.epsilons.items():
        dashes = (0, (4, 4)) if name == BOTH else "-"
        right.plot(
            found.optimal[name].reports, values, color=_COLOURS[name], linestyle=dashes, linewidth=2, label=name
        )
    right.set(
        yscale="log", ylabel="proved epsilon of all reports (per km)", title="what is spent against any attacker"
    )
    right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter("")
    figure.legend(
        *left.get_legend_handles_labels(), fontsize=8.5, loc="outside lower center", ncols=4, title="left panel"
    )
    right.legend(fontsize=8.5, handlelength=3)
    for ax in (left, right):
        ax.set(xscale="log", xlabel="reports of the same place")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    return {"repeated-releases": figure}
