"""The curves of an audit: profile, trade-off, and prior to posterior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import Mechanism, Metric
from ..errors import InputError
from ..escaping import figure as outside
from ..privacy import (
    Band,
    DifferentialPrivacy,
    GaussianPrivacy,
    GaussianTradeOff,
    PrivacyProfile,
    Relation,
    TradeOff,
)
from ..rounding import amount, at_most, briefly_at_most
from .theme import LIGHT, blank, one_panel, say_instead

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = LIGHT.series[0], LIGHT.series[1], LIGHT.series[2], LIGHT.muted

_POINTS = 161
_LEAST_DELTA = 1e-9  # where the axis of delta ends
_FAR = 10.0  # times the epsilon of near pairs: a curve of all pairs that goes on so far leaves the figure
_SEEN = 4.0  # times the epsilon of near pairs: what is then seen


def profile_figure(mechanism: Mechanism, relation: Relation | None = None, metric: Metric | None = None) -> Figure:
    """Return the privacy profile: the least delta at each epsilon, over all related pairs.

    Args:
        mechanism: A mechanism.
        relation: The pairs that must look alike; all if None.
        metric: A distance on the secrets; then pairs near each other have curves of their own.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure, ax = one_panel()
    shown = _by_distance(mechanism, relation, metric)
    ends = [DifferentialPrivacy(pairs).measure(mechanism).upper for _, pairs in shown]
    seen = _seen(ends)
    for (label, pairs), style, largest in zip(shown, _styles(len(shown)), ends, strict=True):
        finite = math.isfinite(largest) and largest > 0
        end = largest if finite else 5.0
        # Close to its end the curve falls ever more steeply: most points go there.
        epsilons = np.append(np.linspace(0, end, _POINTS), end * (1 - np.geomspace(1e-2, 1e-9, _POINTS)))
        epsilons.sort()
        profile = PrivacyProfile(mechanism, pairs)
        deltas = profile.delta_upper(epsilons)
        kept = deltas >= _LEAST_DELTA
        if finite:
            outside_it = " (outside)" if seen is not None and largest > seen else ""
            text = f"{label}: delta 0 from epsilon {briefly_at_most(largest)} on{outside_it}"
            if not outside_it:
                ax.plot([largest], [_LEAST_DELTA], marker="|", markersize=12, color=style["color"], clip_on=False)
        elif math.isinf(largest):
            text = f"{label}: never below {at_most(float(profile.delta_upper(math.inf)), 3)}"
        else:
            text = f"{label}: delta 0 everywhere"
        across, up = np.append(epsilons[kept], end), np.append(deltas[kept], _LEAST_DELTA)
        ax.plot(*((across, up) if finite else (epsilons[kept], deltas[kept])), label=text, **style)
    if not any(np.size(line.get_xdata()) > 1 for line in ax.lines):
        say_instead(
            ax, "A report reveals nothing that a figure shows:\ndelta is 0, or nearly so, at every epsilon."
        )
    ax.set_xlabel("epsilon")
    ax.set_ylabel("delta, rounded up")
    ax.set_yscale("log")
    ax.set_ylim(_LEAST_DELTA, 1.5)
    ax.set_xlim(0, seen)
    ax.set_title("Privacy profile: what each epsilon leaves unprotected", fontsize=11)
    _legend_below(figure, ax, 1)
    return figure


def _seen(ends: Sequence[float]) -> float | None:
    """Return how far epsilon is drawn where the curve of all pairs would leave no room for those of near ones."""
    if len(ends) < 2 or not _FAR * ends[-2] < ends[-1] < math.inf or ends[-2] <= 0:
        return None
    return _SEEN * ends[-2]


