"""The picture of a mechanism: the prior, the blur of one place, the attacker's posterior."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..attacks import optimal
from ..core import Mechanism, Metric, Prior
from ..core.arrays import Floats
from ..errors import InputError, python
from ..files import MechanismFile
from ..geo import Cells, Places, Visits
from ..mechanisms.planar import coarsen
from .maps import (
    Name,
    Outline,
    check_there,
    draw_contours,
    draw_credit,
    draw_names,
    draw_outline,
    most_visited,
    north_arrow,
    scale_bar,
    world_outline,
)
from .theme import LIGHT, ON_MAP, blank, colour_bar, share_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ENTRIES: Final = 5  # of the legend
_LEAST_PROBABILITY: Final = 0.02  # the least probability of an example report
_PANEL: Final = 3.95  # inches: the width of a single map
_WIDTH: Final = 7.6  # inches: of three maps
_EVEN: Final = 1e-9  # relative difference of equal shares
_MARGIN: Final = 0.12  # of the longer side of the cells: how much of the world is shown around them
_BLUR: Final = 0.6  # of a cell's side: by which each report is blurred


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

    They are drawn on the outline, by default the map of the world. Reports and posterior are smooth contours,
    inside which 50 % and 90 % lie. By default the true place and the report are those that add most to the
    attacker's error, counted in ``ground``, so that the report and the best guess are not the true place. With the
    visits of the prior the most visited places are named, if their names are known. Raises `InputError` if the
    secrets are not places, or the outline lies elsewhere. Raises `MissingExtraError` if matplotlib is not
    installed.
    """
    scene = Scene.of(mechanism, prior, ground, place, outline, visits)
    figure = blank(_WIDTH, scene.height * _WIDTH / 12 + 1.35)
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    for index, ax in enumerate(axes):
        scene.draw(ax, index)
    _legend(figure, axes[2], columns=_ENTRIES)
    return figure


def panels(
    mechanism: Mechanism,
    prior: Prior,
    ground: Metric,
    *,
    outline: Outline | None = None,
    visits: Visits | None = None,
) -> tuple[Figure, ...]:
    """Return the maps of `picture` as three figures, which a page may stack."""
    scene = Scene.of(mechanism, prior, ground, None, outline, visits)
    figures = []
    for index in range(3):
        figure = blank(4.2, scene.height + 2.2)
        ax = figure.subplots()
        scene.draw(ax, index, alone=True)
        _legend(figure, ax, columns=2)
        figures.append(figure)
    return tuple(figures)


def _legend(figure: Figure, ax: Axes, columns: int) -> None:
    from matplotlib.patches import Patch

    handles, labels = ax.get_legend_handles_labels()
    while len(labels) < _ENTRIES:  # legends of equal height give maps of equal size
        handles.append(Patch(facecolor="none", edgecolor="none"))
        labels.append(" ")
    ncols = min(columns, len(labels))
    figure.legend(
        handles, labels, loc="outside lower center", ncols=ncols, fontsize=9, frameon=False, markerscale=0.8
    )


