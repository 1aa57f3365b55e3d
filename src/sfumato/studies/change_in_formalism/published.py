"""Figure 2.8 of the thesis: what four notions let a report do to the belief in a fact.

At epsilon = ln 3 each panel shows the posteriors to which a prior probability of the fact can lead: under
differential privacy, positive membership privacy, adversarial privacy (delta = 0.05) and a posteriori noiseless
privacy. The lines are computed here. The points are vertices of the published curves, read from the coordinates
of the thesis's own drawing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from ...core.frozen import Short
from ...privacy import Band, band

EPSILON: Final = math.log(3)

# The published curves are drawn through 100 points, equally far apart from 0 to 0.9999; these are five of them.
PRIORS: Final = tuple(0.9999 * k / 99 for k in (10, 25, 50, 74, 89))
NOWHERE: Final = (0.0,) * 5  # no lower bound
READ: Final = 1e-4
"""What the drawing's coordinates and four decimals leave open."""


@dataclass(frozen=True, slots=True, repr=False)
class Panel(Short):
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
class BandValue(Short):
    """One value of the figure, computed and published."""

    panel: str
    bound: str
    prior: float
    computed: float
    published: float

    @property
    def difference(self) -> float:
        """By how much the two differ."""
        return self.computed - self.published


def band_values() -> list[BandValue]:
    """Return the 40 values of the figure at five prior probabilities, computed and published."""
    return [
        BandValue(panel.name, bound, prior, float(value), known)
        for panel in PANELS
        for bound, values, published in (
            ("lower", panel.band.lower(PRIORS), panel.lower),
            ("upper", panel.band.upper(PRIORS), panel.upper),
        )
        for prior, value, known in zip(PRIORS, values, published, strict=True)
    ]
