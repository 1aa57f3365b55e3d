"""Figures of an audit: profile, trade-off, prior to posterior, and epsilon by distance."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism, Metric, Prior
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError
from ..escaping import figure as outside
from ..privacy import (
    Band,
    DifferentialPrivacy,
    Events,
    GaussianPrivacy,
    GaussianTradeOff,
    Priors,
    PrivacyProfile,
    Relation,
    TradeOff,
    attained_band,
)
from ..proofs import worst_ratios
from ..rounding import amount, at_most, briefly_at_most
from .theme import LIGHT, Theme, blank, check_suffix, colour_bar, one_panel, save_picture, say_instead, share_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = *LIGHT.series[:3], LIGHT.muted
_BY_DISTANCE = "epsilon-by-distance"
_POINTS = 161
_LEAST_DELTA = 1e-9  # where the axis of delta ends
_CUT_RATIO = 10.0  # ratio of the epsilon of all pairs to that of near pairs from which the axis is cut
_AXIS_END = 4.0  # end of a cut axis, in epsilons of near pairs
_LEAST_RATIO = 1e-9  # least end of the axis of ratios
_DOTS = 600  # largest number of pairs with a dot each; more pairs are counted in squares
_DOT: Any = {"linestyle": "none", "marker": "o", "markersize": 5, "color": LIGHT.series[0], "alpha": 0.6}
_DISTANCE_RANGE = (1e-100, 1e100)  # distances between these are drawn


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AuditFigures(CompactRepr):
    """Figures of an audit by name: profile, trade-off, prior-to-posterior and epsilon-by-distance."""

    figures: Mapping[str, Figure]
    left_out: Mapping[str, str]  # the reason for each missing figure

    def save(self, folder: str | os.PathLike[str], *, ending: str = ".png", theme: Theme = LIGHT) -> list[Path]:
        """Write each figure as a file with its name and return the paths.

        Raises `InputError` if there is no such ending. Raises `FileError` if a file cannot be written.
        """
        target = Path(folder)
        paths = {target / f"{name}{ending}": figure for name, figure in self.figures.items()}
        for path in paths:
            check_suffix(path)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(
                f"the folder {str(target)!r} cannot be made ({error.strerror}).", "choose another."
            ) from error
        for path, figure in paths.items():
            save_picture(figure, path, theme)
        return list(paths)


def audit_figures(
    mechanism: Mechanism,
    *,
    prior: Prior | None = None,
    metric: Metric | None = None,
    relation: Relation | None = None,
    events: Events | None = None,
) -> AuditFigures:
    """Return the figures of an audit, with a band for the adversary's prior.

    Without a relation all pairs must look alike, and without events every single secret must stay hidden. Raises
    `MissingExtraError` if matplotlib is not installed.
    """
    bands = [] if metric is None or relation is not None else two_secrets_bands(mechanism, metric)[:2]
    if not bands or prior is None:  # among all secrets of a map some are so far apart that it excludes nothing
        bands.append(replace(attained_band(mechanism, Priors.all(), events), title="Any fact, every prior"))
    if prior is not None:
        band = attained_band(mechanism, Priors.of(prior), events)
        bands.append(replace(band, title="Any fact, the given prior"))
    figures = {
        "profile": profile_figure(mechanism, relation, metric),
        "trade-off": trade_off_figure(mechanism, relation, metric),
        "prior-to-posterior": bands_figure(bands, columns=min(len(bands), 3)),
    }
    why = "no distance of two secrets is given"
    if metric is not None:
        logs, mask = finite_pairs(mechanism, metric)
        if mask.any():
            figures[_BY_DISTANCE] = epsilon_by_distance_figure(mechanism, metric)
            return AuditFigures(figures, {})
        why = "of any two secrets some report can come from the one and never from the other"
        if np.isnan(logs).all():
            why = "no two secrets are at a finite distance above 0"
    return AuditFigures(figures, {_BY_DISTANCE: why})


def profile_figure(mechanism: Mechanism, relation: Relation | None = None, metric: Metric | None = None) -> Figure:
    """Return the privacy profile: the least delta at each epsilon, over all related pairs.

    Raises `MissingExtraError` if matplotlib is not installed.
    """
    figure, ax = one_panel()
    relations = _by_distance(mechanism, relation, metric)
    ends = [DifferentialPrivacy(pairs).measure(mechanism).upper for _, pairs in relations]
    # The axis ends where the curve of all pairs would hide those of near ones.
    cut = len(ends) > 1 and 0 < _CUT_RATIO * ends[-2] < ends[-1] < math.inf
    limit = _AXIS_END * ends[-2] if cut else None
    for (label, pairs), style, largest in zip(relations, _styles(len(relations)), ends, strict=True):
        finite = math.isfinite(largest) and largest > 0
        end = largest if finite else 5.0
        # Close to its end the curve falls ever more steeply: most points go there.
        epsilons = np.append(np.linspace(0, end, _POINTS), end * (1 - np.geomspace(1e-2, 1e-9, _POINTS)))
        epsilons.sort()
        profile = PrivacyProfile(mechanism, pairs)
        deltas = profile.delta_upper(epsilons)
        visible = deltas >= _LEAST_DELTA
        if finite:
            outside_it = " (outside)" if limit is not None and largest > limit else ""
            text = f"{label}: delta 0 from epsilon {briefly_at_most(largest)} on{outside_it}"
            if not outside_it:
                ax.plot([largest], [_LEAST_DELTA], marker="|", markersize=12, color=style["color"], clip_on=False)
        elif math.isinf(largest):
            text = f"{label}: never below {at_most(float(profile.delta_upper(math.inf)), 3)}"
        else:
            text = f"{label}: delta 0 everywhere"
        across, up = np.append(epsilons[visible], end), np.append(deltas[visible], _LEAST_DELTA)
        ax.plot(*((across, up) if finite else (epsilons[visible], deltas[visible])), label=text, **style)
    if not any(np.size(line.get_xdata()) > 1 for line in ax.lines):
        say_instead(
            ax, "A report reveals nothing that a figure shows:\ndelta is 0, or nearly so, at every epsilon."
        )
    ax.set(xlabel="epsilon", ylabel="delta, rounded up", yscale="log", ylim=(_LEAST_DELTA, 1.5), xlim=(0, limit))
    ax.set_title("Privacy profile: what each epsilon leaves unprotected", fontsize=11)
    _legend_below(figure, ax, 1)
    return figure


def trade_off_figure(
    mechanism: Mechanism, relation: Relation | None = None, metric: Metric | None = None
) -> Figure:
    """Return the trade-off function: the least missed detections of any test at each rate of false alarms.

    Next to it are the line of a mechanism that reveals nothing and, for a single curve, the Gaussian curve of its
    mu. A metric on the secrets adds curves of near pairs. Raises `MissingExtraError` if matplotlib is not
    installed.
    """
    figure, ax = one_panel()
    ax.plot([0, 1], [1, 0], color=GREY, linestyle=":", label="a report reveals nothing (1 - a)")
    relations = _by_distance(mechanism, relation, metric)
    for (label, pairs), style in zip(relations, _styles(len(relations)), strict=True):
        curve = TradeOff.of(mechanism, pairs)
        ax.plot(curve.alphas, curve.betas, label=f"{label}, the worst pair at each rate", **style)
    rates = np.linspace(0.001, 1, _POINTS)
    misses = [np.interp(rates, *np.asarray(line.get_xydata(), dtype=float).T) for line in ax.lines[1:]]
    if all(betas.max() < 1e-9 for betas in misses):
        say_instead(ax, "As far as a figure shows,\na test distinguishes some two secrets for certain.")
    elif all(np.allclose(betas, 1 - rates, atol=1e-6) for betas in misses):
        say_instead(ax, "As far as a figure shows,\nno test is better than guessing.")
    if len(relations) == 1:
        mu = GaussianPrivacy(relations[0][1]).measure(mechanism).upper
        if math.isfinite(mu):
            alpha = np.linspace(0, 1, _POINTS)
            text = f"Gaussian curve, mu {at_most(mu, 3)}"
            ax.plot(alpha, GaussianTradeOff(mu)(alpha), color=ORANGE, linestyle="--", label=text)
    ax.set_xlabel("false alarms (probability)")
    ax.set(ylabel="missed detections (probability)", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_title("Trade-off: how well the best test distinguishes two secrets", fontsize=11)
    _legend_below(figure, ax, 1)
    return figure


def two_secrets_bands(mechanism: Mechanism, metric: Metric) -> list[Band]:
    """Return bands of the belief in one of two near secrets, one of which is true, for a few distances.

    There is none where a report can distinguish two such secrets for certain.
    """
    bands = []
    for label, pairs in _by_distance(mechanism, None, metric)[:-1]:
        epsilon = DifferentialPrivacy(pairs).measure(mechanism).upper
        if math.isfinite(epsilon):
            bands.append(Band(f"Which of two secrets, {label}", low=-epsilon, high=epsilon))
    return bands


def bands_figure(bands: Sequence[Band], columns: int = 2) -> Figure:
    """Return a panel per band, in columns: the posteriors to which each prior probability can lead.

    Raises `InputError` if there is no band. Raises `MissingExtraError` if matplotlib is not installed.
    """
    if not bands:
        raise InputError("no band was given.", "pass those of sfumato.privacy.band or attained_band.")
    rows = math.ceil(len(bands) / columns)
    figure = blank(4.6 * min(columns, len(bands)), 4.4 * rows)
    axes = figure.subplots(rows, min(columns, len(bands)), squeeze=False)
    prior = np.linspace(0, 1, _POINTS)
    for ax, band in zip(axes.flat, bands, strict=False):
        lower, upper = band.lower(prior), band.upper(prior)
        ax.fill_between(prior, lower, upper, color=BLUE, alpha=0.2, linewidth=0)
        ax.plot(prior, upper, color=BLUE, linewidth=1.6)
        ax.plot(prior, lower, color=BLUE, linewidth=1.6)
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
        if np.allclose(upper, prior, atol=1e-9) and np.allclose(lower, prior, atol=1e-9):
            say_instead(ax, "As far as a figure shows,\na report changes nothing here.")
        elif (upper[1:-1] >= 1 - 1e-9).all() and (lower[1:-1] <= 1e-9).all():
            say_instead(ax, "As far as a figure shows,\na report may lead to any belief.")
        ax.set_title(outside(band.title), fontsize=10)
        ax.set_xlabel("probability of the fact before the report")
        ax.set(ylabel="probability after it", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.grid(alpha=0.3)
    for ax in list(axes.flat)[len(bands) :]:
        ax.set_visible(False)
    return figure


def _by_distance(
    mechanism: Mechanism, relation: Relation | None, metric: Metric | None
) -> list[tuple[str, Relation | None]]:
    """Return the named pairs to draw, the nearest first and all pairs last."""
    if relation is not None:
        return [(relation.name, relation)]
    if metric is None:
        return [("any two secrets", None)]
    _check_size(mechanism, metric)
    relations: list[tuple[str, Relation | None]] = []
    for limit in _limits(metric):
        pairs = Relation.of_radius(metric, limit)
        if 0 < len(pairs) < len(Relation.all(len(metric))):
            relations.append((f"at most {amount(limit, metric.unit)} apart", pairs))
    return [*relations, ("any two", None)]


def _check_size(mechanism: Mechanism, metric: Metric) -> None:
    n = mechanism.shape[0]
    if len(metric) != n:
        raise InputError(
            f"the metric is on {len(metric)} values, but the mechanism has {n} secrets.", "use one on the secrets."
        )


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
    """Return the styles of curves: colour and line, the last one being of all pairs."""
    looks = [(BLUE, "-"), (GREEN, "--"), (ORANGE, "-."), (LIGHT.ink, (0, (1, 1)))]
    styles = looks[:1] if number == 1 else [*looks[: number - 1], looks[-1]]
    return [{"color": colour, "linestyle": line, "linewidth": 2} for colour, line in styles]


def _legend_below(figure: Figure, ax: Axes, columns: int) -> None:
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", fontsize=9, ncols=columns)


def epsilon_by_distance_figure(mechanism: Mechanism, metric: Metric) -> Figure:
    """Return the largest log-likelihood ratio of pairs against their distance, as dots or squares.

    Raises `InputError` if sizes do not fit, or no two secrets are at a finite positive distance. Raises
    `MissingExtraError` if matplotlib is not installed.
    """
    _check_size(mechanism, metric)
    logs, mask = finite_pairs(mechanism, metric)
    if not mask.any():
        raise InputError(
            "no pair at a positive distance has a finite likelihood ratio.", "there is nothing to draw."
        )
    figure, ax = one_panel()
    from matplotlib.colors import PowerNorm

    d, values = metric.array[mask], np.maximum(logs[mask], 0.0)
    reach, top = float(d.max()), float(values.max())
    with np.errstate(over="ignore"):
        slope = float((values / d).max())
    unit = outside(metric.unit)
    per = f"/{unit}" if unit else ""
    ax.set_title("How well a report distinguishes two secrets", fontsize=11)
    if not (_DISTANCE_RANGE[0] < reach < _DISTANCE_RANGE[1] and slope < _DISTANCE_RANGE[1]):
        say_instead(ax, "The distances are too small or too large for a figure.")
        return figure
    if top < _LEAST_RATIO:
        say_instead(ax, "As far as a figure shows,\na report distinguishes no two secrets.")
    if len(d) <= _DOTS:
        ax.plot(d, values, label="a pair of secrets", **_DOT)
    else:
        ends = [[0, reach], [0, max(1.02 * top, _LEAST_RATIO)]]
        scale, norm = share_scale(), PowerNorm(0.5, vmin=0)
        ax.hist2d(d, values, bins=60, range=ends, cmap=scale, cmin=1, norm=norm)
        colour_bar(scale, norm, ax, "ordered pairs of secrets", counts=True)
    label = f"epsilon {briefly_at_most(slope)}{per}"
    ax.plot([0, reach], [0, slope * reach], color=ORANGE, linestyle="--", label=label)
    ax.set(xlabel="distance" + (f" ({unit})" if unit else ""), ylabel="largest ln of a likelihood ratio")
    infinities = int(np.isposinf(logs).sum())
    if infinities:
        text = f"{infinities:,} pairs are infinite and not shown"
        ax.text(0.98, 0.03, text, transform=ax.transAxes, ha="right", va="bottom")
    ax.set(ylim=(0, 1.05 * max(top, _LEAST_RATIO)), xlim=(0, 1.03 * reach))
    _legend_below(figure, ax, 2)
    return figure


def finite_pairs(mechanism: Mechanism, metric: Metric) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the logarithms of ratios of pairs at a positive distance, NaN for others, and which are finite."""
    ratios, _ = worst_ratios(mechanism)
    apart = (metric.array > 0) & np.isfinite(metric.array) & ~np.eye(len(metric), dtype=bool)
    with np.errstate(divide="ignore"):
        logs = np.where(apart, np.log(ratios), np.nan)
    return logs, np.isfinite(logs)
