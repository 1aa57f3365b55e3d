"""The curves of an audit: profile, trade-off, prior to posterior, and epsilon against distance."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import Mechanism, Metric, Prior
from ..errors import FileError, InputError
from ..escaping import figure as outside
from ..evidence import worst_ratios
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
from .drawing import blank
from .picture import save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#555555"

_POINTS = 161


def profile_figure(mechanism: Mechanism, relation: Relation | None = None) -> Figure:
    """Return the privacy profile: the least delta at each epsilon, over all related pairs.

    Args:
        mechanism: A mechanism.
        relation: The pairs that must look alike; all if None.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure, ax = _figure()
    largest = DifferentialPrivacy(relation).measure(mechanism).value
    end = 1.05 * largest if math.isfinite(largest) and largest > 0 else 5.0
    profile = PrivacyProfile(mechanism, relation)
    epsilons = np.linspace(0, end, _POINTS)
    deltas = profile.delta_upper(epsilons)
    ax.plot(epsilons, deltas, color=BLUE, linewidth=2, label="delta, rounded up")
    if math.isfinite(largest) and largest > 0:
        ax.axvline(largest, color=ORANGE, linestyle="--", label=f"delta 0 from epsilon {largest:.4g} on")
    elif math.isinf(largest):
        rest = float(profile.delta_upper(math.inf))
        ax.axhline(rest, color=ORANGE, linestyle="--", label=f"never below {rest:.3g}: no epsilon is enough")
    ax.set_xlabel("epsilon")
    ax.set_ylabel("delta")
    ax.set_ylim(bottom=0)
    ax.set_xlim(0, end)
    ax.set_title("Privacy profile: what each epsilon leaves unprotected", fontsize=11)
    ax.legend(fontsize=9)
    return figure


def trade_off_figure(mechanism: Mechanism, relation: Relation | None = None) -> Figure:
    """Return the trade-off function: the least missed detections of any test at each rate of false alarms.

    Beside it stand what hides everything and the Gaussian curve of the mechanism's mu.

    Args:
        mechanism: A mechanism.
        relation: The pairs that must look alike; all if None.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure, ax = _figure()
    curve = TradeOff.of(mechanism, relation)
    mu = GaussianPrivacy(relation).measure(mechanism).upper
    alpha = np.linspace(0, 1, _POINTS)
    ax.plot([0, 1], [1, 0], color=GREY, linestyle=":", label="nothing can be told (1 - a)")
    ax.plot(curve.alphas, curve.betas, color=BLUE, linewidth=2, label="the mechanism's worst pair at each rate")
    if math.isfinite(mu):
        ax.plot(
            alpha, GaussianTradeOff(mu)(alpha), color=ORANGE, linestyle="--", label=f"Gaussian curve, mu {mu:.3g}"
        )
    ax.set_xlabel("false alarms (probability)")
    ax.set_ylabel("missed detections (probability)")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    ax.set_title("Trade-off: how well the best test tells two secrets apart", fontsize=11)
    ax.legend(fontsize=9)
    return figure


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


def epsilon_by_distance_figure(mechanism: Mechanism, metric: Metric) -> Figure:
    """Return a heat map of all pairs: their distance, and by how much a report can tell them apart.

    Args:
        mechanism: A mechanism of n secrets.
        metric: The distance on them; the line of its least epsilon is drawn.

    Raises:
        InputError: If sizes do not fit, or no two secrets are at a finite positive distance.
        MissingExtraError: If matplotlib is not installed.
    """
    n = mechanism.shape[0]
    if len(metric) != n:
        raise InputError(
            f"the metric is on {len(metric)} values, but the mechanism has {n} secrets.", "use one on the secrets."
        )
    figure, ax = _figure()
    ratios, _ = worst_ratios(mechanism)
    apart = (metric.array > 0) & np.isfinite(metric.array) & ~np.eye(n, dtype=bool)
    with np.errstate(divide="ignore"):
        logs = np.log(ratios)
    shown = apart & np.isfinite(logs)
    if not shown.any():
        raise InputError(
            "no pair at a positive distance has a finite likelihood ratio.", "there is nothing to draw."
        )
    d, values = metric.array[shown], np.maximum(logs[shown], 0.0)
    *_, drawn = ax.hist2d(d, values, bins=60, cmap="cividis", cmin=1)
    figure.colorbar(drawn, ax=ax, label="ordered pairs of secrets")
    slope = float((values / d).max())
    unit = outside(metric.unit)
    reach = float(d.max())
    per = f"/{unit}" if unit else ""
    ax.plot([0, reach], [0, slope * reach], color=ORANGE, linestyle="--", label=f"epsilon {slope:.4g}{per}")
    ax.set_xlabel("distance" + (f" ({unit})" if unit else ""))
    ax.set_ylabel("largest ln of a likelihood ratio")
    hidden = int((apart & np.isposinf(logs)).sum())
    if hidden:
        ax.text(0.02, 0.97, f"{hidden:,} pairs are infinite and not shown", transform=ax.transAxes, va="top")
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    ax.set_title("How well a report tells two secrets apart", fontsize=11)
    ax.legend(fontsize=9, loc="lower right")
    return figure


def save_audit_figures(
    mechanism: Mechanism,
    folder: str | os.PathLike[str],
    *,
    prior: Prior | None = None,
    metric: Metric | None = None,
    relation: Relation | None = None,
    events: Events | None = None,
) -> list[Path]:
    """Write the figures of an audit as PNG files and return their paths.

    Args:
        mechanism: A mechanism.
        folder: Where to write; it is made if it is not there.
        prior: What the adversary believes; the band then is that of this prior as well.
        metric: The distance on the secrets, if there is one.
        relation: The pairs that must look alike; all if None.
        events: The facts that must stay hidden; every single secret if None.

    Raises:
        FileError: If a file cannot be written.
        MissingExtraError: If matplotlib is not installed.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"the folder {str(target)!r} cannot be made ({error.strerror}).", "choose another."
        ) from error
    worst = attained_band(mechanism, Priors.all(), events)
    bands = [_titled(worst, "This mechanism, every prior")]
    if prior is not None:
        bands.append(
            _titled(attained_band(mechanism, Priors.of(prior), events), "This mechanism, the given prior")
        )
    figures = {
        "profile": profile_figure(mechanism, relation),
        "trade-off": trade_off_figure(mechanism, relation),
        "prior-to-posterior": bands_figure(bands),
    }
    if metric is not None:
        figures["epsilon-by-distance"] = epsilon_by_distance_figure(mechanism, metric)
    paths = []
    for name, figure in figures.items():
        path = target / f"{name}.png"
        save_picture(figure, path)
        paths.append(path)
    return paths


def _titled(band: Band, title: str) -> Band:
    return Band(title, band.low, band.high, band.fall, band.rise, band.slope, band.delta)


def _figure() -> tuple[Figure, Axes]:
    figure = blank(6.2, 4.8)
    ax: Any = figure.subplots()
    ax.grid(alpha=0.3)
    return figure, ax
