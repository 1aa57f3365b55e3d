"""Figures 2.2 and 2.8 of the thesis: what notions let a report do to the belief in a fact.

Figure 2.2 shows the bands of differential privacy at epsilon from 0.5 to 7, half an epsilon apart. Figure 2.8
shows four notions at epsilon = ln 3: each panel has the posteriors to which a prior probability of the fact can
lead, under differential privacy, positive membership privacy, adversarial privacy (delta = 0.05) and a posteriori
noiseless privacy. The lines are computed here. The points are vertices of the published curves, read from the
coordinates of the thesis's own drawings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from sfumato.core.immutable import CompactRepr
from sfumato.privacy import Band, band

EPSILON: Final = math.log(3)

# The published curves are drawn through 100 points, equally far apart from 0 to 0.9999; these are five of them.
PRIORS: Final = tuple(0.9999 * k / 99 for k in (10, 25, 50, 74, 89))
NOWHERE: Final = (0.0,) * 5  # no lower bound
READ: Final = 1e-4
"""What the drawings' coordinates and four decimals leave open."""

EDGE_PRIOR: Final = 0.9999 * 38 / 99
"""The point at which the edges of Figure 2.2 were read."""
_LOWER_EDGES: Final = (
    *(0.27419, 0.18641, 0.12201, 0.07774, 0.04863, 0.03008, 0.01846),
    *(0.01126, 0.00687, 0.00418, 0.00254, 0.00153, 0.00092, 0.00055),
)
_UPPER_EDGES: Final = (
    *(0.50662, 0.62865, 0.73622, 0.82149, 0.88354, 0.92598, 0.95374),
    *(0.97143, 0.98246, 0.98930, 0.99348, 0.99602, 0.99759, 0.99853),
)


@dataclass(frozen=True, slots=True, repr=False)
class Panel(CompactRepr):
    """A notion, and what the published curves show of it at five prior probabilities."""

    name: str
    key: str
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    delta: float = 0.0

    @property
    def band(self) -> Band:
        """The notion's band, computed here."""
        return band(self.key, EPSILON, delta=self.delta)


PANELS: Final = (
    Panel(
        "Differential privacy (DP)",
        "differential-privacy",
        (0.0361, 0.1012, 0.2538, 0.4965, 0.7477),
        (0.2521, 0.5033, 0.7537, 0.8988, 0.9639),
    ),
    Panel(
        "Positive membership privacy (PMPr)",
        "positive-membership",
        NOWHERE,
        (0.3030, 0.7508, 0.8350, 0.9158, 0.9663),
    ),
    Panel(
        "Adversarial privacy (AdvPr)",
        "adversarial",
        NOWHERE,
        (0.3530, 0.8075, 1.0000, 1.0000, 1.0000),
        delta=0.05,
    ),
    Panel(
        "A posteriori noiseless privacy (ANPr)",
        "aposteriori-noiseless",
        (0.0337, 0.0842, 0.1683, 0.2492, 0.6967),
        (0.3030, 0.7508, 0.8350, 0.9158, 0.9663),
    ),
)


@dataclass(frozen=True, slots=True, repr=False)
class BandValue(CompactRepr):
    """One value of a figure, computed and published."""

    panel: str
    bound: str
    prior: float
    computed: float
    published: float

    @property
    def difference(self) -> float:
        """By how much the two differ."""
        return self.computed - self.published


def edge_values() -> list[BandValue]:
    """Return the 28 edges of Figure 2.2 at one prior probability, computed and published."""
    found = []
    for k, (lower, upper) in enumerate(zip(_LOWER_EDGES, _UPPER_EDGES, strict=True), start=1):
        own = band("differential-privacy", k / 2)
        name = f"epsilon {k / 2:g}"
        found += [
            BandValue(name, "lower", EDGE_PRIOR, float(own.lower(EDGE_PRIOR)), lower),
            BandValue(name, "upper", EDGE_PRIOR, float(own.upper(EDGE_PRIOR)), upper),
        ]
    return found


def band_values() -> list[BandValue]:
    """Return the 40 values of Figure 2.8 at five prior probabilities, computed and published."""
    return [
        BandValue(panel.name, bound, prior, float(value), known)
        for panel in PANELS
        for bound, values, published in (
            ("lower", panel.band.lower(PRIORS), panel.lower),
            ("upper", panel.band.upper(PRIORS), panel.upper),
        )
        for prior, value, known in zip(PRIORS, values, published, strict=True)
    ]