class Scene(NamedTuple):
    """A true place, a report from it and the best guess, with the geometry of the maps."""

    mechanism: Mechanism
    prior: Prior
    space: Places
    corners: Floats  # of cells, km, array (n, 4, 2) or of hexagons (n, 6, 2)
    centres: Floats  # km, array (n, 2)
    reports: Floats  # km, array (m, 2)
    true: int  # positions
    report: int
    guess: int
    outline: Outline | None
    names: tuple[Name, ...]  # the most important first

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        prior: Prior,
        ground: Metric,
        place: Hashable | None,
        outline: Outline | None,
        visits: Visits | None,
    ) -> Scene:
        """Choose place and report; raise `InputError` without places, or if the outline lies elsewhere."""
        space = mechanism.secrets
        if not isinstance(space, Places) or mechanism.observables.coordinates is None:
            raise InputError(
                "only a mechanism from places to places has a map.", "design it on a Lattice or a Grid."
            )
        centres, reports = np.asarray(space.coordinates) / 1000, space.on_plane(mechanism.observables) / 1000
        nearest = np.asarray(cKDTree(centres).query(reports)[1], dtype=np.intp)
        outline = _ground_of(space, outline)
        estimates = optimal(mechanism, prior, ground).estimates
        position = None if place is None else space.position(place)
        if position is None and prior.even:  # all places are equally instructive: take a central one
            position = int(np.argmin(np.linalg.norm(centres - centres.mean(axis=0), axis=1)))
        true, report = _instructive(mechanism, prior, ground, estimates, nearest, position)
        names = (*(() if visits is None else most_visited(visits)), *(() if outline is None else outline.names))
        corners, guess = _corners_km(space), int(estimates[report])
        return cls(mechanism, prior, space, corners, centres, reports, true, report, guess, outline, names)

    @property
    def height(self) -> float:
        """The height of a map, inches."""
        return _height(self.corners)

    def draw(self, ax: Axes, index: int, *, alone: bool = False) -> None:
        """Draw the prior (0), the reports (1) or the belief (2); a map that is alone names its source."""
        x, y = self.corners[0].T
        blur = _BLUR * math.sqrt(0.5 * abs(float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())))
        if index == 0:
            _panel(ax, self.corners, self.prior.probabilities, *prior_titles(self.prior))
        elif index == 1:
            _frame(ax, self.corners, "Where you appear")
            row = self.mechanism.matrix[self.true]
            draw_contours(ax, self.reports, row, blur, "reports inside (%)")
        else:
            _frame(ax, self.corners, "What the attacker believes")
            belief = self.mechanism.posterior(self.prior)[self.report]
            draw_contours(ax, self.centres, belief, blur, "probability inside (%)")
        if self.outline is not None:
            draw_outline(ax, self.outline, self.space.projection)
        _finish(ax)
        if index == 2 or alone:
            draw_credit(ax, self.outline)
        if index == 0:
            low, high = _view(self.corners)
            width, height = high - low
            axes: Any = ax
            panel = axes.figure.get_figwidth() / axes.get_gridspec().ncols
            wide = 0.8 * panel * min(1, 7 / height * width)
            draw_names(ax, self.names, self.space.projection, wide)
            return
        _mark(ax, self.centres[self.true], "o", 10, "true place", ON_MAP[0])
        _mark(ax, self.reports[self.report], "s", 7, "report", LIGHT.series[1])
        if index == 2:
            _mark(ax, self.centres[self.guess], "X", 8, "best guess", ON_MAP[0])


def places_panel(
    space: Places, shares: Floats, title: str, label: str, *, outline: Outline | None = None
) -> Figure:
    """Return a map of places coloured by shares, array (n,), at least 0 and not all 0.

    The label is that of the scale, in percent. Raises `InputError` if the outline lies elsewhere.
    """
    outline, corners = _ground_of(space, outline), _corners_km(space)
    figure = blank(4.2, _height(corners) + 1.3)
    ax = figure.subplots()
    _panel(ax, corners, shares, title, label)
    if outline is not None:
        draw_outline(ax, outline, space.projection)
    _finish(ax)
    draw_credit(ax, outline)
    return figure


def _ground_of(space: Places, outline: Outline | None) -> Outline | None:
    """Return what a map of places is drawn on; raise `InputError` if the outline lies elsewhere."""
    if outline is not None:
        check_there(outline, space)
    return outline or world_outline(space)


def _view(corners: Floats) -> tuple[Floats, Floats]:
    """Return the lower left and the upper right corner of a map of cells: they and some of the world around."""
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    around = _MARGIN * float((high - low).max())
    return low - around, high + around


def _height(corners: Floats) -> float:
    low, high = _view(corners)
    width, height = high - low
    return float(np.clip(_PANEL * height / width, 1.5, 7))


