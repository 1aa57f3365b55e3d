"""The figures of an audit, and which of them there cannot be."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core import Mechanism, Metric, Prior
from ..core.immutable import CompactRepr
from ..errors import FileError
from ..privacy import Band, Events, Priors, Relation, attained_band
from .curves import bands_figure, profile_figure, trade_off_figure, two_secrets_bands
from .distances import epsilon_by_distance_figure, finite_pairs
from .theme import LIGHT, Theme, check_suffix, save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BY_DISTANCE = "epsilon-by-distance"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AuditFigures(CompactRepr):
    """Figures of an audit.

    Attributes:
        drawn: Each figure by its name: ``profile``, ``trade-off``, ``prior-to-posterior`` and, where there is a
            distance, ``epsilon-by-distance``.
        left_out: Why there is no such figure, by its name.
    """

    drawn: Mapping[str, Figure]
    left_out: Mapping[str, str]

    def save(self, folder: str | os.PathLike[str], *, ending: str = ".png", theme: Theme = LIGHT) -> list[Path]:
        """Write each figure as a file with its name and return the paths.

        Args:
            folder: Where to write; it is made if it is not there.
            ending: ``.png``, ``.svg`` or ``.pdf``.
            theme: `LIGHT` or `DARK`.

        Raises:
            InputError: If there is no such ending.
            FileError: If a file cannot be written.
        """
        target = Path(folder)
        paths = {target / f"{name}{ending}": figure for name, figure in self.drawn.items()}
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
    """Return the figures of an audit.

    Args:
        mechanism: A mechanism.
        prior: What the adversary believes; the band then is that of this prior as well.
        metric: The distance on the secrets, if there is one.
        relation: The pairs that must look alike; all if None.
        events: The facts that must stay hidden; every single secret if None.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    bands = [] if metric is None or relation is not None else two_secrets_bands(mechanism, metric)[:2]
    if not bands or prior is None:  # among all secrets of a map some are so far apart that it excludes nothing
        bands.append(_titled(attained_band(mechanism, Priors.all(), events), "Any fact, every prior"))
    if prior is not None:
        bands.append(_titled(attained_band(mechanism, Priors.of(prior), events), "Any fact, the given prior"))
    drawn = {
        "profile": profile_figure(mechanism, relation, metric),
        "trade-off": trade_off_figure(mechanism, relation, metric),
        "prior-to-posterior": bands_figure(bands, columns=min(len(bands), 3)),
    }
    why = _no_distances(mechanism, metric)
    if metric is not None and not why:
        drawn[_BY_DISTANCE] = epsilon_by_distance_figure(mechanism, metric)
    return AuditFigures(drawn, {_BY_DISTANCE: why} if why else {})


def _no_distances(mechanism: Mechanism, metric: Metric | None) -> str:
    """Return why epsilon cannot be drawn against distance; nothing if it can."""
    if metric is None:
        return "no distance of two secrets is given"
    logs, shown = finite_pairs(mechanism, metric)
    if shown.any():
        return ""
    if np.isnan(logs).all():
        return "no two secrets are at a finite distance above 0"
    return "of any two secrets some report can come from the one and never from the other"


def _titled(band: Band, title: str) -> Band:
    return Band(title, band.low, band.high, band.fall, band.rise, band.slope, band.delta)
