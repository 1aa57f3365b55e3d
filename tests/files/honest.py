"""Honest files of every kind, for forgers to change."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

import sfumato as sf
from sfumato.core import Mechanism, Metric, Space
from sfumato.files import MechanismFile
from sfumato.mechanisms.tupling import TuplePrivacy, Tupling
from sfumato.optimal import Design, LinearConstraint

POINTS = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.5, 0.0), (5.0, 0.0)]
PLACES = Space(POINTS, POINTS, unit="km")
"""Labels that are their own coordinates: what lies where is not the word of the file."""
LATLON = [(48.85, 2.35), (48.86, 2.36), (48.9, 2.3)]
METRIC = PLACES.metric("euclidean")
PRIOR = sf.Prior(PLACES, [0.3, 0.0, 0.25, 0.25, 0.2])
NEAR = sf.MetricPrivacy(0.8, METRIC)


@cache
def honest(name: str) -> MechanismFile:
    """Return an honest file by name, with all that its design knows."""
    return KINDS[name]()


def _of(design: Design) -> MechanismFile:
    return MechanismFile.of_design(design, {})


def _smoothed(space: Space, metric: Metric, epsilon: float) -> MechanismFile:
    """An exponential mechanism that keeps epsilon, with the metric as loss."""
    weights = np.exp(-epsilon / 2 * metric.array * (1 - 1e-9))
    mechanism = Mechanism(weights / weights.sum(axis=1, keepdims=True), space)
    return MechanismFile(mechanism, sf.Prior.uniform(space), metric, [sf.MetricPrivacy(epsilon, metric)])


def _named(kind: str) -> MechanismFile:
    spaces = {
        "jaccard": Space([frozenset("ab"), frozenset("bc"), frozenset("cde")]),
        "absolute": Space.numbers([1, 2, 4], unit="year"),
        "great-circle": Space(LATLON, LATLON, crs="EPSG:4326"),
    }
    space = spaces.get(kind, PLACES)
    metric = space.metric(kind, "km" if kind == "great-circle" else None)
    return _smoothed(space, metric, 0.7)


def _grid() -> MechanismFile:
    grid = sf.Grid.covering("3 km x 2 km around 48.85,2.35", cell="1 km")
    return _smoothed(grid, grid.metric("euclidean", "km"), 1.0)


def _hexagons() -> MechanismFile:
    cells = sf.Hexagons.covering("2 km x 2 km around 48.85,2.35", resolution=8)
    return _smoothed(cells, cells.metric("euclidean", "km"), 1.0)


def _limited() -> MechanismFile:
    """A design with two attackers and two linear constraints, one of which costs something."""
    stay = np.zeros((5, 5))
    stay[4, 4] = 1.0
    rarely = LinearConstraint(stay, 0.3, name="e told as e")
    second = LinearConstraint.expected_loss(PRIOR, sf.hamming(PLACES), 0.9)
    errors = [sf.DistortionPrivacy(1.0, METRIC), sf.DistortionPrivacy(0.3, sf.hamming(PLACES))]
    return _of(sf.design(PRIOR, loss=METRIC, guarantees=[NEAR, *errors], constraints=[rarely, second]))


def _own() -> MechanismFile:
    return _smoothed(PLACES, Metric(METRIC.array, "km", name="walk"), 0.8)


def _far() -> MechanismFile:
    points = [(0.0, 0.0), (0.1, 0.0), (1e13, 0.0)]
    space = Space(points, points, unit="km")
    mechanism = Mechanism([[0.5, 0.49, 0.01], [0.49, 0.5, 0.01], [0.4, 0.4, 0.2]], space)
    return MechanismFile(mechanism, guarantees=[sf.MetricPrivacy(1.0, space.metric("euclidean"))])


def _tuples() -> MechanismFile:
    coin = Mechanism([[0.75, 0.25], [0.25, 0.75]])
    return MechanismFile(Tupling(coin, 20, [0.5, 0.5]), guarantees=[TuplePrivacy(0.8, 0.01)])


KINDS: dict[str, Callable[[], MechanismFile]] = {
    "expected": lambda: _of(sf.design(PRIOR, loss=METRIC, guarantees=[NEAR])),
    "worst": lambda: _of(sf.design(PRIOR, loss=METRIC, guarantees=[NEAR], objective="worst-case")),
    "joint": lambda: _of(
        sf.design(PRIOR, loss=sf.hamming(PLACES), guarantees=[NEAR, sf.DistortionPrivacy(1.0, METRIC)])
    ),
    "distortion": lambda: _of(
        sf.design(PRIOR, loss=sf.hamming(PLACES), guarantees=[sf.DistortionPrivacy(1.0, METRIC)])
    ),
    "dual": lambda: _of(
        sf.maximise_distortion(PRIOR, loss=sf.hamming(PLACES), distance=METRIC, max_loss=0.6, guarantees=[NEAR])
    ),
    "threshold": lambda: _of(
        sf.design(PRIOR, loss=METRIC, guarantees=[sf.ThresholdPrivacy(1.0, METRIC, "1.6 km")])
    ),
    "limited": _limited,
    "own": _own,
    "far": _far,
    "tuples": _tuples,
    "grid": _grid,
    "hexagons": _hexagons,
    **{kind: partial(_named, kind) for kind in ("great-circle", "manhattan", "hamming", "absolute", "jaccard")},
}
