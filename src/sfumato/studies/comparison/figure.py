"""Figure of a comparison: a line for each mechanism, a panel for each measure."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

from ...errors import InputError
from ...escaping import figure as outside
from ...report.drawing import blank
from .comparison_rows import Comparison, ComparisonRow
from .measured_rows import OPTIMUM

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY, _BLACK = "#0072B2", "#D55E00", "#555555", "#000000"
_REMAP: Final = " + remap"


def comparison_figure(comparison: Comparison) -> Figure:
    """Return four panels with a line per mechanism: cost or epsilon, attacker's error, hits, information.

    A filled circle is a mechanism as it is, a hollow square the same after the remap. In
    the panel of attacks both are read against what is achieved without a report.

    Args:
        comparison: A comparison with at least one mechanism.

    Raises:
        InputError: If no mechanism exists.
        MissingExtraError: If matplotlib is not installed.
    """
    rows = [row for row in comparison.rows if not row.problem]
    if not rows:
        raise InputError("none of the mechanisms exists.", "compare at another epsilon or loss.")
    families = list(dict.fromkeys(row.name.replace(_REMAP, "") for row in rows))
    longest = max(map(len, families))
    figure = blank(11 + 0.08 * longest, 1.9 + 0.36 * len(families))
    first, *others = figure.subplots(1, 4, sharey=True)
    unit = f" ({outside(comparison.unit)})" if comparison.unit else ""
    per = f" (per {outside(comparison.unit)})" if comparison.unit else ""
    if comparison.equal == "epsilon":
        _panel(first, rows, families, [row.loss for row in rows])
        first.set_xlabel(f"expected loss{unit}")
        bound = next((row.loss_lower_bound for row in rows if row.loss_lower_bound is not None), None)
        if bound is not None:
            first.axvline(
                bound, color=_BLACK, linewidth=1, label="proved: with one report no mechanism loses less"
            )
    else:
        _panel(first, rows, families, [row.epsilon_upper for row in rows])
        first.set_xlabel(f"proved epsilon{per}")
    error, hits, information = others
    _panel(error, rows, families, [row.attacker_error for row in rows], comparison.blind_error)
    error.axvline(comparison.blind_error, color=_GREY, linestyle="--", linewidth=1, label="without a report")
    error.set_xlabel(f"error of the best attack{unit}")
    _panel(hits, rows, families, [100 * row.hit_rate for row in rows], 100 * comparison.blind_hit_rate)
    hits.axvline(100 * comparison.blind_hit_rate, color=_GREY, linestyle="--", linewidth=1)
    hits.set_xlabel("the secret is found (%)")
    _panel(information, rows, families, [row.information_bits for row in rows])
    information.set_xlabel("mutual information (bits)")
    first.set_yticks(range(len(families)), [outside(name) for name in families])
    first.invert_yaxis()
    _legend(figure, first, error, remapped=any(_REMAP in row.name for row in rows))
    return figure


def _panel(
    ax: Axes, rows: list[ComparisonRow], families: list[str], values: list[float], reach: float = 0.0
) -> None:
    """Draw one measure, as far as ``reach`` at least; a mechanism and its remap share a line, a little apart."""
    paired = {row.name.replace(_REMAP, "") for row in rows if _REMAP in row.name}
    for row, value in zip(rows, values, strict=True):
        family, remapped = row.name.replace(_REMAP, ""), _REMAP in row.name
        height = families.index(family) + (0.0 if family not in paired else 0.17 if remapped else -0.17)
        if not isfinite(value):
            ax.text(0.02, height, "none", transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=_GREY)
            continue
        colour = _BLACK if row.name == OPTIMUM else _ORANGE if remapped else _BLUE
        marker = "*" if row.name == OPTIMUM else "s" if remapped else "o"
        size = 11 if row.name == OPTIMUM else 6
        hollow = "white" if remapped else colour
        ax.plot(
            [value],
            [height],
            linestyle="none",
            marker=marker,
            markersize=size,
            color=colour,
            markerfacecolor=hollow,
            zorder=3,
        )
    ax.set_xlim(0, 1.08 * max([reach, *filter(isfinite, values)]) or 1.0)
    ax.grid(axis="x", alpha=0.3)
    for k in range(len(families)):
        ax.axhline(k, color=_GREY, linewidth=0.4, alpha=0.4, zorder=0)
    ax.set_axisbelow(True)


def _legend(figure: Figure, first: Axes, error: Axes, *, remapped: bool) -> None:
    from matplotlib.lines import Line2D

    marks = [("*", _BLACK, _BLACK, "optimum"), ("o", _BLUE, _BLUE, "mechanism as it is")]
    if remapped:
        marks.append(("s", _ORANGE, "white", "after the optimal remap"))
    handles: list[Artist] = [
        Line2D([], [], linestyle="none", marker=marker, color=edge, markerfacecolor=face, label=text)
        for marker, edge, face, text in marks
    ]
    labels = [text for *_, text in marks]
    for ax in (first, error):
        lines, texts = ax.get_legend_handles_labels()
        handles += lines
        labels += texts
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8)
