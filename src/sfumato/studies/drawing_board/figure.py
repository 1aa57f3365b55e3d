"""Figure of the drawing-board study: entropy against loss, here and as published, and the remap's gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ...errors import InputError
from ...report.drawing import blank
from .published import (
    CIRCLE,
    EXPONENTIAL,
    EXPOST,
    GAUSSIAN,
    LAPLACE,
    LEVELS_KM,
    PUBLISHED,
    PUBLISHED_COIN,
    PUBLISHED_PRIOR_BITS,
)
from .study import COIN, DrawingBoardResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES: Final = {
    EXPOST: ("#000000", "*"),
    EXPONENTIAL: ("#009E73", "s"),
    LAPLACE: ("#0072B2", "o"),
    GAUSSIAN: ("#E69F00", "^"),
    CIRCLE: ("#CC79A7", "D"),
    COIN: ("#D55E00", "x"),
}


def figures(found: DrawingBoardResults) -> dict[str, Figure]:
    """Return the figure ``back-to-the-drawing-board``, of three panels.

    They show entropy against loss here, the same as published, and what the remap gains.

    Args:
        found: What `study` returned.

    Raises:
        InputError: If there are no measures.
        MissingExtraError: If matplotlib is not installed.
    """
    measures = found.measures
    if not measures:
        raise InputError("there are no measures to draw.", "run the study first.")
    figure = blank(14, 5.2)
    here, published, gains = figure.subplots(1, 3)
    for name in _STYLES:
        own = sorted((each.loss_km, each.entropy_bits) for each in measures if each.mechanism == name)
        _points(here, name, own)
        _points(published, name, list(PUBLISHED_COIN if name == COIN else PUBLISHED[name]))
    for ax, bits, title in (
        (here, found.prior_bits, f"{found.place}, computed here"),
        (published, PUBLISHED_PRIOR_BITS, "San Francisco, published"),
    ):
        ax.axhline(bits, color="#555555", linestyle=":", linewidth=1, label="entropy of the prior")
        ax.set(xlim=(0, None), ylim=(0, 12), xlabel="loss after the remap (km)", title=title)
    here.set_ylabel("conditional entropy (bits)")
    handles, labels = here.get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=9, loc="outside lower center", ncols=len(labels))
    for name in (LAPLACE, GAUSSIAN, CIRCLE):
        mine = sorted((each.level_km, 100 * each.gain) for each in measures if each.mechanism == name)
        theirs = [100 * (1 - loss / level) for level, (loss, _) in zip(LEVELS_KM, PUBLISHED[name], strict=True)]
        colour, marker = _STYLES[name]
        gains.plot(*zip(*mine, strict=True), color=colour, marker=marker, markersize=5, label=f"{name}, here")
        gains.plot(LEVELS_KM, theirs, color=colour, marker=marker, markersize=4, fillstyle="none", linestyle=":")
    gains.plot([], [], color="#555555", linestyle=":", label="published")
    gains.set(xscale="log", ylim=(0, None), xlabel="mean length of the noise, 2 / epsilon (km)")
    gains.set(title="what the remap gains", ylabel="part of the loss that the remap takes away (%)")
    gains.xaxis.set_major_formatter("{x:g}")
    gains.legend(fontsize=8.5)
    for ax in (here, published, gains):
        ax.grid(alpha=0.3)
    return {"back-to-the-drawing-board": figure}


def _points(ax: Axes, name: str, points: Sequence[tuple[float, float]]) -> None:
    if not points:
        return
    colour, marker = _STYLES[name]
    ax.plot(*zip(*points, strict=True), color=colour, marker=marker, markersize=5, linewidth=1.2, label=name)
