"""The frontier of a sweep, as a table and a figure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from ..core import is_hamming
from ..errors import InputError
from ..escaping import figure as outside
from ..escaping import shorten
from ..geo import Lattice
from ..leakage import prior_vulnerability
from ..optimal import Design, Point
from ..rounding import amount_at_least
from ..tables import write_rows
from .sentences import error_words
from .theme import LIGHT, blank

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SLACK = 0.01  # relative: numbers that look equal in a figure
_LONGEST = 40  # characters of a name in the legend
_MOST_PEOPLE = 5  # people: lines of hits without a report are drawn for at most so many
_WIDE = 30.0  # ratio of epsilons from which their axis is logarithmic
_ERROR_TOLERANCE = 0.1  # relative: for errors that near to the loss a sentence replaces the panel
COLUMNS = (
    "prior",
    "epsilon",
    "distortion_asked",
    "loss",
    "loss_lower_bound",
    "gap",
    "epsilon_upper",
    "distortion",
    "hit_rate",
    "tie_gap",
    "seconds",
    "status",
    "mechanism",
    "slack_m",
)


def rows(points: Sequence[Point]) -> list[tuple[object, ...]]:
    """Return one row per point, in the order of `COLUMNS` and in the units of loss and metric."""
    table: list[tuple[object, ...]] = []
    for point in points:
        design = point.design
        results: tuple[object, ...] = (*(None,) * 8, point.reason, None, None)
        if design is not None and design.has_program:
            c = design.certificate
            upper = c.epsilon_upper if point.epsilon is not None else None
            effort = (design.tie_gap, design.seconds, design.status.name, "table", None)
            results = (c.value, c.bound, c.gap, upper, point.distortion, point.hit_rate, *effort)
        elif design is not None:
            privacy, status = design.certificate.privacy, "OPTIMAL" if design.is_finished else "STOPPED"
            effort = (None, design.seconds, status, "planar noise", privacy.slack_m)
            results = (point.loss, None, None, privacy.upper, point.distortion, None, *effort)
        table.append((point.name, point.epsilon, point.minimum, *results))
    return table


def save_rows(points: Sequence[Point], path: str | os.PathLike[str]) -> None:
    """Write the rows as CSV, whole or not at all; raise `FileError` if the file cannot be written."""
    write_rows(COLUMNS, rows(points), path)


def frontier(points: Sequence[Point], unit: str) -> Figure:
    """Return panels of loss against epsilon, and of the attacker's success against loss.

    Panels that would repeat the loss are left out: errors near the loss (a sentence states them), and hits where
    the secret is reported. Hits are shown where most points have them. ``unit`` is that of the metric. Raises
    `InputError` if no point has a design. Raises `MissingExtraError` if matplotlib is not installed.
    """
    runs = [point for point in points if point.design is not None]
    if not runs:
        raise InputError("no point of the sweep has a design.", "see why each failed, and ask for less.")
    erring = any(p.loss_unit != unit or abs(p.distortion - p.loss) > _ERROR_TOLERANCE * abs(p.loss) for p in runs)
    known = [point for point in runs if isfinite(point.hit_rate)]  # noise has no vertex to find
    hitting = 2 * len(known) > len(runs) and (not erring or any(map(_hits_differ, known)))
    label, unit = outside(_label(runs[0])), outside(unit)
    figure = blank(5.2 + 4.8 * (erring + hitting), 4.6)
    left, *panels = figure.subplots(1, 1 + erring + hitting, squeeze=False)[0]
    hits = panels[0] if hitting else None
    errors = panels[-1] if erring else None
    kinds = list(dict.fromkeys(point.minimum for point in runs))
    people = list(dict.fromkeys(point.name for point in runs))
    blind_shown = len(people) <= _MOST_PEOPLE
    styles, colours, markers = ("-", "--", ":", "-."), LIGHT.series, "osD^vPX*<>"
    for i, name in enumerate(people):
        for k, minimum in enumerate(kinds):
            curve = [point for point in runs if point.name == name and point.minimum == minimum]
            if not curve:
                continue
            losses = [point.loss for point in curve]
            short = shorten(name, _LONGEST)
            text = short if minimum is None else f"{short}, at least {amount_at_least(minimum, unit)}"
            line, mark, colour = styles[k % len(styles)], markers[i % len(markers)], colours[i % len(colours)]
            style: Any = {"linestyle": line, "marker": mark, "color": colour, "markersize": 5}
            with_epsilon = [(p.epsilon, p.loss) for p in curve if p.epsilon is not None]
            if with_epsilon:
                left.plot(*zip(*with_epsilon, strict=True), label=outside(text), **style)
            noise = [(p.epsilon, p.loss) for p in curve if _is_noise(p)]
            if noise:
                hollow = {**style, "linestyle": "none", "markerfacecolor": "white", "zorder": 3}
                left.plot(*zip(*noise, strict=True), **hollow)
            if hits is not None:
                hits.plot(losses, [100 * point.hit_rate for point in curve], label=outside(text), **style)
            if errors is not None:
                errors.plot(losses, [point.distortion for point in curve], label=outside(text), **style)
        if hits is not None and blind_shown:
            priors = [p.design.problem.prior for p in runs if p.name == name and p.design and p.design.has_program]
            for whole in priors[:1]:
                blind = 100 * prior_vulnerability(whole)
                hits.axhline(blind, color=colours[i % len(colours)], linewidth=0.8, linestyle=(0, (1, 3)))
    left.set(xlabel=f"epsilon (per {unit})" if unit else "epsilon", ylabel=label)
    epsilons = [point.epsilon for point in runs if point.epsilon is not None]
    if epsilons and max(epsilons) >= _WIDE * min(epsilons) > 0:
        left.set_xscale("log")
    noisy = any(map(_is_noise, runs))
    left.set_title(f"What privacy costs{' (hollow: planar noise)' if noisy else ''}", fontsize=11)
    if hits is not None:
        vertices = any(
            p.design and p.design.has_program and isinstance(p.design.problem.prior.space, Lattice) for p in runs
        )
        hits.set_ylabel(f"the best attacker finds the {'vertex rounded to' if vertices else 'secret'} (%)")
        hits.set_title(f"How often it is found{' (dotted: without a report)' if blind_shown else ''}", fontsize=11)
    if errors is not None:
        true = " from the true point" if any(point.true_point for point in runs) else ""
        errors.set_ylabel(f"error of the best attacker{true}" + (f" ({unit})" if unit else ""))
        errors.set_title("The attacker's error", fontsize=11)
    for ax in panels:
        ax.set_xlabel(label)
    for ax in (left, *panels):
        ax.grid(alpha=0.3)
        ax.set_ylim(bottom=0)
    if len(people) * len(kinds) > 1:
        handles, labels = (panels[0] if panels else left).get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=max(2, 2 * len(panels)), fontsize=9)
    if not erring:
        shares = [point.distortion / point.loss for point in runs if point.loss > 0]
        figure.suptitle(error_words(min(shares, default=None)), fontsize=9, color=LIGHT.muted)
    return figure


def _is_noise(point: Point) -> bool:
    return point.design is not None and not point.design.has_program


def _hits_differ(point: Point) -> bool:
    """Return whether the secret is found more often than it is reported."""
    if point.design is None or not point.design.has_program:
        return False
    certificate = point.design.certificate
    return not _counts_misreports(point.design) or point.hit_rate > (1 + _SLACK) * (1 - certificate.value)


def _counts_misreports(design: Design) -> bool:
    problem = design.problem
    return is_hamming(problem.loss, problem.prior.space, problem.observables)


def _label(point: Point) -> str:
    if _is_noise(point):
        return f"mean distance from the true point ({point.loss_unit})"
    if point.design is None:
        return "loss"
    loss = point.design.problem.loss
    if _counts_misreports(point.design):
        return "share of reports that are not the secret"
    if loss.true_point:
        kind = "" if loss.true_point == "euclidean" else f"{loss.true_point} "
        return f"mean {kind}distance from the true point ({loss.unit})"
    return f"{loss.name} loss ({loss.unit})" if loss.unit else f"{loss.name} loss"
