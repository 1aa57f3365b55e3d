"""Figure 6: attackers who know more than the design assumed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.reports.theme import blank

from .games import DISTORTION, METRIC, InformedRow
from .look import NAMES, equal_line, finish, grouped, marks, medians, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def informed_figure(rows: Sequence[InformedRow]) -> Figure:
    """Return Figure 6: what is left of the error as habits grow stronger, and the two mechanisms side by side."""
    figure = blank(10.5, 5)
    left, right = figure.subplots(1, 2)
    for name in NAMES:
        mine = [row for row in rows if row.mechanism == name]
        shares, middle = medians(
            mine, lambda row: row.sharper, lambda row: row.sharper, lambda row: row.error_informed
        )
        if name in (METRIC, DISTORTION):  # the lines of joint would lie on those of metric
            for each in grouped(mine, lambda row: row.user).values():
                line = medians(each, lambda row: row.sharper, lambda row: row.error_informed)[0]
                left.plot(shares, line, color=style(name)["color"], linewidth=0.6, alpha=0.4)
        left.plot(shares, middle, **style(name))
    left.set(
        xlabel="share of visits moved to the two most likely cells", ylabel="error of the informed attacker (km)"
    )
    left.set_ylim(bottom=0)
    finish(left)
    share = max(row.sharper for row in rows)
    last = {(row.user, row.epsilon, row.mechanism): row.error_informed for row in rows if row.sharper == share}
    pairs = [
        (last[user, epsilon, DISTORTION], error) for (user, epsilon, name), error in last.items() if name == METRIC
    ]
    right.plot(*zip(*pairs, strict=True), **marks(METRIC) | {"label": "a user at an epsilon"})
    right.set(
        title=f"A share of {share:g} moved",
        xlabel="informed attacker's error against distortion (km)",
        ylabel="informed attacker's error against metric (km)",
    )
    equal_line(right, "equal errors")
    finish(right, loc="lower right")
    return figure
