"""The price of one more metre of error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.reports.theme import LIGHT, blank

from .games import DISTORTION, JOINT, PriceRow
from .look import EPSILON, finish, marks, medians, style
from .slopes import SlopeRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PRICE = "price (percentage points per metre)"
_PER_METRE = 0.1  # percentage points per metre in shares per km


def prices_figure(prices: Sequence[PriceRow], slopes: Sequence[SlopeRow]) -> Figure:
    """Return the prices against epsilon, and those that were held against slopes."""
    figure = blank(10.5, 4.8)
    left, right = figure.subplots(1, 2)
    for name in (DISTORTION, JOINT):
        for scenario in (1, 2):
            mine = [row for row in prices if row.scenario == scenario and row.mechanism == name]
            epsilons, middle = medians(
                mine, lambda row: row.epsilon, lambda row: row.epsilon, lambda row: _PER_METRE * row.price
            )
            look = style(name) | {"label": f"{name}, scenario {scenario}", "alpha": 1.0 if scenario == 2 else 0.5}
            left.plot(epsilons, middle, clip_on=False, zorder=3, **look)
    left.set(title="Medians over users", xlabel=EPSILON, ylabel=_PRICE)
    left.set_ylim(bottom=0)
    users = sorted({row.user for row in slopes})
    for shift, name in ((-0.12, DISTORTION), (0.12, JOINT)):
        held = [row for row in slopes if row.mechanism == name]
        at = [users.index(row.user) + shift for row in held]
        right.vlines(
            at,
            [_PER_METRE * row.slope_below for row in held],
            [_PER_METRE * row.slope_above for row in held],
            color=LIGHT.muted,
            linewidth=4,
            alpha=0.5,
        )
        right.plot(at, [_PER_METRE * row.price for row in held], **marks(name) | {"alpha": 1.0})
    right.set_xticks(range(len(users)), [f"user {user}" for user in users])
    right.set(title="Prices between slopes", ylabel=_PRICE, xlim=(-0.5, len(users) - 0.5))
    right.set_ylim(0, 1.15 * _PER_METRE * max(max(row.price, row.slope_above) for row in slopes))
    for ax in (left, right):
        finish(ax)
    return figure
