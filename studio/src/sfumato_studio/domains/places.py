"""Places on a map: a lattice over a region, with a guarantee per metre."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import Any, Final

import numpy as np

from sfumato.attacks import chance_within, true_place
from sfumato.core import CoordinatePrivacy, DesignGuarantee, Mechanism, Prior
from sfumato.core.arrays import Floats
from sfumato.geo import Lattice, Polygon, Region, Visits
from sfumato.mechanisms import planar_geometric, remap_mechanism
from sfumato.optimal import choose_lattice
from sfumato.proofs import PlaceDistortion, VertexPrivacy
from sfumato.rounding import amount, plural

from .domain import Domain, Measures, design_lines, script_text

UNIT: Final = "m"
_OUTLINE_NOTE: Final = (
    "Only visits inside the area that was drawn count. The guarantee holds in the whole rectangle around it, but "
    "outside of the area nothing was done to keep the loss small."
)
_STEPS: Final = 2.5  # over the spacing: the largest epsilon for which a lattice is fine enough
_LOOSE: Final = 1.0  # over the longer side: the two ends of the region are then nearly indistinguishable
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
        choice = choose_lattice(visits, None, most=detail, region=region)
        self.lattice: Lattice = choice.lattice
        self.slack_m = choice.lattice.slack_m
        self.prior = Prior.from_visits(self.lattice, self.visits)
        self.loss = self.lattice.loss(self.visits, unit=UNIT)
        self.metric = self.lattice.metric("euclidean", UNIT)
        side_km = max(region.size_m) / 1000
        least, most = _LOOSE / side_km, _STEPS / (self.lattice.spacing_m / 1000)
        self.ends = (float(f"{least:.2g}"), float(f"{max(most, 2 * least):.2g}"))

    def guarantee(self, epsilon: float) -> CoordinatePrivacy:
        """Return the guarantee for any two points."""
        return CoordinatePrivacy(epsilon, "km")

    def error_guarantee(self, least: float) -> DesignGuarantee:
        """Return the guarantee of the attacker's error from the true point."""
        error = PlaceDistortion(least, self.lattice, self.visits, unit=UNIT)
        error.check_possible(self.prior)
        return error

    def closed_form(self, epsilon: float) -> tuple[Mechanism, str]:
        """Return planar noise on the lattice, with the remap of least loss; steps are at least distances."""
        rows = VertexPrivacy(CoordinatePrivacy(epsilon, "km"), self.lattice)
        rate = rows.epsilon / self.lattice.spacing_m * (1 - _ROUNDING)
        return remap_mechanism(planar_geometric(self.lattice, rate), self.prior, self.loss), "planar noise"

    def measures(self, mechanism: Mechanism) -> Measures:
        """Return the best attacker's average error from the true point, and how often it is within the radius."""
        error = true_place(mechanism, self.visits, unit=UNIT).error
        return Measures(error, chance_within(mechanism, self.visits, self.radius_m))

    @property
    def epsilon_counts(self) -> dict[str, Any]:
        """See `Domain.epsilon_counts`."""
        return {"visits": self.visits}

    def answer(self) -> dict[str, Any]:
        """Return the places for the page."""
        used, spacing = len(self.visits), amount(self.lattice.spacing_m, "m")
        return {
            "spacing_m": self.lattice.spacing_m,
            "region": sides_of(self.region),
            "polygon": None if self.polygon is None else self.polygon.corners[:, ::-1].tolist(),
            "radius_m": self.radius_m,
            "sentences": [
                f"The map has {plural(len(self.lattice), 'place')}, {spacing} apart, from "
                f"{plural(used, 'visit')}.",
                "You are rounded at random to a place near you, and a place is reported. The guarantee holds "
                "for any two points of the region.",
                *(() if self.polygon is None else (_OUTLINE_NOTE,)),
                f"A guess counts as found within {amount(self.radius_m, 'm')} of your true place.",
            ],
        }

    @cached_property
    def counts(self) -> Floats:
        """The number of visits at each place."""
        return np.asarray(self.lattice.counts(self.visits))

    def script(self, name: str, epsilon: float, gap: float | None, distortion: float | None) -> str:
        """Return a Python script that makes a mechanism again; see `Domain.script`."""
        loading = self.loading or f"visits = sf.read_visits({name!r})"
        error = "" if distortion is None else f', sf.PlaceDistortion({distortion!r}, lattice, inside, unit="m")'
        crop = ""
        if self.polygon is not None:
            corners = [tuple(corner) for corner in self.polygon.corners.tolist()]
            crop = f"visits = visits.inside(sf.geo.Polygon({corners!r}))\n"
        lines = f"""{loading}
{crop}region = sf.Region.parse({str(self.region)!r})
lattice = sf.Lattice.covering(visits, {self.lattice.spacing_m!r}, region=region)
inside = visits.inside(region)
prior = sf.Prior.from_visits(lattice, inside)
loss = lattice.loss(inside, unit="m")
guarantee = sf.CoordinatePrivacy({epsilon!r}, "km")"""
        closed = f"""rows = sf.proofs.VertexPrivacy(guarantee, lattice)
noise = sf.mechanisms.planar_geometric(lattice, rows.epsilon / lattice.spacing_m * (1 - {_ROUNDING!r}))
mechanism = sf.mechanisms.remap_mechanism(noise, prior, loss)"""
        code = closed if gap is None else design_lines(f"guarantee{error}", gap, 'method="table", ')
        return script_text(lines, code, optimized=gap is not None, source=self.source, visits="inside")


def sides_of(region: Region) -> dict[str, float]:
    """Return the sides of a region, degrees, in the five digits with which it is written."""
    return {side: round(degrees, 5) for side, degrees in asdict(region).items()}
