"""Places on a map: a lattice over a region, on which a promise holds per metre."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sfumato.attacks import chance_within, true_place
from sfumato.core import Asked, CoordinatePrivacy, Mechanism, Prior
from sfumato.core.arrays import Floats
from sfumato.geo import Lattice, Polygon, Region, Visits
from sfumato.optimal import AttackerGoal, Design, DesignGoal, choose_lattice
from sfumato.privacy.atlas import Claim
from sfumato.proofs import PlaceDistortion
from sfumato.reports import summarise
from sfumato.rounding import amount, counted, up

from ..refusals import RefusedError
from ..script import script_text
from .ground import Measures, StudioGround, Where

UNIT: Final = "m"
_DRAWN: Final = (
    "Only visits inside the area that was drawn count. The promise holds in the whole rectangle around it, but "
    "outside of the area nothing was done to keep the loss small."
)
_STEPS: Final = 2.5  # over the spacing: the largest epsilon for which a lattice is fine enough
_LOOSE: Final = 1.0  # over the longer side: with it the two ends of the region are hardly told apart


class PlacesGround(StudioGround):
    """Places on a map.

    Args:
        visits: Where people were.
        region: What is served.
        detail: About how many places there are to be, at most.
        radius_m: How near a guess counts as found.
        source: Where the visits come from, in words.
        loading: The lines of Python that read the visits; None for those of a file.
        polygon: The area inside which visits count; None for the whole region.
    """

    kind = "places"
    epsilon_unit = "1/km"
    loss_unit = UNIT

    def __init__(
        self,
        visits: Visits,
        region: Region,
        detail: int,
        radius_m: float,
        source: str,
        loading: str | None = None,
        polygon: Polygon | None = None,
    ) -> None:
        self.polygon = polygon
        self.region, self.radius_m, self.source, self.loading = region, radius_m, source, loading
        self.visits = visits.inside(region)
        chosen = choose_lattice(visits, None, most=detail, region=region)
        self.lattice: Lattice = chosen.lattice
        self.prior = Prior.from_visits(self.lattice, self.visits)
        self.loss = self.lattice.loss(self.visits, unit=UNIT)
        self.metric = self.lattice.metric("euclidean", UNIT)
        side_km = max(region.size_m) / 1000
        least, most = _LOOSE / side_km, _STEPS / (self.lattice.spacing_m / 1000)
        self.ends = (float(f"{least:.2g}"), float(f"{max(most, 2 * least):.2g}"))

    def promise(self, epsilon: float) -> Asked:
        """Return the promise for any two points."""
        return CoordinatePrivacy(epsilon, "km")

    def errs(self, least: float) -> Asked:
        """Return the guarantee of the attacker's error from the true point."""
        found = PlaceDistortion(least, self.lattice, self.visits, unit=UNIT)
        found.check_possible(self.prior)
        return found

    def exponent(self, epsilon: float) -> float:
        """Return epsilon times a kilometre, with what snapping adds to it."""
        return up(epsilon * up(1 + up(self.lattice.slack_m / 1000)))

    def claim(self, epsilon: float) -> Claim:
        """Return the claim about two points as far apart as vertices can be: points served lie among these."""
        farthest_km = up((float(self.metric.array.max()) + self.lattice.slack_m) / 1000)
        return Claim("differential-privacy", epsilon=up(epsilon * farthest_km))

    def measures(self, mechanism: Mechanism) -> Measures:
        """Return the best attacker's average error from the true point, and how often it is within the radius."""
        error = true_place(mechanism, self.visits, unit=UNIT).error
        return Measures(error, chance_within(mechanism, self.visits, self.radius_m))

    def spread(self, where: Where) -> Floats:
        """Return the vertices that a point is rounded to, or the one that is named."""
        found = np.zeros(len(self.lattice))
        at, *point = where
        if at is not None:
            found[self.checked_index(at)] = 1.0
            return found
        rounding = self.lattice.rounding(*_point(*point))
        if not rounding.inside[0]:
            raise RefusedError(422, "This point is outside of the region.", "choose a point inside.", "lat")
        for position, share in zip(rounding.positions[0], rounding.shares[0], strict=True):
            if share > 0:
                found[position] += share
        return found

    def away(self, where: Where) -> Floats:
        """Return the distances of all places from a position, metres."""
        at, *point = where
        if at is not None:
            found: Floats = self.metric.array[self.checked_index(at)]
            return found
        here = self.lattice.projection.forward(*_point(*point))[0]
        apart: Floats = np.hypot(*(self.lattice.on_plane(self.lattice) - here).T)
        return apart

    def goal_for_found(self, share: float) -> DesignGoal:
        """Return the goal that guesses are within the radius at most so often."""
        return AttackerGoal(share, self.radius_m, self.visits)

    @property
    def counted_by(self) -> dict[str, Any]:
        """See `StudioGround.counted_by`."""
        return {"visits": self.visits}

    def described(self, design: Design) -> list[tuple[str, list[str]]]:
        """Return the report of a design."""
        found = summarise(design, self.metric, source=self.source, visits=self.visits)
        return [(section.title, list(section.sentences)) for section in found.sections]

    def answer(self) -> dict[str, Any]:
        """Return the places for the page."""
        south, west, north, east = (float(part) for part in str(self.region).split(","))
        used, spacing = len(self.visits), amount(self.lattice.spacing_m, "m")
        return {
            "kind": "places",
            "n": len(self.lattice),
            "spacing_m": self.lattice.spacing_m,
            "region": {"south": south, "west": west, "north": north, "east": east},
            "polygon": None if self.polygon is None else self.polygon.corners[:, ::-1].tolist(),
            "radius_m": self.radius_m,
            "epsilon_unit": self.epsilon_unit,
            "loss_unit": self.loss_unit,
            "epsilons": {"least": self.ends[0], "most": self.ends[1]},
            "sentences": [
                f"The map has {counted(len(self.lattice), 'place')}, {spacing} apart, from "
                f"{counted(used, 'visit')}.",
                "You are rounded at random to a place near you, and a place is reported. The guarantee holds "
                "for any two points of the region.",
                *(() if self.polygon is None else (_DRAWN,)),
                f"A guess counts as found within {amount(self.radius_m, 'm')} of your true place.",
            ],
        }

    def cells(self) -> list[dict[str, Any]]:
        """Return the places as GeoJSON features, degrees."""
        outlines, centres, counts = (
            self.lattice.outlines_latlon(),
            self.lattice.latlon,
            self.lattice.counts(self.visits),
        )
        features = []
        for index, label in enumerate(self.lattice.labels):
            ring = [[round(float(lon), 7), round(float(lat), 7)] for lat, lon in outlines[index]]
            features.append(
                {
                    "type": "Feature",
                    "id": index,
                    "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
                    "properties": {
                        "name": str(label),
                        "visits": round(float(counts[index]), 3),
                        "share": float(self.prior.probabilities[index]),
                        "lat": float(centres[index][0]),
                        "lon": float(centres[index][1]),
                    },
                }
            )
        return features

    def script(self, name: str, epsilon: float, gap: float, distortion: float | None) -> str:
        """Return a Python script that makes a design again; see `StudioGround.script`."""
        loading = self.loading or f"visits = sf.read_visits({name!r})"
        errs = "" if distortion is None else f', sf.PlaceDistortion({distortion!r}, lattice, inside, unit="m")'
        drawn = ""
        if self.polygon is not None:
            corners = [tuple(corner) for corner in self.polygon.corners.tolist()]
            drawn = f"visits = visits.inside(sf.geo.Polygon({corners!r}))\n"
        lines = f"""{loading}
{drawn}region = sf.Region.parse({str(self.region)!r})
lattice = sf.Lattice.covering(visits, {self.lattice.spacing_m!r}, region=region)
inside = visits.inside(region)
prior = sf.Prior.from_visits(lattice, inside)"""
        call = f"""    prior,
    loss=lattice.loss(inside, unit="m"),
    guarantees=[sf.CoordinatePrivacy({epsilon!r}, "km"){errs}],
    method="table",
    gap={gap!r},
    tie_break=False,"""
        return script_text(lines, call, source=self.source, visits="inside")


def _point(lat: float | None, lon: float | None) -> tuple[list[float], list[float]]:
    """Return a point as coordinates of one.

    Raises:
        RefusedError: If one is missing.
    """
    if lat is None or lon is None:
        raise RefusedError(422, "A position is needed.", "send an index, or lat and lon.", "at")
    return [lat], [lon]
