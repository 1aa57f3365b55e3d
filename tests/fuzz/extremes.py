"""Honest containers with numbers at the ends of the floats: distances, losses, priors, prices, coordinates."""

from __future__ import annotations

import copy
import io
import math
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.files.forging import Members, npy

MOST = float(np.finfo(np.float64).max)
TINY = (5e-324, 1e-323, 1e-310, 1e-300, 1e-160, 1e-17)
EXTREMES = (*TINY, 1.0, 3.0, 1e30, 1e150, 1e160, 1e300, 8.9e307, 1.7e308, MOST)

_FARTHEST = 1e150  # coordinates beyond are refused
_NUMBERS = {
    *("epsilon", "minimum", "within", "delta", "loss_price", "max_loss"),
    *("spacing_m", "epsilon_per_km", "reach_m"),
}
_PAIRS = {"cell_m", "origin_m"}

Floats = NDArray[np.float64]


def extreme(rng: Random, manifest: dict[str, Any], members: Members) -> tuple[dict[str, Any], Members]:
    """Return the manifest and the members of an honest container with extreme numbers in them."""
    found = {key: copy.deepcopy(value) for key, value in manifest.items() if key not in ("sha256", "writer")}
    changed = dict(members)
    metrics = {entry["array"] for entry in found.get("metrics", [])}
    for entry in (*found.get("metrics", []), *found.get("losses", [])):
        if not entry["name"].endswith("true point"):
            entry["name"] = "own"  # nothing that its name determines
    for entry in found.get("metrics", []):
        entry["triangle"] = rng.random() < 0.5
    for name, data in members.items():
        array = np.load(io.BytesIO(data))
        if array.dtype.kind == "f" and array.size and rng.random() < 0.4:
            if name.startswith("prior"):
                array = _prior(rng, len(array))
            elif name in metrics:
                array = _distances(rng, len(array))
            elif name.startswith("coordinates"):
                array = np.clip(_numbers(rng, array), -_FARTHEST, _FARTHEST)
            else:
                array = _numbers(rng, array)
            changed[name] = npy(np.ascontiguousarray(array))
    _put(rng, found)
    return found, changed


def _put(rng: Random, value: Any) -> None:
    """Put extreme numbers into a manifest, now and then."""
    if isinstance(value, list):
        for each in value:
            _put(rng, each)
    if isinstance(value, dict):
        for key, held in value.items():
            if key in _NUMBERS and type(held) in (int, float) and rng.random() < 0.3:
                value[key] = rng.choice(EXTREMES)
            elif key in _PAIRS and rng.random() < 0.3:
                held[rng.randrange(2)] = rng.choice(EXTREMES)
            else:
                _put(rng, held)


def _prior(rng: Random, size: int) -> Floats:
    """Return shares of which most are tiny."""
    found = np.array([rng.choice((0.0, *TINY)) for _ in range(size)])
    one, other = rng.randrange(size), rng.randrange(size)
    found[[one, other]] = 1.0 if one == other else 0.5
    return found


def _distances(rng: Random, size: int) -> Floats:
    """Return symmetric distances: of one or two sizes, which mostly form a metric, or of any."""
    least = rng.choice(EXTREMES)
    choices = rng.choice(((least,), (least, min(2 * least, MOST)), (*EXTREMES, 0.0, math.inf)))
    upper = np.triu([[rng.choice(choices) for _ in range(size)] for _ in range(size)], 1)
    return np.asarray(upper + upper.T)


def _numbers(rng: Random, array: Floats) -> Floats:
    """Return an array with one extreme number, some, or all scaled by one."""
    found = np.array(array)
    kind = rng.randrange(4)
    if kind == 0:
        found[:] = rng.choice(EXTREMES)
    elif kind == 1:
        found = np.array([rng.choice(EXTREMES) * rng.choice((1, 1, -1)) for _ in range(array.size)])
    elif kind == 2:
        with np.errstate(over="ignore"):
            found = np.clip(found * rng.choice(EXTREMES), -MOST, MOST)
    else:
        found.flat[rng.randrange(array.size)] = rng.choice(EXTREMES) * rng.choice((1, -1))
    return found.reshape(array.shape)
