"""A small case in which *joint* costs more than either of *metric* and *distortion*: five points on a line.

The prior is uniform, the cost Hamming, the distance that of the numbers 0 to 4, and epsilon is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sfumato.core import DistortionPrivacy, Guarantee, MetricPrivacy, Prior, Space, hamming
from sfumato.core.immutable import CompactRepr
from sfumato.optimal import Auto, design

from ..reproduction import Made
from ..results import columns_of

LINE: Final = "line"

_EPSILON: Final = 1.0
_DISTORTIONS: Final = (0.25, 0.5, 0.75, 1.0)
_GAP: Final = 1e-8


@dataclass(frozen=True, slots=True, repr=False)
class LineRow(CompactRepr):
    """Least costs on five points; each lies between its lower bound and itself."""

    epsilon: float
    distortion_asked: float
    metric: float
    distortion: float
    joint: float
    joint_lower_bound: float


def five_points() -> Made:
    """Design the three mechanisms on five points for several distortions."""
    space = Space.numbers(range(5))
    prior, d, cost = Prior.uniform(space), space.metric("absolute"), hamming(space)
    metric = MetricPrivacy(_EPSILON, d)
    rows = []
    for minimum in _DISTORTIONS:
        distortion = DistortionPrivacy(minimum, d)
        alternatives: tuple[list[Guarantee], ...] = ([metric], [distortion], [metric, distortion])
        one, other, both = (
            design(prior, loss=cost, guarantees=asked, solver=Auto(1), gap=_GAP, tie_break=False).certificate
            for asked in alternatives
        )
        rows.append(LineRow(_EPSILON, minimum, one.loss, other.loss, both.loss, both.lower_bound))
    return {LINE: [columns_of(row) for row in rows]}