def _finish(ax: Axes) -> None:
    """Replace the axes of a map by a scale bar and a north arrow."""
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(True)
    scale_bar(ax)
    north_arrow(ax)


def _instructive(
    mechanism: Mechanism,
    prior: Prior,
    ground: Metric,
    estimates: NDArray[np.intp],
    nearest: NDArray[np.intp],
    place: int | None,
) -> tuple[int, int]:
    """Return the true place and the report, not a very rare one, that add most to the attacker's error."""
    joint = mechanism.joint(prior)
    rows = np.arange(len(joint)) if place is None else np.array([place])
    weights = joint[rows] if joint[rows].any() else mechanism.matrix[rows]
    places, reports, guesses = rows[:, None], nearest[None, :], estimates[None, :]
    moves, wrong, other = reports != places, guesses != places, guesses != reports
    often = mechanism.matrix[rows] >= _LEAST_PROBABILITY
    errors = ground.array[guesses, places]
    # First place, report and guess all differ, then two of them from the place, then the report does.
    for mask, weight in ((moves & wrong & other, errors), (moves & wrong, errors), (moves, 1.0)):
        scores = np.where(mask & often, weights * weight, 0.0)
        if scores.any():
            break
    else:
        scores = weights
    s, o = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return int(rows[s]), int(o)


def prior_titles(prior: Prior) -> tuple[str, str]:
    """Return the title of a prior's map and the label of its colours."""
    if prior.even:
        return "All places are alike", "probability (%)"
    return "Where people are", "prior probability (%)"


def _corners_km(space: Places) -> Floats:
    outlines = space.outlines_latlon()
    flat = space.projection.forward(outlines[..., 0].ravel(), outlines[..., 1].ravel())
    corners: Floats = flat.reshape(outlines.shape) / 1000
    return corners


def _panel(ax: Axes, corners: Floats, shares: Floats, title: str, label: str) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import PowerNorm

    # The square root lets small shares be seen beside large ones; the bar carries the true values.
    most = 100 * float(shares.max())
    even = np.ptp(shares) <= _EVEN * shares.max()  # in a middle colour: there is no maximum
    norm, scale = PowerNorm(0.5, vmin=0, vmax=4 * most if even else most), share_scale()
    ax.add_collection(PolyCollection(list(corners), array=100 * shares, cmap=scale, norm=norm, edgecolor="none"))
    _frame(ax, corners, title)
    colour_bar(scale, norm, ax, label)


def _frame(ax: Axes, corners: Floats, title: str) -> None:
    low, high = _view(corners)
    ax.set(aspect="equal", xlim=(low[0], high[0]), ylim=(low[1], high[1]), title=title)


def _mark(ax: Axes, at: Floats, marker: str, size: int, label: str, colour: str) -> None:
    rim: dict[str, Any] = {"markeredgecolor": ON_MAP[1], "markeredgewidth": 1.2}  # seen on all cells
    ax.plot(*at, linestyle="none", marker=marker, markersize=size, markerfacecolor=colour, label=label, **rim)


def noise_maps(file: MechanismFile, *, outline: Outline | None = None, visits: Visits | None = None) -> Figure:
    """Return the maps of `picture` for noise for coordinates, on the cells of the file's prior.

    Raises `InputError` if there is no prior. Raises `MissingExtraError` if matplotlib is not installed.
    """
    return picture(*on_cells(file), outline=outline, visits=visits)


def on_cells(file: MechanismFile) -> tuple[Mechanism, Prior, Metric]:
    """Return noise seen on the cells of its file's prior, that prior and the distance of its cells."""
    if file.prior is None or not isinstance(file.prior.space, Cells):
        raise InputError(
            "there is no prior on cells to draw.", python("give one: Prior.from_visits(grid, visits).")
        )
    mechanism = coarsen(file.noise, file.prior.space).mechanism
    return mechanism, file.prior, file.prior.space.metric("euclidean", unit="km")
