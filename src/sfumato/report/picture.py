"""The picture of a mechanism: the prior, the blur of one place, the attacker's posterior."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..attacks import optimal
from ..core import Mechanism, Metric, Prior
from ..core.arrays import Floats
from ..errors import InputError
from ..geo import Places
from .drawing import blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_OFTEN: Final = 0.02  # the least probability of a report that is shown as an example
_TICKS: Final = 4


def picture(mechanism: Mechanism, prior: Prior, ground: Metric, *, place: Hashable | None = None) -> Figure:
    """Return three maps side by side: prior, reports from one place, posterior after one report.

    Args:
        mechanism: A mechanism from places to places.
        prior: The prior on them.
        ground: The distance in which the attacker errs.
        place: The label of the true place. By default place and report are those that add
            most to the attacker's error, so that the report and the best guess are not
            the true place.

    Raises:
        InputError: If the secrets are not places.
        MissingExtraError: If matplotlib is not installed.
    """
    space = mechanism.secrets
    if not isinstance(space, Places) or mechanism.observables.coordinates is None:
        raise InputError("only a mechanism from places to places has a map.", "design it on a Lattice or a Grid.")
    centres, reports = np.asarray(space.coordinates) / 1000, space.on_plane(mechanism.observables) / 1000
    nearest = np.asarray(cKDTree(centres).query(reports)[1], dtype=np.intp)
    corners = _corners_km(space)
    width, height = np.ptp(corners.reshape(-1, 2), axis=0)
    figure = blank(12, float(np.clip(3.8 * height / width, 1.5, 7)) + 1.8)
    attack = optimal(mechanism, prior, ground)
    true, report = _instructive(
        mechanism, prior, ground, attack.estimates, nearest, None if place is None else space.position(place)
    )
    guess = int(attack.estimates[report])
    posterior = mechanism.posterior(prior)[report]

    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    _panel(axes[0], corners, prior.probabilities, "Prior: where people are", "share of visits (%)")
    shown = corners if mechanism.observables == space else _dots_km(reports, corners)
    _panel(
        axes[1],
        shown,
        mechanism.matrix[true],
        "Mechanism: reports from one place",
        "share of reports (%)",
        corners,
    )
    _panel(axes[2], corners, posterior, "Attacker: belief after one report", "posterior (%)")
    _mark(axes[1], centres[true], "o", 15, "true place")
    _mark(axes[1], reports[report], "s", 13, "report")
    _mark(axes[2], centres[true], "o", 15, "true place")
    _mark(axes[2], reports[report], "s", 13, "report")
    _mark(axes[2], centres[guess], "x", 8, "best guess")
    for ax in axes[1:]:
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8, markerscale=0.7, frameon=False
        )
    axes[0].set_ylabel("north (km)")
    return figure


def _instructive(
    mechanism: Mechanism,
    prior: Prior,
    ground: Metric,
    estimates: NDArray[np.intp],
    nearest: NDArray[np.intp],
    place: int | None,
) -> tuple[int, int]:
    """Return the true place and the report that add most to the attacker's error.

    Cases in which place, report and guess all differ come first, then those in which the
    report and the guess are not the place, then those in which the report is not. Reports
    that are hardly ever made are left out: they are not good examples.
    """
    joint = mechanism.joint(prior)
    rows = np.arange(len(joint)) if place is None else np.array([place])
    weights = joint[rows] if joint[rows].any() else mechanism.matrix[rows]
    places, reports, guesses = rows[:, None], nearest[None, :], estimates[None, :]
    moved, wrong, other = reports != places, guesses != places, guesses != reports
    often = mechanism.matrix[rows] >= _OFTEN
    errors = ground.array[guesses, places]
    for wanted, weight in ((moved & wrong & other, errors), (moved & wrong, errors), (moved, 1.0)):
        chosen = np.where(wanted & often, weights * weight, 0.0)
        if chosen.any():
            s, o = np.unravel_index(int(np.argmax(chosen)), chosen.shape)
            return int(rows[s]), int(o)
    s, o = np.unravel_index(int(np.argmax(weights)), weights.shape)
    return int(rows[s]), int(o)


def _corners_km(space: Places) -> Floats:
    outlines = space.outlines_latlon()
    flat = space.projection.forward(outlines[..., 0].ravel(), outlines[..., 1].ravel())
    corners: Floats = flat.reshape(outlines.shape) / 1000
    return corners


def _dots_km(reports: Floats, corners: Floats) -> Floats:
    """Return a small square around each report, array (m, 4, 2)."""
    side = float(np.ptp(corners[0, :, 0])) / 3
    found: Floats = reports[:, None, :] + side / 2 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return found


def _panel(ax: Axes, corners: Floats, shares: Floats, title: str, label: str, frame: Floats | None = None) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import PowerNorm
    from matplotlib.ticker import MaxNLocator

    # The square root lets small shares be seen beside large ones; the bar carries the true values.
    norm = PowerNorm(0.5, vmin=0, vmax=100 * float(shares.max()))
    cells: Any = PolyCollection(
        list(corners), array=100 * shares, cmap="cividis", norm=norm, edgecolor="face", linewidth=0.2
    )
    ax.add_collection(cells)
    ax.set_aspect("equal")
    around = corners if frame is None else frame
    low, high = around.min(axis=(0, 1)), around.max(axis=(0, 1))
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_title(title, fontsize=11, pad=22)
    ax.set_xlabel("east (km)")
    figure: Any = ax.figure
    bar = figure.colorbar(cells, ax=ax, label=label, location="bottom", shrink=0.9, aspect=30)
    bar.locator = MaxNLocator(_TICKS)  # the square root crowds those on the right
    bar.update_ticks()


def _mark(ax: Axes, at: Floats, marker: str, size: int, label: str) -> None:
    from matplotlib.patheffects import withStroke

    x, y = at
    ax.plot(
        [x],
        [y],
        linestyle="none",
        marker=marker,
        markersize=size,
        markerfacecolor="none",
        markeredgecolor="white",
        markeredgewidth=1.8,
        path_effects=[withStroke(linewidth=4, foreground="black")],  # seen on dark and bright cells alike
        label=label,
    )
