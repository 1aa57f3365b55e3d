"""Donut masks for points of health data, as MaskMyPy documents them."""

from __future__ import annotations

from typing import Final

from ..radial import EvenRadius, RadialNoise
from ..scheme import WildFact, WildScheme

_SOURCE: Final = "TheTinHat/MaskMyPy, masks/donut.py"
_READ: Final = "version 1.1.0, commit 33631c8, 2025"

DONUT: Final = WildScheme(
    key="donut",
    title="donut mask (MaskMyPy), 400 to 1200 m",
    who="MaskMyPy; the distances are those of an example of the R package geomask",
    facts=(
        WildFact(
            "A point is moved by a distance between a low and a high one, uniform, normal around their middle, or "
            "uniform over the area; with a container until it lies in its polygon.",
            _SOURCE,
            _READ,
        ),
        WildFact("An example of a donut has 400 m and 1200 m.", "JDConejeros/geomask (R)", "undated"),
    ),
    model="A uniform distance between 400 m and 1200 m in a uniform direction, without a container. Each release "
    "of the same data is masked again.",
    promise="None: a report excludes every point nearer than 400 m or farther than 1200 m, so epsilon is "
    "infinite.",
    repeats="a new draw for each release that is masked again; the same report within one",
    unknown=(
        "Uniform directions simplify the code's formula.",
        "How many maskings of the same data are published depends on the publisher.",
    ),
    channel=RadialNoise(EvenRadius(400.0, 1200.0), renewed=True),
)
