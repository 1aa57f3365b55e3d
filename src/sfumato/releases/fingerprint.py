"""The fingerprint of a mechanism: a hash by which it is recognised."""

from __future__ import annotations

import hashlib

from ..core import Mechanism
from ..mechanisms.planar import CoordinateNoise


def fingerprint(mechanism: Mechanism | CoordinateNoise) -> bytes:
    """Return a hash of a mechanism's integers and labels, or of a noise's recipe, 32 bytes."""
    if isinstance(mechanism, CoordinateNoise):
        return _of_recipe(mechanism)
    content = repr((mechanism.bits, mechanism.secrets.labels, mechanism.observables.labels, mechanism.shape))
    found = hashlib.blake2b(content.encode(), digest_size=32)
    found.update(" ".join(map(str, mechanism.weights.ravel().tolist())).encode())
    return found.digest()


def _of_recipe(noise: CoordinateNoise) -> bytes:
    centre = None if noise.projection is None else (noise.projection.lat, noise.projection.lon)
    frames, targets = (None, None) if noise.remap is None else noise.remap.arrays()
    windows = None if frames is None else frames.tolist()
    recipe = repr(("noise", noise.epsilon, noise.step_m, noise.noise.rate, centre, noise.reach_m, windows))
    found = hashlib.blake2b(recipe.encode(), digest_size=32)
    if targets is not None:
        found.update(targets.astype("<f8").tobytes())
    return found.digest()
