"""The picture of a mechanism: the prior, the blur of one place, the attacker's posterior."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from ..core import Mechanism, Metric, Prior
from ..geo import Visits
from .maps import Outline
from .scene import Scene
from .theme import LIGHT, blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ENTRIES: Final = 6  # of the legend


def picture(
    mechanism: Mechanism,
    prior: Prior,
    ground: Metric,
    *,
    place: Hashable | None = None,
    outline: Outline | None = None,
    visits: Visits | None = None,
) -> Figure:
    """Return three maps side by side: prior, reports from one place, posterior after one report.

    Lines around cells show where half and nine tenths of the reports from the place fall, and where the
    attacker believes the place to be with 50 % and 90 %.

    Args:
        mechanism: A mechanism from places to places.
        prior: The prior on them.
        ground: The distance in which the attacker errs.
        place: The label of the true place. By default place and report are those that add
            most to the attacker's error, so that the report and the best guess are not
            the true place.
        outline: Land, water and names to draw on.
        visits: Visits of the prior; if they have names of places, the most visited are named.

    Raises:
        InputError: If the secrets are not places, or the outline lies elsewhere.
        MissingExtraError: If matplotlib is not installed.
    """
    scene = Scene.of(mechanism, prior, ground, place, outline, visits)
    figure = blank(12, scene.height + 1.6)
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    for which, ax in enumerate(axes):
        scene.draw(ax, which)
    _legend(figure, axes[2], scene.clear, columns=_ENTRIES)
    return figure


def panels(
    mechanism: Mechanism,
    prior: Prior,
    ground: Metric,
    *,
    outline: Outline | None = None,
    visits: Visits | None = None,
) -> tuple[Figure, ...]:
    """Return the maps of `picture` as three figures, which a page may stack.

    Args:
        mechanism: A mechanism from places to places.
        prior: The prior on them.
        ground: The distance in which the attacker errs.
        outline: Land, water and names to draw on.
        visits: Visits of the prior.

    Raises:
        InputError: As `picture`.
        MissingExtraError: If matplotlib is not installed.
    """
    scene = Scene.of(mechanism, prior, ground, None, outline, visits)
    figures = []
    for which in range(3):
        figure = blank(4.2, scene.height + 2.2)
        ax = figure.subplots()
        scene.draw(ax, which)
        _legend(figure, ax, scene.clear, columns=2)
        figures.append(figure)
    return tuple(figures)


def _legend(figure: Figure, ax: Axes, clear: float, columns: int) -> None:
    from matplotlib.patches import Patch

    handles, labels = ax.get_legend_handles_labels()
    handles.append(Patch(facecolor="none", edgecolor=LIGHT.muted, linewidth=0.8))
    labels.append(f"clear: below {100 * clear:g} %")
    while len(labels) < _ENTRIES:  # legends of one height keep maps of one size beside each other
        handles.append(Patch(facecolor="none", edgecolor="none"))
        labels.append(" ")
    ncols = min(columns, len(labels))
    figure.legend(
        handles, labels, loc="outside lower center", ncols=ncols, fontsize=9, frameon=False, markerscale=0.8
    )
