"""Rounded distances in dating apps, as published."""

from __future__ import annotations

from typing import Final

from ..scheme import WildFact, WildScheme

_DHONDT: Final = "Dhondt et al., Swipe Left for Identity Theft, USENIX Security, section 5.5"

ROUNDED_DISTANCE: Final = WildScheme(
    key="rounded-distance",
    title="a rounded distance to others",
    who="Dating apps, as published",
    facts=(
        WildFact(
            "6 of 15 apps let others be located. One of the 6, Grindr, rounded coordinates to three decimals and "
            "answered distance queries.",
            _DHONDT,
            "2024",
        ),
        WildFact(
            "Trilateration with a filter by exact distance found people to about 2 m in Badoo, Bumble, Hinge and "
            "Hily. Rounding coordinates to three decimals first was the fix.",
            _DHONDT,
            "2024",
        ),
        WildFact(
            "Tinder replaced the point by the centre of a cell of a mile, LOVOO by a point of a cell of 1 km; "
            "both count as safe.",
            _DHONDT,
            "2024",
        ),
        WildFact("In 2021 Bumble showed distances in whole miles, rounded down.", "R. Heaton, blog", "2021"),
    ),
    model="Whole miles, rounded down, of the exact distance or of the distance to the centre of a cell of 0.001 "
    "degrees or of a mile. The attacker queries one distance at a time, from any place.",
    promise="None. Where a rounded distance changes, the exact one is known, and three such places locate the "
    "point that distances are counted from: the person, or the centre of their cell.",
    repeats="each question may be asked from another place",
    unknown=("The sources describe the versions they tested, not today's apps.",),
)
