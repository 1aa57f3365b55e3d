"""Survey clusters: displacement by up to 2, 5 and 10 km, as the DHS Program documents it."""

from __future__ import annotations

from typing import Final

from ..radial import EvenRadius, MixedRadius, RadialNoise
from ..scheme import WildFact, WildScheme

_SOURCE: Final = "Burgert et al., DHS Spatial Analysis Reports 7"
_FACTS: Final = (
    WildFact(
        "Urban clusters are moved by up to 2 km, rural ones by up to 5 km, and one rural cluster in a hundred by "
        "up to 10 km.",
        _SOURCE,
        "2013",
    ),
    WildFact(
        "A moved cluster stays in its country, its region and its second-level unit.",
        _SOURCE,
        "2013",
    ),
    WildFact(
        "Direction and distance are drawn at random, the distance evenly between 0 and the largest one, and both "
        "again until the point is in the same unit.",
        "the Program's displacement script, in a copy",
        "undated",
    ),
    WildFact("Clusters are displaced once for a release.", _SOURCE, "2013"),
)
_UNKNOWN: Final = (
    "Near the border of a unit the law is cut off, which is not modelled: it depends on the unit.",
    "How near the true cluster other villages are decides what a report hides; here the attacker knows the "
    "density of a city.",
)
_PROMISE: Final = (
    "None: a report excludes every place that is further from it than the largest distance; epsilon is infinite."
)


def _displaced(kind: str, law: EvenRadius | MixedRadius, words: str) -> WildScheme:
    return WildScheme(
        key=f"survey-{kind}",
        title=f"DHS survey clusters, {kind}",
        who="Surveys of the DHS Program",
        facts=_FACTS,
        model=f"A distance that is even between 0 and {words}, in an even direction, drawn once.",
        promise=_PROMISE,
        repeats="the same report within a release",
        unknown=_UNKNOWN,
        channel=RadialNoise(law, renewed=False),
    )


DISPLACED: Final = (
    _displaced("urban", EvenRadius(0.0, 2000.0), "2 km"),
    _displaced(
        "rural",
        MixedRadius(EvenRadius(0.0, 5000.0), EvenRadius(0.0, 10_000.0), 0.01),
        "5 km, or 10 km for one in a hundred",
    ),
)
"""Urban and rural clusters."""
