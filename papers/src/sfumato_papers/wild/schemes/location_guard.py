"""Location Guard: planar Laplace noise in a browser, drawn again after a time."""

from __future__ import annotations

from typing import Final

from ..radial import LaplaceRadius, RadialNoise
from ..scheme import WildFact, WildScheme

_SOURCE: Final = "chatziko/location-guard, src/js/common/laplace.js and browser_base.js"
_READ: Final = "commit 56fc372, 2022"
GUARD_RADIUS_M: Final = 500.0

LOCATION_GUARD: Final = WildScheme(
    key="location-guard",
    title="Location Guard, 500 m",
    who="Location Guard, its default level",
    facts=(
        WildFact(
            "Planar Laplace noise with epsilon = 2 / radius; the radius of the levels low, medium (default) and "
            "high is 200, 500 and 2000 m.",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "A noisy point is reused for all sites for 10, 30 or 60 minutes in these levels, then drawn again.",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "Planar Laplace noise has a finite epsilon per metre; k draws of one place have k times as much.",
            "Andrés, Bordenabe, Chatzikokolakis and Palamidessi, CCS",
            "2013",
        ),
    ),
    model="Planar Laplace noise with a mean distance of 500 m, drawn again for every report. Reports of one "
    "place are at least half an hour apart.",
    promise="Epsilon 4/km for one draw, in real numbers; k draws of one place spend k times as much: 48 times "
    "with one request per half hour for a day.",
    repeats="a new draw after 10, 30 or 60 minutes",
    unknown=(
        "How often sites ask is not known.",
        "Floating-point arithmetic is not modelled.",
    ),
    channel=RadialNoise(LaplaceRadius(2 / GUARD_RADIUS_M), renewed=True),
)
