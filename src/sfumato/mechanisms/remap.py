"""Optimal post-processing: each report replaced by the best one given what it reveals."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core import AnyLoss, Mechanism, Prior, Space, as_loss
from ..core.arrays import Floats
from ..errors import InputError
from ..geo import GeometricMedian as GeometricMedian
from ..geo import geometric_median as geometric_median
from ..geo import median_from


def remap_mechanism(
    mechanism: Mechanism, prior: Prior, loss: AnyLoss, observables: Space | None = None
) -> Mechanism:
    """Return the mechanism followed by the remap of least expected loss.

    z -> argmin over o of sum over s of prior(s) p(z|s) l(s, o). A report keeps its label where none is better. The
    guarantees of the mechanism still hold, exactly and on its integers, and the expected loss never grows. If the
    loss is the adversary's distance, their error then equals the expected loss. ``loss`` is l(s, o), array (n, m),
    on n secrets and the m observables to choose from, by default those of the mechanism. Raises `InputError` if
    sizes differ.

    Source:
        Chatzikokolakis, ElSalamouny and Palamidessi, "Efficient utility improvement for location privacy", PETS
        2017.
    """
    reports = mechanism.observables
    space = reports if observables is None else observables
    costs = mechanism.joint(prior).T @ as_loss(loss, mechanism.shape[0], len(space)).array
    best = np.argmin(costs, axis=1)
    positions = {label: position for position, label in enumerate(space.labels)}
    mapping = {}
    for z, label in enumerate(reports.labels):
        stays = label in positions and costs[z, positions[label]] <= costs[z, best[z]]
        mapping[label] = label if stays else space.labels[best[z]]
    return mechanism.then(Mechanism.deterministic(mapping, reports, space))


def remap_in_plane(
    mechanism: Mechanism,
    prior: Prior,
    loss: Literal["euclidean", "squared"] = "euclidean",
    tolerance: float = 1e-9,
) -> Mechanism:
    """Return the mechanism with every report replaced by the best point of the plane.

    For the Euclidean distance it is the geometric median of the posterior, for the squared distance its mean.
    Reports keep their labels and integers and get the points as coordinates, so all guarantees still hold,
    exactly. `sfumato.loss` between secrets and observables gives the new loss. A report that no possible secret
    produces gets the best point of the prior. The secrets have coordinates, not in degrees. ``tolerance`` is the
    relative excess of each median's expected distance over the least one, at most. Raises `InputError` if the
    secrets have no such coordinates, the loss is unknown, or sizes differ. Raises `SolverError` if the tolerance
    is below the precision of floats.

    Source:
        Chatzikokolakis, ElSalamouny and Palamidessi, PETS 2017, section 3; Oya, Troncoso and Pérez-González, CCS
        2017.
    """
    space = mechanism.secrets
    x = space.coordinates
    if x is None or space.unit == "degree":
        raise InputError(
            f"{space!r} has no coordinates on a plane.", "use a Grid, or coordinates in metres for every secret."
        )
    space.check_straight("geometric medians")
    if loss not in ("euclidean", "squared"):
        raise InputError(f"the loss {loss!r} is unknown.", "use 'euclidean' or 'squared'.")
    joint = mechanism.joint(prior)
    produced = joint.any(axis=0)
    beliefs = np.where(produced, joint, prior.probabilities[:, None])
    beliefs = beliefs / beliefs.sum(axis=0)
    points = beliefs.T @ x if loss == "squared" else _medians(x, beliefs, tolerance)
    places = Space(mechanism.observables.labels, points, space.unit, space.crs)
    return Mechanism.from_weights(mechanism.weights, mechanism.bits, space, places)


def _medians(x: Floats, beliefs: Floats, tolerance: float) -> Floats:
    """Return the geometric median of each column of beliefs, array (m, k)."""
    distances = np.sqrt(sum((x[:, None, k] - x[None, :, k]) ** 2 for k in range(x.shape[1])))
    starts = np.argmin(distances @ beliefs, axis=0)
    points = []
    for start, belief in zip(starts, beliefs.T, strict=True):
        possible = belief > 0
        points.append(median_from(x[possible], belief[possible], x[start], tolerance).point)
    return np.array(points)
