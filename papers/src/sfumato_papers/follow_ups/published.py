"""Published values: of "Back to the drawing board", of PRIVIC's code, and of the table in the artifact of AIPO."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

EXPOST: Final = "ExPost"
EXPONENTIAL: Final = "exponential"
LAPLACE: Final = "Laplace"
GAUSSIAN: Final = "Gaussian"
CIRCLE: Final = "circle"
COIN: Final = "coin"
LEVELS_KM: Final = (0.05, 0.1, 0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)
"""The mean lengths of planar Laplace noise in the published table, 2 / epsilon."""

# Average loss after the remap (km) and conditional entropy (bits), for the levels above; San Francisco, Gowalla.
_COLUMNS: Final = {
    EXPOST: (
        (0.0210, 0.0573, 0.2179, 0.3699, 0.5459, 0.7219, 0.8850, 1.0451, 1.2902, 1.6627, 2.1620),
        (2.471, 3.902, 6.422, 7.544, 8.368, 8.952, 9.371, 9.707, 10.120, 10.558, 10.939),
    ),
    EXPONENTIAL: (
        (0.0246, 0.0652, 0.2243, 0.3674, 0.5369, 0.6955, 0.8419, 0.9754, 1.2059, 1.5514, 2.0084),
        (2.421, 3.851, 6.298, 7.379, 8.201, 8.749, 9.145, 9.445, 9.864, 10.332, 10.747),
    ),
    LAPLACE: (
        (0.0331, 0.0772, 0.2487, 0.4006, 0.5750, 0.7537, 0.9061, 1.0352, 1.2788, 1.6412, 2.2577),
        (2.704, 4.051, 6.377, 7.406, 8.270, 8.792, 9.154, 9.443, 9.848, 10.251, 10.687),
    ),
    GAUSSIAN: (
        (0.0324, 0.0739, 0.2423, 0.3896, 0.5716, 0.7280, 0.8708, 1.0153, 1.2429, 1.5857, 2.1114),
        (2.605, 3.928, 6.289, 7.341, 8.174, 8.674, 9.120, 9.431, 9.793, 10.301, 10.697),
    ),
    CIRCLE: (
        (0.0267, 0.0674, 0.2231, 0.3776, 0.5460, 0.7012, 0.8287, 0.9418, 1.1553, 1.4342, 1.8366),
        (2.140, 3.428, 5.763, 6.815, 7.629, 8.189, 8.646, 8.894, 9.331, 9.836, 10.312),
    ),
}

PUBLISHED: Final[Mapping[str, tuple[tuple[float, float], ...]]] = MappingProxyType(
    {name: tuple(zip(*columns, strict=True)) for name, columns in _COLUMNS.items()}
)
"""The published table: for each mechanism (loss in km, entropy in bits) by level."""

PUBLISHED_COIN: Final = ((0.5, 1.430), (1.0, 2.860), (1.5, 4.290), (2.0, 5.721))
"""The same for the coin, by its loss."""

COIN_KM: Final = tuple(lost for lost, _ in PUBLISHED_COIN)
"""The losses at which the coin is measured."""

PUBLISHED_PRIOR_BITS: Final = 11.474

PRIVIC_EPSILONS: Final[Mapping[str, Mapping[float, float]]] = MappingProxyType(
    {
        "Paris": {0.2: 0.3928, 0.4: 0.7814, 1.0: 1.9202, 2.0: 3.9462, 3.0: 5.9678, 5.0: 9.7194},
        "San Francisco": {0.2: 0.3987, 0.4: 0.7884, 1.0: 1.9816, 2.0: 3.9866, 3.0: 5.9938, 5.0: 9.9958},
    }
)
"""Tight epsilons that PRIVIC's code lists, by city and slope; both per cell."""

ROME_EPSILONS: Final = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6)

ROME: Final[Mapping[str, tuple[float, ...]]] = MappingProxyType(
    {
        "EM": (8.62, 8.52, 8.50, 8.55, 8.64, 8.74, 8.84, 8.93),
        "RMP": (6.02, 5.07, 4.35, 3.88, 3.57, 3.37, 3.23, 3.14),
        "LP": (4.89, 3.18, 2.56, 2.27, 2.12, 2.03, 1.98, 1.96),
        "AIPO": (5.64, 4.56, 3.90, 3.47, 3.18, 2.96, 2.82, 2.71),
    }
)
"""Losses in Rome that the README of AIPO's artifact prints, by epsilon as above."""
