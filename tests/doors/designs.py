"""Designs of every kind, small and by public names alone, and their numbers."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np

import sfumato as sf

LINE: Final = sf.Space.numbers(range(5))
STEPS: Final = LINE.metric("absolute")
SAME: Final = sf.hamming(LINE)
EVEN: Final = sf.Prior.uniform(LINE)
SKEWED: Final = sf.Prior(LINE, [0.3, 0.0, 0.25, 0.25, 0.2])
ANSWERS: Final = sf.Space("abcd")
AGES: Final = sf.NumberBins(18, 5, 6, "year")
HOURS: Final = sf.Space.numbers(range(0, 24, 3), period=24)
COLUMNS: Final = sf.JointSpace({"diagnosis": sf.Space(["flu", "none"]), "age": sf.NumberBins(18, 5, 3, "year")})
REGION: Final = "4 km x 3 km around 48.85,2.35"
VISITS: Final = sf.Visits(
    48.85 + 0.004 * np.array([-2, -1, 0, 1, 2, 0, 0, 1, -1, 2] * 4),
    2.35 + 0.006 * np.array([-2, 1, 0, -1, 2, 0, 1, 2, -2, 0] * 4),
)
INNER: Final = sf.Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])


def _steps(epsilon: float, prior: sf.Prior = EVEN, loss: Any = STEPS, *more: Any, **options: Any) -> Any:
    """Return a design for the numbers 0 to 4, with epsilon per step."""
    return sf.design(prior, loss=loss, guarantees=[sf.MetricPrivacy(epsilon, STEPS), *more], **options)


def _response(space: Any, prior: sf.Prior, epsilon: float) -> Any:
    same = sf.hamming(space)
    return sf.design(prior, loss=same, guarantees=sf.MetricPrivacy(epsilon, same))


def _numbers(prior: sf.Prior, epsilon: str) -> Any:
    metric = prior.space.metric("absolute")
    return sf.design(prior, loss=metric, guarantees=sf.MetricPrivacy(epsilon, metric))


def _cells() -> Any:
    grid = sf.Grid.covering(REGION, cell="1 km")
    metric = grid.metric("euclidean", "km")
    return sf.design(sf.Prior.uniform(grid), loss=metric, guarantees=sf.MetricPrivacy("1/km", metric))


def _lattice(kind: Any) -> Any:
    lattice = sf.Lattice.covering(REGION, "1.5 km", kind=kind)
    metric = lattice.metric("euclidean", unit="km")
    promise = sf.CoordinatePrivacy("1/km")
    return sf.design(sf.Prior.uniform(lattice), loss=metric, guarantees=promise, method="table")


def _visits(epsilon: str, method: Any, spacing: str = "1.5 km") -> Any:
    lattice = sf.Lattice.covering(VISITS, spacing)
    prior, promise = sf.Prior.from_visits(lattice, VISITS), sf.CoordinatePrivacy(epsilon)
    return sf.design(prior, loss=lattice.loss(VISITS), guarantees=promise, method=method)


def _constrained() -> Any:
    corner = np.zeros((5, 5))
    corner[4, 4] = 1.0
    limit = sf.optimal.LinearConstraint(corner, 0.3, name="the last as the last")
    return _steps(0.8, SKEWED, constraints=limit)


DESIGNS: Final[Mapping[str, Callable[[], Any]]] = {
    "line": lambda: _steps(math.log(2)),
    "line-skewed": lambda: _steps(0.8, SKEWED),
    "line-hits": lambda: _steps(1.0, EVEN, SAME),
    "distortion": lambda: sf.design(EVEN, loss=SAME, guarantees=sf.DistortionPrivacy(0.75, STEPS)),
    "coin": lambda: sf.design(EVEN, loss=STEPS, guarantees=sf.DistortionPrivacy(0.9, STEPS)),
    "both": lambda: _steps(1.0, EVEN, SAME, sf.DistortionPrivacy(1.0, STEPS)),
    "dual": lambda: sf.maximise_distortion(
        EVEN, loss=SAME, distance=STEPS, max_loss=0.5, guarantees=sf.MetricPrivacy(1, STEPS)
    ),
    "threshold": lambda: sf.design(SKEWED, loss=STEPS, guarantees=sf.ThresholdPrivacy(1.0, STEPS, 2)),
    "worst-case": lambda: _steps(0.8, SKEWED, objective="worst-case"),
    "constrained": _constrained,
    "response": lambda: _response(ANSWERS, sf.Prior.uniform(ANSWERS), 1.2),
    "response-skewed": lambda: _response(ANSWERS, sf.Prior(ANSWERS, [0.5, 0.3, 0.2, 0.0]), 1.2),
    "ages": lambda: _numbers(sf.Prior(AGES, [0.1, 0.2, 0.3, 0.2, 0.1, 0.1]), "0.1/year"),
    "hours": lambda: _numbers(sf.Prior(HOURS, [0.3, *[0.1] * 7]), "0.2"),
    "columns": lambda: _response(COLUMNS, sf.Prior.uniform(COLUMNS), 1.0),
    "cells": _cells,
    "square": partial(_lattice, "square"),
    "triangular": partial(_lattice, "triangular"),
    "visits": partial(_visits, "1/km", "table"),
    "noise": partial(_visits, "4/km", "noise"),
}
"""Designs by name, each within a second."""

KEPT: Final = (
    *("line", "both", "dual", "threshold", "worst-case", "constrained", "response", "ages", "hours", "columns"),
    *("cells", "triangular", "visits"),
)
"""Those whose files lie in the folder `vectors`."""


def optimum(design: Any) -> dict[str, Any]:
    """Return the numbers of a design: its value, the bound of all others, its guarantees and its shape."""
    proof = design.certificate
    if not hasattr(proof, "value"):
        noise = design.choice.noise
        return {"loss": [noise.lower, noise.upper], "attacker": [proof.attacker.lower, proof.attacker.upper]}
    return {
        "objective": proof.objective,
        "value": proof.value,
        "bound": proof.bound,
        "claimed": [each.claimed for each in (*proof.metric_privacy, *proof.distortion)],
        "shape": list(design.mechanism.shape),
    }
