"""Designs with reports anywhere on the plane: rectangles, and losses that no report in them undercuts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core import AnyLoss, Loss, Space, units
from ...core.arrays import Floats
from ...errors import InfeasibleError, SolverError
from ...geo import TruePoints
from ...rounding import UNIT
from ..result import Design
from ..solver import Status, Stop, gap_of

_SIDE: Final = 16  # rectangles along each side, at first
_SAFE_M: Final = 1e-6  # metres less, with rounding of sums: float arithmetic is off by less
_APART_M: Final = 1e-3  # corners nearer to each other are one
_AT_ONCE: Final = 1 << 20  # distances
_INNER: Final = 0.1  # of the wanted gap: that of each program
_USED: Final = 1e-4  # probability of a corner whose rectangles are split
_MOST: Final = 200_000  # losses of a program: some minutes
_CORNERS: Final = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)])

Indices = NDArray[np.intp]

SolveAt = Callable[[AnyLoss, Space | None, float], Design]
"""From a loss, its reports and a gap to the best design with some guarantees."""


@dataclass(frozen=True, slots=True)
class ReportMesh:
    """Rectangles that cover the rectangle around true points.

    On one of them the distance from a point x to a report o is at least <w, x - o>, with w the unit vector (of the
    dual norm) from the nearest point of the rectangle to x, and 0 for a point inside. This is affine in o. So a
    report is no better than a corner at random with the report as its mean, where a corner costs these products:
    docs/proofs/true-place.md.

    ``middles`` and ``half`` are arrays (r, 2), metres, and ``kind`` is the distance. ``points`` have a mass for
    each secret.
    """

    points: TruePoints
    kind: str
    middles: Floats
    half: Floats

    @classmethod
    def over(cls, points: TruePoints, kind: str = "euclidean") -> ReportMesh:
        """Return equal rectangles over all points."""
        low, high = points.xy.min(axis=0), points.xy.max(axis=0)
        half = np.maximum((high - low) / (2 * _SIDE), _SAFE_M)
        ticks = np.arange(_SIDE) * 2 + 1
        middles = low + half * np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
        return cls(points, kind, middles, np.tile(half, (len(middles), 1)))

    def corners(self) -> tuple[Floats, Floats, Indices]:
        """Return the corners (m, 2), their losses (n, m) in metres, and those of each rectangle (r, 4)."""
        every = self.middles[:, None] + self.half[:, None] * _CORNERS
        _, first, where = np.unique(
            np.rint(every.reshape(-1, 2) / _APART_M), axis=0, return_index=True, return_inverse=True
        )
        place = where.reshape(len(self.middles), 4)
        masses = np.asarray(self.points.masses.sum(axis=0))
        losses = np.full((len(masses), len(first)), np.inf)
        constant, slope = self._affine()
        for corner in range(4):
            at = every[:, corner]
            np.minimum.at(losses.T, place[:, corner], constant - (slope * at[:, None]).sum(axis=2))
        means = losses / np.where(masses > 0, masses, 1.0)[:, None]
        xy = self.points.xy
        room = _SAFE_M + 16 * (len(xy) + 4) * UNIT * float(np.abs(xy).max())
        return every.reshape(-1, 2)[first], np.maximum(means - room, 0.0), place

    def _affine(self) -> tuple[Floats, Floats]:
        """Return the sums over points of mass times <w, x>, array (r, n), and times w, array (r, n, 2)."""
        n, count = self.points.masses.shape[1], len(self.middles)
        constant, slope = np.zeros((count, n)), np.zeros((count, n, 2))
        tall = max(1, _AT_ONCE // count)
        for start in range(0, len(self.points.xy), tall):
            rows = slice(start, start + tall)
            xy, masses = self.points.xy[rows], self.points.masses[rows]
            away = xy[:, None] - self.middles
            away = np.sign(away) * np.maximum(np.abs(away) - self.half, 0.0)
            if self.kind == "euclidean":
                length = np.hypot(away[..., 0], away[..., 1])
                away /= np.where(length > 0, length, 1.0)[..., None]
            else:
                away = np.sign(away)
            constant += (masses.T @ (away * xy[:, None]).sum(axis=2)).T
            for axis in (0, 1):
                slope[..., axis] += (masses.T @ away[..., axis]).T
        return constant, slope

    def split(self, used: NDArray[np.bool_]) -> ReportMesh:
        """Return the mesh with some rectangles, array (r,) of bool, divided into four."""
        half = self.half[used] / 2
        quarters = [self.middles[used] + half * corner for corner in _CORNERS]
        middles = np.concatenate([self.middles[~used], *quarters])
        return ReportMesh(self.points, self.kind, middles, np.concatenate([self.half[~used], *[half] * 4]))


def design_on_plane(
    design: Design,
    points: TruePoints,
    solve: SolveAt,
    at_medians: Callable[[Floats], tuple[Loss, Space]],
    *,
    gap: float,
    deadline: float,
    stop: Stop,
) -> Design:
    """Return a design at least as good as another one, with a bound for reports anywhere on the plane.

    Each program over a mesh gives a bound, and columns whose medians are the reports of the next design. Where the
    program puts reports the mesh is refined, until bound and value are within the gap. The result's bound is for
    all reports, if its certificate says so; else there was no time for one within the gap. ``points`` have the
    masses of the prior, and ``at_medians`` returns the loss at the medians of the reports of a channel (n, m). The
    deadline is one of `time.monotonic`.
    """
    best, problem = design, design.problem
    sign, unit = problem.sign, problem.loss.unit
    metres = units.factor("m", unit)
    mesh, bound = ReportMesh.over(points, problem.loss.true_point), -np.inf
    while not stop() and time.monotonic() < deadline:
        _, losses, place = mesh.corners()
        if bound > -np.inf and losses.size > _MOST:
            break
        loss = Loss(losses * metres, unit, true_point=problem.loss.true_point)
        try:
            relaxed = solve(loss, Space(range(losses.shape[1])), _INNER * gap)
        except SolverError:
            break
        bound = max(bound, sign * relaxed.certificate.bound)
        channel = np.zeros(losses.shape)
        channel[:, np.array(relaxed.mechanism.observables.labels, dtype=np.intp)] = relaxed.mechanism.matrix
        used = problem.prior.probabilities @ channel > _USED
        try:
            candidate = solve(*at_medians(channel[:, used]), _INNER * gap)
        except (InfeasibleError, SolverError):
            candidate = best
        best = min(best, candidate, key=lambda design: sign * design.certificate.value)
        if gap_of(problem, best.certificate.value, sign * bound) <= gap:
            break
        mesh = mesh.split(np.asarray(used[place].any(axis=1)))
    if gap_of(problem, best.certificate.value, sign * bound) > gap:
        return best
    bound = min(bound, sign * best.certificate.value)
    certificate = replace(best.certificate, bound=sign * bound, free_reports=True)
    program = replace(best.program, status=Status.OPTIMAL, enough=max(gap, best.enough))
    return Design.of_program(best.mechanism, certificate, program, best.seconds)
