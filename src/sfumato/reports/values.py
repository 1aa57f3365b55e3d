"""The picture of a mechanism for values: bars of the prior, of reports and of the posterior."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..core import Mechanism, Prior, Space
from ..core.arrays import Floats
from ..errors import InputError
from ..escaping import figure as outside
from ..escaping import shorten
from .maps import often_cells
from .theme import LIGHT, blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_VALUES: Final = 120  # the largest number of bars
_MOST_NAMES: Final = 20  # values with a name each
_LONGEST: Final = 24  # characters of a name
_SHORT: Final = 12  # in a title
_LEAST_PROBABILITY: Final = 0.001  # the least probability of an example report
_TIE_TOLERANCE: Final = 1e-9  # relative difference of equally probable values
_FILLS: Final = (1.0, 0.4, 0.0)  # opacity of bars within 50 %, within 90 %, and beyond


def values_picture(mechanism: Mechanism, prior: Prior, *, value: Hashable | None = None) -> Figure:
    """Return three panels of bars side by side: prior, reports from one value, belief after one report.

    Colours show the most probable values that hold 50 % and 90 %, with all equally probable ones. By default the
    true value and the report are the most probable pair of different labels with a report of probability 0.1 % or
    more. Raises `InputError` if there are more than 120 values or reports, or the prior is on others. Raises
    `MissingExtraError` if matplotlib is not installed.
    """
    scene, same = _scene(mechanism, prior, value), mechanism.secrets == mechanism.observables
    figure = blank(12, scene.height)
    axes = figure.subplots(1, 3, sharey=same)
    for index, ax in enumerate(axes):
        scene.draw(ax, index)
    for ax in axes[: 1 if same else 3]:  # the first turns those that share its values
        ax.invert_yaxis()
    _legend(figure, columns=3)
    return figure


def values_panels(mechanism: Mechanism, prior: Prior) -> tuple[Figure, ...]:
    """Return the panels of `values_picture` as three figures, which a page may stack."""
    scene = _scene(mechanism, prior, None)
    return tuple(scene.panel(index) for index in range(3))


class _Scene(NamedTuple):
    """A true value, a report of it, and the belief after that report."""

    mechanism: Mechanism
    prior: Prior
    true: int
    report: int

    @property
    def height(self) -> float:
        """The height of a figure, inches."""
        return float(np.clip(0.24 * max(self.mechanism.shape) + 1.9, 3.2, 6.7))

    def panel(self, index: int) -> Figure:
        figure = blank(4.2, self.height + 0.4)
        ax = figure.subplots()
        self.draw(ax, index)
        ax.invert_yaxis()
        _legend(figure, columns=1)
        return figure

    def draw(self, ax: Axes, index: int) -> None:
        """Draw the prior (0), the reports (1) or the belief (2)."""
        secrets, reports = self.mechanism.secrets, self.mechanism.observables
        if index == 0:
            _bars(ax, self.prior.probabilities, secrets, "How common\neach value is", "share (%)")
            ax.set_ylabel(outside(secrets.unit or ""))
            return
        if index == 1:
            title = f"What is reported\nfrom {outside(shorten(secrets.labels[self.true], _SHORT))}"
            _bars(ax, self.mechanism.matrix[self.true], reports, title, "share of reports (%)")
        else:
            title = f"What they believe\nafter {outside(shorten(reports.labels[self.report], _SHORT))}"
            belief = self.mechanism.posterior(self.prior)[self.report]
            _bars(ax, belief, secrets, title, "probability (%)")
        ax.annotate(
            "this report" if index == 1 else "the truth",
            (1.0, self.report if index == 1 else self.true),
            xycoords=ax.get_yaxis_transform(),
            ha="right",
            va="center",
            fontsize=9,
            color=LIGHT.ink,
            bbox={"facecolor": LIGHT.paper, "edgecolor": LIGHT.muted, "pad": 2.0},
        )


def _scene(mechanism: Mechanism, prior: Prior, value: Hashable | None) -> _Scene:
    check_drawn(mechanism.secrets)
    check_drawn(mechanism.observables)
    position = None if value is None else mechanism.secrets.position(value)
    return _Scene(mechanism, prior, *_instructive(mechanism, mechanism.joint(prior), position))


def prior_bars(prior: Prior) -> Figure:
    """Return the bars of a prior on at most 120 values."""
    return _scene(Mechanism(np.eye(len(prior)), prior.space, prior.space), prior, None).panel(0)


def check_drawn(values: Space) -> None:
    """Raise `InputError` if there are too many values for bars."""
    if len(values) > MOST_VALUES:
        raise InputError(
            f"there are {len(values):,} values or reports, but bars are drawn for {MOST_VALUES} at most.",
            "use coarser values, or leave the figure out.",
        )


def _instructive(mechanism: Mechanism, joint: Floats, value: int | None) -> tuple[int, int]:
    """Return the most probable true value and report, without very rare ones, whose labels differ if possible."""
    rows = np.arange(len(joint)) if value is None else np.array([value])
    weights = joint[rows] if joint[rows].any() else mechanism.matrix[rows]
    names = [str(label) for label in mechanism.observables.labels]
    same = np.array([[str(mechanism.secrets.labels[row]) == name for name in names] for row in rows])
    apart = np.where(same | (mechanism.matrix[rows] < _LEAST_PROBABILITY), 0.0, weights)
    s, o = np.unravel_index(int(np.argmax(apart if apart.any() else weights)), weights.shape)
    return int(rows[s]), int(o)


def _bars(ax: Axes, shares: Floats, space: Space, title: str, label: str) -> None:
    half, most = ((1 - _TIE_TOLERANCE) * shares[often_cells(shares, share)].min() for share in (0.5, 0.9))
    fills = np.where(shares >= half, _FILLS[0], np.where(shares >= most, _FILLS[1], _FILLS[2])).tolist()
    colours = [(LIGHT.series[0], fill) for fill in fills]
    ax.barh(range(len(shares)), 100 * shares, height=0.8, color=colours, edgecolor=LIGHT.series[0], linewidth=0.7)
    ax.set_ylim(-0.7, len(shares) - 0.3)
    step = -(-len(shares) // _MOST_NAMES)
    at = range(0, len(shares), step)
    ax.set_yticks(at, [outside(shorten(space.labels[k], _LONGEST)) for k in at])
    ax.set(xlim=(0, 1.05 * 100 * float(shares.max())), title=title, xlabel=label)
    ax.grid(axis="x", color=LIGHT.grid)


def _legend(figure: Figure, columns: int) -> None:
    from matplotlib.patches import Patch

    names = ("most probable, at least 50 % together", "next, at least 90 % with them", "the others")
    edge = LIGHT.series[0]
    handles = [Patch(facecolor=(edge, fill), edgecolor=edge, linewidth=0.7) for fill in _FILLS]
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize=9, frameon=False)
