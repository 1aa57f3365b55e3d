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
            "Of 15 apps 6 let others be located. One of the 6, Grindr, rounded coordinates to three decimals, and "
            "could be asked for distances.",
            _DHONDT,
            "2024",
        ),
        WildFact(
            "A filter by the exact distance is an oracle: trilateration with it found people to about 2 m in "
            "Badoo, Bumble, Hinge and Hily. Rounding coordinates to three decimals first was the mend.",
            _DHONDT,
            "2024",
        ),
        WildFact("One app rounded distances up to 249, 499, 999 or 1999 m.", _DHONDT, "2024"),
        WildFact(
            "Tinder replaced the point by the centre of a cell of a mile, and LOVOO by a point of a cell of 1 "
            "km, and they are counted as safe.",
            _DHONDT,
            "2024",
        ),
        WildFact("In 2021 Bumble showed distances in whole miles, rounded down.", "R. Heaton, blog", "2021"),
        WildFact("In 2014 people in Tinder could be located to about 100 feet.", "Include Security, blog", "2014"),
    ),
    model="Whole miles, rounded down, of the exact distance or of the distance to the centre of a cell of 0.001 "
    "degrees or of a mile. The attacker stands wherever they like, and asks one distance at a time.",
    promise="None: where a rounded distance changes, the exact one is known, and three such places show the "
    "point that distances are counted from. That is the person, or the centre of their cell: rounding the "
    "place first leaves the error of the cell, and no more.",
    repeats="each question may be asked from another place",
    unknown=("What these apps do today is not known here; the sources describe the versions that they tested.",),
)
