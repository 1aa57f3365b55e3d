"""The figure of a comparison: loss, attacker's error, information and epsilon of each mechanism."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ..errors import InputError
from ..escaping import figure as outside
from ..report.drawing import blank
from .compare import OPTIMUM, Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999", "#000000")
_GREY = "#555555"
_MARKERS = "os^vDPXhp<>"


def comparison_figure(comparison: Comparison) -> Figure:
    """Return two panels: the attacker's error against the loss, and epsilon against what a report tells.

    A filled marker is a mechanism as it is, a hollow one the same after the remap.

    Args:
        comparison: A comparison with at least one mechanism.

    Raises:
        InputError: If no mechanism exists.
        MissingExtraError: If matplotlib is not installed.
    """
    rows = [row for row in comparison.rows if not row.failure]
    if not rows:
        raise InputError("none of the mechanisms exists.", "compare at another epsilon or loss.")
    figure = blank(12, 5)
    left, right = figure.subplots(1, 2)
    families = list(dict.fromkeys(row.name.removesuffix(" + remap") for row in rows))
    unit = f" ({comparison.unit})" if comparison.unit else ""
    at_epsilon = comparison.equal == "epsilon"
    for row in rows:
        place = families.index(row.name.removesuffix(" + remap"))
        colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
        if row.name == OPTIMUM:
            colour, marker = "#000000", "*"
        hollow = row.name.endswith(" + remap")
        style = {
            "marker": marker,
            "s": 150 if row.name == OPTIMUM else 60,
            "facecolors": "none" if hollow else colour,
            "edgecolors": colour,
            "linewidths": 1.6,
            "zorder": 3,
        }
        across = row.loss if at_epsilon else row.bayes_error
        left.scatter([across], [row.attacker_error], label=outside(row.name), **style)
        if isfinite(row.epsilon_upper):
            right.scatter([row.information_bits], [row.epsilon_upper], **style)
    if at_epsilon:
        reach = max(row.loss for row in rows) * 1.05
        left.plot([0, reach], [0, reach], color=_GREY, linestyle=":", label="error = loss: no attack gains more")
        left.set_xlim(0, reach)
        left.set_xlabel(f"expected loss{unit}")
        optimum = next((row for row in rows if row.name == OPTIMUM), None)
        if optimum is not None and optimum.loss_lower_bound is not None:
            left.axvline(optimum.loss_lower_bound, color="#000000", linewidth=1, label="proved: none loses less")
    else:
        left.set_xlim(0, 1)
        left.set_xlabel("probability that the best guess of the secret is wrong")
        left.axhline(comparison.value, color=_GREY, linestyle=":", label="error = loss: no attack gains more")
    left.axhline(comparison.blind_error, color=_GREY, linestyle="--", linewidth=1, label="error without a report")
    left.set_ylabel(f"error of the best attack{unit}")
    left.set_ylim(bottom=0)
    left.set_title("What it costs and hides" if at_epsilon else "What it hides", fontsize=11)
    right.set_xlabel("mutual information (bits)")
    right.set_ylabel(f"proved epsilon (per {outside(comparison.unit)})" if comparison.unit else "proved epsilon")
    right.set_ylim(bottom=0)
    right.set_xlim(left=0)
    hidden = sum(not isfinite(row.epsilon_upper) for row in rows)
    title = "What it promises and tells"
    right.set_title(title + (f" ({hidden} not shown: no epsilon)" if hidden else ""), fontsize=11)
    for ax in (left, right):
        ax.grid(alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure
