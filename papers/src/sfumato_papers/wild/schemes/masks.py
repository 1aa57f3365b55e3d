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
            "A point is moved by a distance between a low and a high one: even between them, or the size of a "
            "normal number around their middle with a deviation of a fifth of their difference, or even over the "
            "area.",
            _SOURCE,
            _READ,
        ),
        WildFact("A container, where given, keeps points in their polygon by drawing again.", _SOURCE, _READ),
        WildFact("An example of a donut has 400 m and 1200 m.", "JDConejeros/geomask (R)", "undated"),
    ),
    model="An even distance between 400 m and 1200 m, in an even direction, without a container. Each release of "
    "the same data is masked anew.",
    promise="None: a report excludes every point that is nearer than 400 m or further than 1200 m, so epsilon is "
    "infinite.",
    repeats="a new draw for each release that is masked again; the same report within one",
    unknown=(
        "That directions are even is our simplification of the code's formula.",
        "How many maskings of the same data are published is for those who publish to say.",
    ),
    channel=RadialNoise(EvenRadius(400.0, 1200.0), renewed=True),
)
