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
        WildFact("The coarse accuracy A is 2000 m by default, and at least 200 m.", _SOURCE, _READ),
        WildFact(
            "Each position is moved by two normal offsets with standard deviation A/4, then rounded to a grid "
            "with step A in both directions (A / 111000 degrees of latitude).",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "After an hour or more the offsets take one step: offset <- sqrt(1 - 0.03^2) offset + 0.03 N(0, "
            "(A/4)^2).",
            _SOURCE,
            _READ,
        ),
        WildFact(
            "By its comments, the slow drift counters averaging, and the offset blurs border crossings.",
            _SOURCE,
            _READ,
        ),
    ),
    model="Normal offsets of 500 m in both directions, one drift step per hour, and a grid of 2 km. Reports of "
    "one place are an hour apart.",
    promise="No finite epsilon per metre. k hourly reports of one place under one drifting offset satisfy "
    "Gaussian privacy with mu at most d / 500 m x sqrt(1 + (k - 1) x 0.000226) for two places d apart, in real "
    "numbers; the grid can only lower it. Each further offset adds to mu: two independent ones make it 1.42 "
    "times as large.",
    repeats="nearly the same offset; the correlation time is about 93 days",
    unknown=(
        "The density mode needs a provider whose levels are not published.",
        "Phone makers may change the settings.",
        "Restarts and other position streams, which may have new offsets, are not modelled. Attackers who see "
        "several offsets of one place are more accurate than the numbers here.",
        "Attackers use the mean of the reports and simulated offsets, which need not be the best attack.",
    ),
    channel=OFFSET,
)
