"""Survey clusters: displacement by up to 2, 5 and 10 km, as the DHS Program documents it."""

from __future__ import annotations

from typing import Final

from ..radial import EvenRadius, MixedRadius, RadialNoise
from ..scheme import WildFact, WildScheme

_SOURCE: Final = "Burgert et al., DHS Spatial Analysis Reports 7"
_FACTS: Final = (
    WildFact(
        "Clusters are moved once per release: urban ones by up to 2 km, rural ones by up to 5 km, and one rural "
        "cluster in a hundred by up to 10 km. A moved cluster stays in its country, region and second-level unit.",
        _SOURCE,
        "2013",
    ),
    WildFact(
        "Direction and distance (uniform from 0 to the largest one) are drawn until the point is in the same "
        "unit.",
        "the Program's displacement script, in a copy",
        "undated",
    ),
)
_UNKNOWN: Final = (
    "The cut at borders of units is not modelled.",
    "What a report hides depends on how close other villages are; here the attacker knows the density of a city.",
)
_PROMISE: Final = (
    "None: a report excludes every place farther away than the largest distance, so epsilon is infinite."
)


def _displaced(kind: str, law: EvenRadius | MixedRadius, words: str) -> WildScheme:
    return WildScheme(
        key=f"survey-{kind}",
        title=f"DHS survey clusters, {kind}",
        who="Surveys of the DHS Program",
        facts=_FACTS,
        model=f"{kind.capitalize()}: a uniform distance up to {words}, in a uniform direction, drawn once.",
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
