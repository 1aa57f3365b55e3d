"""The certificate of noise for coordinates: its promise, its loss and the attacker's error."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ...mechanisms.planar import CoordinateNoise
from ...proofs import NoiseCertificate, prove_planar_noise


def certify_noise(noise: CoordinateNoise, points_m: ArrayLike, weights: ArrayLike) -> NoiseCertificate:
    """Return what is proved of noise for coordinates on weighted places.

    Args:
        noise: The noise.
        points_m: Where people truly are, metres east and north on its plane, array (n, 2).
        weights: How often, array (n,), at least 0 and not all 0.

    Raises:
        InputError: If an array is not as described.
    """
    proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
    found = noise.error(points_m, weights)
    return NoiseCertificate(proof, found.loss, found.attacker, noise.blind(points_m, weights))
