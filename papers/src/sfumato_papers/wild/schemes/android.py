"""Android's approximate location: a slowly drifting offset under a grid, as AOSP's source describes it."""

from __future__ import annotations

from typing import Final

from ..drifting import DriftingOffset
from ..scheme import WildFact, WildScheme

_SOURCE: Final = "AOSP, LocationFudger.java (services/core/java/com/android/server/location/fudger)"
_READ: Final = "commits 128586930b and 0928cdfeced0 (Android 16)"

OFFSET: Final = DriftingOffset(2000.0, 500.0, 0.03)
DRIFTING: Final = WildScheme(
    key="drifting-offset",
    title="Android (AOSP), drifting offset",
    who="Android approximate location (AOSP, without its density mode)",
    facts=(
        WildFact("The coarse accuracy A is 2000 m, a setting that is at least 200 m.", _SOURCE, _READ),
        WildFact(
            "Two random offsets in metres, one for each direction, are normal with a standard deviation of A/4 "
            "and are added to each position.",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "Where at least an hour has passed since the last step, the offsets take one: offset <- "
            "sqrt(1 - 0.03^2) offset + 0.03 N(0, (A/4)^2).",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "The sum is rounded to a grid whose step is A in both directions (A / 111000 degrees of latitude).",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "Comments in the source name averaging as the reason for the slow drift, and the crossing of borders "
            "as the reason for the offset under the grid.",
            _SOURCE,
            _READ,
        ),
        WildFact("Apps with the coarse permission get a position at most every 10 minutes.", _SOURCE, _READ),
    ),
    model="Normal offsets of 500 m in both directions, with one step of drift in each hour, under a grid of 2 km. "
    "Reports of one place are an hour apart.",
    promise="No epsilon per metre: normal noise has none. k hourly reports of one place, under one offset that "
    "drifts and is never drawn anew, keep Gaussian privacy of mu = d / 500 m x sqrt(1 + (k - 1) x 0.000226) at "
    "most, for two places d apart, in real numbers; the grid can only lower it. Each further offset, from a "
    "restart or from another stream of positions, adds to mu: two independent ones make it 1.42 times as much.",
    repeats="nearly the same offset; it forgets itself in about 93 days",
    unknown=(
        "The density mode (a flag in AOSP; a cell whose size depends on how many people live there) needs a "
        "provider whose levels are not published. It is not modelled.",
        "Makers of phones may change the settings.",
        "A restart, after which an offset may be drawn anew, and other streams of positions with offsets of "
        "their own are not modelled. Attackers who see several offsets of one place come closer than the "
        "numbers here say.",
        "Attackers here use the mean of the reports, and for their law simulated offsets: an approximation, "
        "which need not be the best attack.",
    ),
    channel=OFFSET,
)
