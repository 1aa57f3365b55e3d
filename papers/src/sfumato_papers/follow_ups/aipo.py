"""Anchors: report probabilities designed at the corners of a grid, and between them by interpolating logarithms.

Source: "Interpolation-based optimization for enforcing lp-norm metric differential privacy in continuous and
fine-grained domains" (Anchor-Interpolated Privacy Optimization, AIPO), arXiv 2601.09946, and the code of its
artifact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core import Loss, Metric, MetricPrivacy, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Auto, design


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Anchors(CompactRepr):
    """The corners of equal rectangles on a plane; lengths in km.

    Attributes:
        corner: The south-west corner.
        columns: Rectangles from west to east.
        rows: Rectangles from south to north.
        spacing: The sides of a rectangle.
    """

    corner: tuple[float, float]
    columns: int
    rows: int
    spacing: tuple[float, float]

    @property
    def points(self) -> Floats:
        """All corners, row by row, array (anchors, 2)."""
        x = self.corner[0] + self.spacing[0] * np.arange(self.columns + 1)
        y = self.corner[1] + self.spacing[1] * np.arange(self.rows + 1)
        return np.column_stack([np.tile(x, len(y)), np.repeat(y, len(x))])

    def weights(self, points: Floats) -> Floats:
        """Return how much each corner counts for each point, array (points, anchors); rows sum to one."""
        place = (points - self.corner) / self.spacing
        low = np.clip(np.floor(place), 0, (self.columns - 1, self.rows - 1)).astype(np.intp)
        within = np.clip(place - low, 0.0, 1.0)
        found = np.zeros((len(points), (self.columns + 1) * (self.rows + 1)))
        everyone = np.arange(len(points))
        for right in (0, 1):
            for up in (0, 1):
                share = np.where(right, within[:, 0], 1 - within[:, 0]) * np.where(
                    up, within[:, 1], 1 - within[:, 1]
                )
                found[everyone, low[:, 0] + right + (low[:, 1] + up) * (self.columns + 1)] = share
        return found

    def distances(self, east: float, north: float) -> Metric:
        """Return east |x - x'| + north |y - y'| between corners."""
        points = self.points
        apart = np.abs(points[:, None] - points[None])
        return Metric(apart @ np.array([east, north]), name="exponents along both axes", triangle=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnchorNoise(CompactRepr):
    """Reports whose log probabilities are interpolated between corners, and normalised for each point.

    Along x the logarithm of a report's weight changes by at most ``east`` per km between corners, so in between,
    too; along y by ``north``. The logarithm of the sum of weights changes by no more. So epsilon is at most
    2 sqrt(east^2 + north^2) for any two points of the box.

    Attributes:
        anchors: The corners.
        logs: Logarithms of the report probabilities at the corners, array (anchors, reports).
    """

    anchors: Anchors
    logs: Floats

    def at(self, points: Floats) -> Floats:
        """Return p(o|x), array (points, reports)."""
        weights = np.exp(self.anchors.weights(points) @ self.logs)
        found: Floats = weights / weights.sum(axis=1, keepdims=True)
        return found

    @property
    def epsilon(self) -> float:
        """The bound of epsilon for any two points of the box, per km, computed in floating point."""
        logs = self.logs.reshape(self.anchors.rows + 1, self.anchors.columns + 1, -1)
        east = float(np.abs(np.diff(logs, axis=1)).max(initial=0.0)) / self.anchors.spacing[0]
        north = float(np.abs(np.diff(logs, axis=0)).max(initial=0.0)) / self.anchors.spacing[1]
        return 2 * math.hypot(east, north)


def anchored(anchors: Anchors, points: Floats, reports: Floats, east: float, north: float) -> AnchorNoise:
    """Return the noise of least loss at the corners with bounded changes of logarithms per km.

    The loss at a corner is that of the points around it, by their weights: as if probabilities were interpolated,
    and not their logarithms.

    Args:
        anchors: The corners.
        points: The points, km, array (points, 2).
        reports: The places that can be reported, km, array (reports, 2).
        east: By how much a logarithm may change per km along x.
        north: The same along y.
    """
    weights = anchors.weights(points)
    mass = weights.sum(axis=0)
    lost = weights.T @ distances(points, reports) / np.maximum(mass, 1e-300)[:, None]
    corners = Space(range(len(mass)), anchors.points, "")
    found = design(
        Prior(corners, mass / mass.sum()),
        loss=Loss(lost, "km"),
        guarantees=MetricPrivacy(1.0, anchors.distances(east, north)),
        observables=Space([f"report {k}" for k in range(len(reports))]),
        solver=Auto(1),
        gap=1e-4,
        tie_break=False,
        method="table",
    ).mechanism
    with np.errstate(divide="ignore"):
        logs = np.log(found.matrix)
    # A report that no corner makes is made nowhere.
    return AnchorNoise(anchors, np.where(np.isfinite(logs), logs, -1e3))


def distances(points: Floats, others: Floats) -> Floats:
    """Return the distances of points from others, array (points, others)."""
    found: Floats = np.hypot(*(points[:, None] - others[None]).transpose(2, 0, 1))
    return found


def broken(beliefs: Floats, points: Floats, epsilon: float) -> tuple[float, float]:
    """Return the share of pairs of points that violate epsilon, and their largest epsilon per km.

    Args:
        beliefs: p(o|x), array (points, reports).
        points: Array (points, 2), km, no two the same.
        epsilon: Per km.
    """
    made: NDArray[np.bool_] = beliefs.max(axis=0) > 0
    logs = np.log(np.maximum(beliefs[:, made], 1e-300))
    first, second = np.triu_indices(len(points), k=1)
    ratios = np.array([np.abs(logs[i] - logs[j]).max() for i, j in zip(first, second, strict=True)])
    apart = distances(points, points)[first, second]
    seen = ratios / apart
    return float((seen > epsilon * (1 + 1e-9)).mean()), float(seen.max())