def trade_off_figure(
    mechanism: Mechanism, relation: Relation | None = None, metric: Metric | None = None
) -> Figure:
    """Return the trade-off function: the least missed detections of any test at each rate of false alarms.

    Beside it are the line of a mechanism that reveals nothing and, for a single curve, the Gaussian
    curve of its mu.

    Args:
        mechanism: A mechanism.
        relation: The pairs that must look alike; all if None.
        metric: A distance on the secrets; then pairs near each other have curves of their
            own: between places far apart a report may reveal nearly everything.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure, ax = one_panel()
    ax.plot([0, 1], [1, 0], color=GREY, linestyle=":", label="a report reveals nothing (1 - a)")
    shown = _by_distance(mechanism, relation, metric)
    for (label, pairs), style in zip(shown, _styles(len(shown)), strict=True):
        curve = TradeOff.of(mechanism, pairs)
        ax.plot(curve.alphas, curve.betas, label=f"{label}, the worst pair at each rate", **style)
    rates = np.linspace(0.001, 1, _POINTS)
    missed = [np.interp(rates, *np.asarray(line.get_xydata(), dtype=float).T) for line in ax.lines[1:]]
    if all(betas.max() < 1e-9 for betas in missed):
        say_instead(ax, "As far as a figure shows,\na test tells some two secrets apart for certain.")
    elif all(np.allclose(betas, 1 - rates, atol=1e-6) for betas in missed):
        say_instead(ax, "As far as a figure shows,\nno test is better than guessing.")
    if len(shown) == 1:
        mu = GaussianPrivacy(shown[0][1]).measure(mechanism).upper
        if math.isfinite(mu):
            alpha = np.linspace(0, 1, _POINTS)
            text = f"Gaussian curve, mu {at_most(mu, 3)}"
            ax.plot(alpha, GaussianTradeOff(mu)(alpha), color=ORANGE, linestyle="--", label=text)
    ax.set_xlabel("false alarms (probability)")
    ax.set_ylabel("missed detections (probability)")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    ax.set_title("Trade-off: how well the best test tells two secrets apart", fontsize=11)
    _legend_below(figure, ax, 1)
    return figure


def two_secrets_bands(mechanism: Mechanism, metric: Metric) -> list[Band]:
    """Return, for two secrets near each other, to which belief in one of them a report can lead.

    The belief before it is that it is one of the two. There is a band for each of a few
    distances, none where a report can tell two such secrets apart for certain.

    Args:
        mechanism: A mechanism.
        metric: The distance on its secrets.
    """
    bands = []
    for label, pairs in _by_distance(mechanism, None, metric)[:-1]:
        epsilon = DifferentialPrivacy(pairs).measure(mechanism).upper
        if math.isfinite(epsilon):
            bands.append(Band(f"Which of two secrets, {label}", low=-epsilon, high=epsilon))
    return bands


def bands_figure(bands: Sequence[Band], columns: int = 2) -> Figure:
    """Return a panel per band: the posteriors to which each prior probability can lead.

    Args:
        bands: At least one band.
        columns: How many panels stand side by side.

    Raises:
        InputError: If there is no band.
        MissingExtraError: If matplotlib is not installed.
    """
    if not bands:
        raise InputError("no band was given.", "pass those of sfumato.privacy.band or attained_band.")
    rows = math.ceil(len(bands) / columns)
    figure = blank(4.6 * min(columns, len(bands)), 4.4 * rows)
    axes = figure.subplots(rows, min(columns, len(bands)), squeeze=False)
    prior = np.linspace(0, 1, _POINTS)
    for ax, band in zip(axes.flat, bands, strict=False):
        ax.fill_between(prior, band.lower(prior), band.upper(prior), color=BLUE, alpha=0.2, linewidth=0)
        ax.plot(prior, band.upper(prior), color=BLUE, linewidth=1.6)
        ax.plot(prior, band.lower(prior), color=BLUE, linewidth=1.6)
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
        inner = slice(1, -1)
        if np.allclose(band.upper(prior), prior, atol=1e-9) and np.allclose(band.lower(prior), prior, atol=1e-9):
            say_instead(ax, "As far as a figure shows,\na report changes nothing here.")
        elif (band.upper(prior)[inner] >= 1 - 1e-9).all() and (band.lower(prior)[inner] <= 1e-9).all():
            say_instead(ax, "As far as a figure shows,\na report may lead to any belief.")
        ax.set_title(outside(band.title), fontsize=10)
        ax.set_xlabel("probability of the fact before the report")
        ax.set_ylabel("probability after it")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        ax.set_aspect("equal")
        ax.grid(alpha=0.3)
    for ax in list(axes.flat)[len(bands) :]:
        ax.set_visible(False)
    return figure


def _by_distance(
    mechanism: Mechanism, relation: Relation | None, metric: Metric | None
) -> list[tuple[str, Relation | None]]:
    """Return the pairs to draw, the nearest first and all of them last, with their names."""
    if relation is not None:
        return [(relation.name, relation)]
    if metric is None:
        return [("any two secrets", None)]
    if len(metric) != mechanism.shape[0]:
        raise InputError(
            f"the metric is on {len(metric)} values, but the mechanism has {mechanism.shape[0]} secrets.",
            "use one on the secrets.",
        )
    found: list[tuple[str, Relation | None]] = []
    for limit in _limits(metric):
        pairs = Relation.within(metric, limit)
        if 0 < len(pairs) < len(Relation.all(len(metric))):
            found.append((f"at most {amount(limit, metric.unit)} apart", pairs))
    return [*found, ("any two", None)]


def _limits(metric: Metric) -> list[float]:
    """Return up to three round distances from that of nearest neighbours on."""
    apart = np.where(metric.array > 0, metric.array, np.inf)
    nearest = apart.min(axis=1)
    if not np.isfinite(nearest).any():
        return []
    least = float(np.median(nearest[np.isfinite(nearest)]))
    power = math.floor(math.log10(least))
    steps = [digit * 10.0**k for k in (power, power + 1, power + 2) for digit in (1, 2, 5)]
    return [step for step in steps if step >= least * (1 - 1e-9)][:3]


def _styles(number: int) -> list[dict[str, Any]]:
    """Return how curves are told apart: by colour and by line, the last one being of all pairs."""
    looks = [(BLUE, "-"), (GREEN, "--"), (ORANGE, "-."), (LIGHT.ink, (0, (1, 1)))]
    chosen = looks[:1] if number == 1 else [*looks[: number - 1], looks[-1]]
    return [{"color": colour, "linestyle": line, "linewidth": 2} for colour, line in chosen]


def _legend_below(figure: Figure, ax: Axes, columns: int) -> None:
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", fontsize=9, ncols=columns)
