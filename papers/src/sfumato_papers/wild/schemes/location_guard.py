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
        WildFact("The noise is planar Laplace with epsilon = 2 / radius.", _SOURCE, _READ),
        WildFact(
            "Radius of the levels low, medium and high: 200, 500 and 2000 m; medium is the default.",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "A noisy point is kept for 10, 30 and 60 minutes in these levels, for all sites, then drawn again.",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "The accuracy that is reported grows by the radius that holds 90 % of the noise, 1.945 times the "
            "radius.",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "Planar Laplace noise keeps epsilon per metre, and k draws of one place k times as much.",
            "Andrés, Bordenabe, Chatzikokolakis and Palamidessi, CCS",
            "2013",
        ),
    ),
    model="Planar Laplace noise with a mean distance of 500 m, drawn again for every report: reports of one "
    "place are half an hour apart or more.",
    promise="Epsilon 4/km for one draw, in real numbers; k draws of one place spend k times as much, 48 in a day "
    "on which it is asked for every half hour.",
    repeats="a new draw after 10, 30 or 60 minutes",
    unknown=(
        "How often sites ask is not known: a place that is asked for once has one report.",
        "The law is that of real numbers; arithmetic is not part of this.",
    ),
    channel=RadialNoise(LaplaceRadius(2 / GUARD_RADIUS_M), renewed=True),
)
