"""Places on a map: a lattice over a region, with a guarantee per metre."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any, Final

import numpy as np

from sfumato.attacks import chance_within, true_place
from sfumato.core import Asked, CoordinatePrivacy, Mechanism, Prior, great_circle_m
from sfumato.core.arrays import Floats
from sfumato.geo import Lattice, Places, Polygon, Region, Visits, world
from sfumato.mechanisms import planar_geometric, remapped
from sfumato.optimal import AttackerGoal, DesignGoal, choose_lattice
from sfumato.privacy.atlas import Claim
from sfumato.proofs import PlaceDistortion, VertexPrivacy
from sfumato.reports.facts import CostFacts, Quantity
from sfumato.rounding import amount, counted, up

from ..errors import RefusedError
from .domain import Domain, Measures, Where, design_lines, script_text

UNIT: Final = "m"
_DRAWN: Final = (
    "Only visits inside the area that was drawn count. The guarantee holds in the whole rectangle around it, but "
    "outside of the area nothing was done to keep the loss small."
)
_STEPS: Final = 2.5  # over the spacing: the largest epsilon for which a lattice is fine enough
_LOOSE: Final = 1.0  # over the longer side: the two ends of the region are then nearly indistinguishable
_MOST_TOWNS: Final = 500
_AROUND: Final = 0.1  # degrees around the places in which towns give names
_WIDEST: Final = 30.0  # degrees of the map of the world
_NEAR_M: Final = 30_000.0
_DIRECTIONS: Final = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
_ROUNDING: Final = 1e-12  # relative, of the rate of planar noise


class PlacesDomain(Domain):
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
    protected = "points"

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
        self.slack_m = chosen.lattice.slack_m
        self.prior = Prior.from_visits(self.lattice, self.visits)
        self.loss = self.lattice.loss(self.visits, unit=UNIT)
        self.metric = self.lattice.metric("euclidean", UNIT)
        side_km = max(region.size_m) / 1000
        least, most = _LOOSE / side_km, _STEPS / (self.lattice.spacing_m / 1000)
        self.ends = (float(f"{least:.2g}"), float(f"{max(most, 2 * least):.2g}"))

    def guarantee(self, epsilon: float) -> Asked:
        """Return the guarantee for any two points."""
        return CoordinatePrivacy(epsilon, "km")

    def error_guarantee(self, least: float) -> Asked:
        """Return the guarantee of the attacker's error from the true point."""
        error = PlaceDistortion(least, self.lattice, self.visits, unit=UNIT)
        error.check_possible(self.prior)
        return error

    def closed_form(self, epsilon: float) -> tuple[Mechanism, str]:
        """Return planar noise on the lattice, with the remap of least loss; steps are at least distances."""
        rows = VertexPrivacy(CoordinatePrivacy(epsilon, "km"), self.lattice)
        rate = rows.epsilon / self.lattice.spacing_m * (1 - _ROUNDING)
        return remapped(planar_geometric(self.lattice, rate), self.prior, self.loss), "planar noise"

    def cost(self, loss: float) -> CostFacts:
        """Return the facts of an upper bound of the average distance from the true point."""
        return CostFacts("true point", "euclidean", Quantity.at_most(loss, UNIT), None, None, "", None, True)

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
        return spread_of(self, self.lattice, where)

    def away(self, where: Where) -> Floats:
        """Return the distances of all places from a position, metres."""
        return distances_from(self, self.lattice, where)

    def goal_for_found(self, share: float) -> DesignGoal:
        """Return the goal that guesses are within the radius at most so often."""
        return AttackerGoal(share, self.radius_m, self.visits)

    @property
    def epsilon_counts(self) -> dict[str, Any]:
        """See `Domain.epsilon_counts`."""
        return {"visits": self.visits}

    def answer(self) -> dict[str, Any]:
        """Return the places for the page."""
        south, west, north, east = (float(part) for part in str(self.region).split(","))
        used, spacing = len(self.visits), amount(self.lattice.spacing_m, "m")
        return {
            "spacing_m": self.lattice.spacing_m,
            "region": {"south": south, "west": west, "north": north, "east": east},
            "polygon": None if self.polygon is None else self.polygon.corners[:, ::-1].tolist(),
            "radius_m": self.radius_m,
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
        """Return the places as GeoJSON features."""
        return cells_of(self.lattice, self.lattice.counts(self.visits), self.prior)

    def script(self, name: str, epsilon: float, gap: float | None, distortion: float | None) -> str:
        """Return a Python script that makes a mechanism again; see `Domain.script`."""
        loading = self.loading or f"visits = sf.read_visits({name!r})"
        error = "" if distortion is None else f', sf.PlaceDistortion({distortion!r}, lattice, inside, unit="m")'
        drawn = ""
        if self.polygon is not None:
            corners = [tuple(corner) for corner in self.polygon.corners.tolist()]
            drawn = f"visits = visits.inside(sf.geo.Polygon({corners!r}))\n"
        lines = f"""{loading}
{drawn}region = sf.Region.parse({str(self.region)!r})
lattice = sf.Lattice.covering(visits, {self.lattice.spacing_m!r}, region=region)
inside = visits.inside(region)
prior = sf.Prior.from_visits(lattice, inside)
loss = lattice.loss(inside, unit="m")
guarantee = sf.CoordinatePrivacy({epsilon!r}, "km")"""
        closed = f"""rows = sf.proofs.VertexPrivacy(guarantee, lattice)
noise = sf.mechanisms.planar_geometric(lattice, rows.epsilon / lattice.spacing_m * (1 - {_ROUNDING!r}))
mechanism = sf.mechanisms.remapped(noise, prior, loss)"""
        made = closed if gap is None else design_lines(f"guarantee{error}", gap, 'method="table", ')
        return script_text(lines, made, optimized=gap is not None, source=self.source, visits="inside")


def cells_of(places: Places, counts: Floats, prior: Prior) -> list[dict[str, Any]]:
    """Return places as GeoJSON features, degrees, with how often people are at each."""
    features = []
    for index, (name, outline) in enumerate(zip(names_of(places), places.outlines_latlon(), strict=True)):
        ring = [[round(float(lon), 7), round(float(lat), 7)] for lat, lon in outline]
        lat, lon = places.latlon[index].tolist()
        features.append(
            {
                "type": "Feature",
                "id": index,
                "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
                "properties": {
                    "name": name,
                    "visits": round(float(counts[index]), 3),
                    "share": float(prior.probabilities[index]),
                    "lat": lat,
                    "lon": lon,
                },
            }
        )
    return features


def names_of(places: Places) -> list[str]:
    """Return a unique name for each place: the town inside, or the nearest one with distance and direction.

    Towns are those of the world map. Where names would be the same, column and row take the place of the distance.
    """
    labels, here = [_in_words(str(label)) for label in places.labels], places.latlon
    low = np.maximum(here.min(axis=0) - _AROUND, (-90, -180)).tolist()
    high = np.minimum(here.max(axis=0) + _AROUND, (90, 180)).tolist()
    wide = max(high[0] - low[0], high[1] - low[1]) > _WIDEST
    towns = () if wide else world(*low, *high).towns[:_MOST_TOWNS]
    if not towns:
        return labels
    there, outlines = np.array([(town.lat, town.lon) for town in towns]), places.outlines_latlon()
    away = great_circle_m(here, there)
    nearest, home = away.argmin(axis=1), away.argmin(axis=0)
    around = outlines[home]
    inside = ((there >= around.min(axis=1)) & (there < around.max(axis=1))).all(axis=1)
    names: list[str] = []
    for index, at in enumerate(nearest.tolist()):
        within = np.flatnonzero(inside & (home == index))
        if len(within):
            names.append(towns[within[0]].name)  # the largest
        elif away[index, at] > _NEAR_M:
            names.append(labels[index])
        else:
            kilometres = f"{away[index, at] / 1000:.1f} km"
            names.append(f"{towns[at].name}, {kilometres} {_direction(here[index] - there[at], here[index, 0])}")
    often = Counter(names)
    return [
        name if often[name] == 1 else f"near {towns[at].name} ({label})"
        for name, at, label in zip(names, nearest.tolist(), labels, strict=True)
    ]


def _direction(step: Floats, lat: float) -> str:
    """Return the direction of a step in latitude and longitude, degrees, at a latitude."""
    north, east = step[0], step[1] * math.cos(math.radians(lat))
    return _DIRECTIONS[round(math.atan2(east, north) / (math.pi / 4)) % 8]


def _in_words(label: str) -> str:
    """Return the label of a grid's place in words: x03y02 is the fourth column from the west, the third row."""
    found = re.fullmatch(r"x(\d+)y(\d+)", label)
    return f"column {int(found[1]) + 1}, row {int(found[2]) + 1}" if found else label


def spread_of(domain: Domain, places: Places, where: Where) -> Floats:
    """Return the probability of each place that a point is rounded to, or certainty of the one that is named."""
    at, lat, lon = where
    if at is not None:
        return domain.one_secret(at)
    rounding = places.rounding(*_point(lat, lon))
    if not rounding.inside[0]:
        raise RefusedError(422, "This point is outside of the region.", "choose a point inside.", "lat")
    shares = np.zeros(len(places))
    np.add.at(shares, rounding.positions[0], rounding.shares[0])
    return shares


def distances_from(domain: Domain, places: Places, where: Where) -> Floats:
    """Return the distances of all places from a position, metres."""
    at, lat, lon = where
    if at is not None:
        distances: Floats = domain.metric.array[domain.checked_index(at)]
        return distances
    here = places.projection.forward(*_point(lat, lon))[0]
    apart: Floats = np.hypot(*(places.on_plane(places) - here).T)
    return apart


def _point(lat: float | None, lon: float | None) -> tuple[list[float], list[float]]:
    """Return a point as coordinates of one; `RefusedError` if one is missing."""
    if lat is None or lon is None:
        raise RefusedError(422, "A position is needed.", "send an index, or lat and lon.", "at")
    return [lat], [lon]
