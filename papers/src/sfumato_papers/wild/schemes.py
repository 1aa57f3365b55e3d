"""Deployed or published schemes: facts with sources, the channel made of them, and what is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sfumato.errors import InputError

from .channels import DriftingOffset, FixedCells, WildChannel
from .radial import RadialNoise, RadiusLaw, even_radius, laplace_radius, mixed_radius

LATITUDE: Final = 40.0  # of the channels, degrees: cells of degrees are narrower towards the poles
GRID_CELLS: Final = FixedCells(5000.0, 5000.0)
OFFSET: Final = DriftingOffset(2000.0, 500.0, 0.03)
GUARD_RADIUS_M: Final = 500.0
_BITS: Final = 32  # of a coordinate of a radio, in units of 1e-7 degrees

_BORDER: Final = "None across a border (epsilon infinite). Points of one cell give the same report."
_TRIPS: Final = "Trips name no riders, so one trip is one report; linking trips to a person is not covered."


@dataclass(frozen=True, slots=True)
class WildFact:
    """A fact about a scheme, its source, and the version or date of what was read."""

    says: str
    source: str
    read: str


@dataclass(frozen=True, slots=True)
class WildScheme:
    """A scheme as its makers document it, with a channel at 40 degrees north where it reports points.

    `promise` is the guarantee of the channel for any two points. Without `linked` only one report counts.
    """

    key: str
    title: str
    who: str
    facts: tuple[WildFact, ...]
    model: str
    promise: str
    unknown: tuple[str, ...]
    channel: WildChannel | None = None
    linked: bool = True


def mesh_cells(bits: int, lat: float) -> FixedCells:
    """Return the cells of a radio that keeps the upper bits of its coordinates."""
    if not 1 <= bits < _BITS:
        raise InputError(f"a precision of {bits} bits has no cells.", "use 1 to 31, such as 13.")
    return FixedCells.of_degrees(2.0 ** (_BITS - bits) * 1e-7, lat)


def _facts(source: str, read: str, *says: str) -> tuple[WildFact, ...]:
    return tuple(WildFact(text, source, read) for text in says)


_CHAPMAN: Final = _facts(
    "Chapman 2020, Current Best Practices for Generalizing Sensitive Species Occurrence Data (GBIF), Table 7",
    "version 1.1, 2023",
    "Coordinates of categories 2, 3 and 4 are generalised to 0.1, 0.01 and 0.001 degrees. Randomising is strongly "
    "discouraged.",
)
_SURVEYS: Final = (
    *_facts(
        "Burgert et al., DHS Spatial Analysis Reports 7",
        "2013",
        "Clusters are moved once per release: urban ones by up to 2 km, rural ones by up to 5 km, and one rural "
        "cluster in a hundred by up to 10 km. A moved cluster stays in its country, region and second-level unit.",
    ),
    *_facts(
        "the Program's displacement script, in a copy",
        "undated",
        "Direction and distance (uniform from 0 to the largest one) are drawn until the point is in the same "
        "unit.",
    ),
)
_LOUISVILLE: Final = _facts(
    "louisvillemetro-innovation/Dockless-Open-Data",
    "commit cfe56a4, 2020",
    "Starts and ends are rounded to three decimals of a degree, times to 15 minutes. Pairs of start and end with "
    "four trips or fewer are moved at random by up to 0.004 degrees of latitude and 0.005 of longitude, and cut "
    "to three decimals.",
)


def _generalisation(digits: int) -> WildScheme:
    step = 10.0**-digits
    return WildScheme(
        key=f"generalised-{step:g}",
        title=f"{step:g} degrees (guide for GBIF)",
        who="Chapman's guide for GBIF, categories 2 to 4",
        facts=_CHAPMAN,
        model="Every point of a cell is reported as its centre, at 40 degrees north.",
        promise=_BORDER,
        unknown=("Publishers choose categories, and some round differently.",),
        channel=FixedCells.of_degrees(step, LATITUDE),
    )


def _survey(kind: str, law: RadiusLaw, distance: str) -> WildScheme:
    return WildScheme(
        key=f"survey-{kind}",
        title=f"DHS survey clusters, {kind}",
        who="Surveys of the DHS Program",
        facts=_SURVEYS,
        model=f"{kind.capitalize()}: a uniform distance up to {distance}, in a uniform direction, drawn once.",
        promise="None: a report excludes every place farther away than the largest distance, so epsilon is "
        "infinite.",
        unknown=(
            "The cut at borders of units is not modelled.",
            "What a report hides depends on how close other villages are; here the attacker knows the density of "
            "a city.",
        ),
        channel=RadialNoise(law, renewed=False),
    )


SCHEMES: Final = (
    WildScheme(
        key="fixed-grid",
        title="grid of 5 km (WebKit)",
        who="WebKit, approximate location",
        facts=(
            *_facts(
                "w3c/geolocation, comment on pull request 233",
                "2026-08",
                "The location is snapped to a deterministic grid of about 5 km; the longitude step is step / "
                "cos(latitude). The stated accuracy is never below the cell.",
            ),
            *_facts(
                "Apple's documentation of kCLLocationAccuracyReduced",
                "undated",
                "Apple's reduced accuracy gives a region around a nearby point, usually accurate to 1 to 20 km, a "
                "few times an hour. Fixes may be 20 minutes old; the country and typically the city are "
                "preserved.",
            ),
        ),
        model="Every point of a fixed square cell of 5 km is reported as its centre.",
        promise=_BORDER,
        unknown=(
            "How often WebKit renews a report, and which latitude enters the cosine, is not documented.",
            "How Apple draws its regions is not published: no number here is about Apple.",
        ),
        channel=GRID_CELLS,
    ),
    WildScheme(
        key="drifting-offset",
        title="Android (AOSP), drifting offset",
        who="Android approximate location (AOSP, without its density mode)",
        facts=_facts(
            "AOSP, LocationFudger.java (services/core/java/com/android/server/location/fudger)",
            "commits 128586930b and 0928cdfeced0 (Android 16)",
            "The coarse accuracy A is 2000 m by default, and at least 200 m.",
            "Each position is moved by two normal offsets with standard deviation A/4, then rounded to a grid "
            "with step A in both directions (A / 111000 degrees of latitude).",
            "After an hour or more the offsets take one step: offset <- sqrt(1 - 0.03^2) offset + 0.03 N(0, "
            "(A/4)^2).",
            "By its comments, the slow drift counters averaging, and the offset blurs border crossings.",
        ),
        model="Normal offsets of 500 m in both directions, one drift step per hour, and a grid of 2 km. Reports "
        "of one place are an hour apart.",
        promise="No finite epsilon per metre. k hourly reports of one place under one drifting offset satisfy "
        "Gaussian privacy with mu at most d / 500 m x sqrt(1 + (k - 1) x 0.000226) for two places d apart, in "
        "real numbers; the grid can only lower it. Each further offset adds to mu: two independent ones make it "
        "1.42 times as large.",
        unknown=(
            "The density mode needs a provider whose levels are not published.",
            "Phone makers may change the settings.",
            "Restarts and other position streams, which may have new offsets, are not modelled. Attackers who see "
            "several offsets of one place are more accurate than the numbers here.",
            "Attackers use the mean of the reports and simulated offsets, which need not be the best attack.",
        ),
        channel=OFFSET,
    ),
    WildScheme(
        key="location-guard",
        title="Location Guard, 500 m",
        who="Location Guard, its default level",
        facts=(
            *_facts(
                "chatziko/location-guard, src/js/common/laplace.js and browser_base.js",
                "commit 56fc372, 2022",
                "Planar Laplace noise with epsilon = 2 / radius; the radius of the levels low, medium (default) "
                "and high is 200, 500 and 2000 m.",
                "A noisy point is reused for all sites for 10, 30 or 60 minutes in these levels, then drawn "
                "again.",
            ),
            *_facts(
                "Andrés, Bordenabe, Chatzikokolakis and Palamidessi, CCS",
                "2013",
                "Planar Laplace noise has a finite epsilon per metre; k draws of one place have k times as much.",
            ),
        ),
        model="Planar Laplace noise with a mean distance of 500 m, drawn again for every report. Reports of one "
        "place are at least half an hour apart.",
        promise="Epsilon 4/km for one draw, in real numbers; k draws of one place spend k times as much: 48 times "
        "with one request per half hour for a day.",
        unknown=("How often sites ask is not known.", "Floating-point arithmetic is not modelled."),
        channel=RadialNoise(laplace_radius(2 / GUARD_RADIUS_M), renewed=True),
    ),
    WildScheme(
        key="mesh-13",
        title="Meshtastic, 13 bits",
        who="Meshtastic, its default precision",
        facts=(
            *_facts(
                "meshtastic/firmware, src/mesh/PositionPrecision.cpp",
                "commit 7754068, 2026-07",
                "Latitude and longitude are 32-bit integers in units of 1e-7 degrees. The upper p bits and the "
                "middle of the cell are reported. The default is 13 bits; 0 sends no position, 32 the exact one.",
            ),
            *_facts(
                "meshtastic/firmware, src/mesh/PositionPrecision.cpp",
                "2026-05",
                "Channels with public keys send at most 15 bits.",
            ),
        ),
        model="Every point of a cell of 2^19 x 1e-7 degrees is reported as its centre, at 40 degrees north.",
        promise=_BORDER,
        unknown=("What else a radio sends, and when, is not covered.",),
        channel=mesh_cells(13, LATITUDE),
    ),
    WildScheme(
        key="obscured",
        title="iNaturalist, obscured",
        who="iNaturalist, obscured coordinates",
        facts=_facts(
            "inaturalist/inaturalist, app/models/observation.rb",
            "commit 7d0d1d1, 2026-08",
            "A cell measures 0.2 degrees of latitude by 0.2 of longitude.",
            "The public point is uniform in the true cell, drawn once and stored.",
        ),
        model="A uniform point of the cell, stored, at 40 degrees north. It depends on the cell alone.",
        promise="None across a border (epsilon infinite). Points of one cell, about 22 km x 17 km here, give the "
        "same distribution of reports.",
        unknown=("Other content of a record (date, text, the person's other records) is not covered.",),
        channel=FixedCells.of_degrees(0.2, LATITUDE, spread=True),
    ),
    *(_generalisation(digits) for digits in (1, 2, 3)),
    _survey("urban", even_radius(0.0, 2000.0), "2 km"),
    _survey(
        "rural",
        mixed_radius(even_radius(0.0, 5000.0), even_radius(0.0, 10_000.0), 0.01),
        "5 km, or 10 km for one in a hundred",
    ),
    WildScheme(
        key="donut",
        title="donut mask (MaskMyPy), 400 to 1200 m",
        who="MaskMyPy; the distances are those of an example of the R package geomask",
        facts=(
            *_facts(
                "TheTinHat/MaskMyPy, masks/donut.py",
                "version 1.1.0, commit 33631c8, 2025",
                "A point is moved by a distance between a low and a high one, uniform, normal around their "
                "middle, or uniform over the area; with a container until it lies in its polygon.",
            ),
            *_facts("JDConejeros/geomask (R)", "undated", "An example of a donut has 400 m and 1200 m."),
        ),
        model="A uniform distance between 400 m and 1200 m in a uniform direction, without a container. Each "
        "release of the same data is masked again.",
        promise="None: a report excludes every point nearer than 400 m or farther than 1200 m, so epsilon is "
        "infinite.",
        unknown=(
            "Uniform directions simplify the code's formula.",
            "How many maskings of the same data are published depends on the publisher.",
        ),
        channel=RadialNoise(even_radius(400.0, 1200.0), renewed=True),
    ),
    WildScheme(
        key="trips-louisville",
        title="Louisville's trips, common",
        who="Louisville's scooter trips",
        facts=_LOUISVILLE,
        model="Common pairs: every point of a cell of 0.001 degrees is reported as its centre, at 40 degrees "
        "north.",
        promise="Common pairs: none across a border (epsilon infinite); points of one cell give the same report.",
        linked=False,
        unknown=(_TRIPS,),
        channel=FixedCells.of_degrees(0.001, LATITUDE),
    ),
    WildScheme(
        key="trips-louisville-rare",
        title="Louisville's trips, rare",
        who="Louisville's scooter trips",
        facts=_LOUISVILLE,
        model="Rare pairs: a uniform distance up to 440 m in a uniform direction, then the centre of a cell of "
        "0.001 degrees.",
        promise="Rare pairs: none; a report excludes every place farther away than 440 m and half the diagonal of "
        "a cell, about 510 m, so epsilon is infinite.",
        linked=False,
        unknown=(
            _TRIPS,
            "Uniform direction and distance simplify the city's formula.",
            "A cut coordinate is a corner of its cell; it is taken as the centre here, as an informed reader "
            "would.",
        ),
        channel=RadialNoise(even_radius(0.0, 440.0), renewed=False, cells=FixedCells.of_degrees(0.001, LATITUDE)),
    ),
    WildScheme(
        key="trips-chicago",
        title="Chicago's trips, by tract",
        who="Chicago's taxi and ride-hailing trips",
        facts=_facts(
            "City of Chicago, blog on taxi and ride-hailing data",
            "2019",
            "Times are rounded to 15 minutes, places to one of about 800 census tracts. If at most two trips "
            "share a tract and a quarter of an hour, only one of 77 community areas is given; this blanks about a "
            "third of tracts.",
        ),
        model="Squares of 870 m (600 km2 in 800 parts); real tracts differ in shape and size. Every trip has its "
        "tract.",
        promise="None across a border (epsilon infinite). Points of one tract give the same tract. Whether a "
        "tract is given depends on other people's trips.",
        linked=False,
        unknown=(_TRIPS,),
        channel=FixedCells(870.0, 870.0),
    ),
    WildScheme(
        key="zone-centred",
        title="zone around home, 500 m",
        who="Services whose zone is a disc around the address",
        facts=_facts(
            "Hassan, Hussain and Bates, USENIX Security",
            "2018",
            "If tracks are hidden within a disc around an address, a circle through their visible ends finds the "
            "address.",
        ),
        model="A disc of 500 m around home. Each track ends where it enters the disc, in a uniform direction, "
        "with 5 m of error.",
        promise="None: the visible ends lie on a circle around home.",
        unknown=("Which services have such zones today is not known. Streets are not modelled.",),
    ),
    WildScheme(
        key="zone-shifted",
        title="shifted zone (OpenBikeSensor), 500 m",
        who="OpenBikeSensor, an open model of a shifted zone",
        facts=(
            *_facts(
                "openbikesensor/OpenBikeSensorFirmware, src/gps.cpp",
                "commit 5b279c4, 2026-07",
                "The centre is moved once, when the zone is made, in a uniform direction by a uniform distance "
                "between a tenth and nine tenths of the radius, 500 m by default. Home is always inside.",
            ),
            *_facts(
                "Strava's support pages on map visibility",
                "undated",
                "Strava hides starts and ends in an area of up to 1.6 km around an address, randomised since "
                "about 2018 or 2019.",
            ),
            *_facts(
                "Komoot's support pages", "undated", "Komoot uses a random polygon, which can be drawn again."
            ),
        ),
        model="A disc of 500 m whose centre is moved once by OpenBikeSensor's rule; tracks leave home in uniform "
        "directions.",
        promise="None: home is inside the disc that the visible ends show, and more ends lie on the side near "
        "home.",
        unknown=(
            "Strava's rule for the shift is not published: no number here is about Strava or Komoot.",
            "Published attacks that extend tracks inwards or use total lengths need streets, and are not run here "
            "(freemove.space 2022; Dhondt et al., CCS 2022).",
        ),
    ),
    WildScheme(
        key="rounded-distance",
        title="a rounded distance to others",
        who="Dating apps, as published",
        facts=(
            *_facts(
                "Dhondt et al., Swipe Left for Identity Theft, USENIX Security, section 5.5",
                "2024",
                "6 of 15 apps let others be located. One of the 6, Grindr, rounded coordinates to three decimals "
                "and answered distance queries.",
                "Trilateration with a filter by exact distance found people to about 2 m in Badoo, Bumble, Hinge "
                "and Hily. Rounding coordinates to three decimals first was the fix.",
                "Tinder replaced the point by the centre of a cell of a mile, LOVOO by a point of a cell of 1 km; "
                "both count as safe.",
            ),
            *_facts("R. Heaton, blog", "2021", "In 2021 Bumble showed distances in whole miles, rounded down."),
        ),
        model="Whole miles, rounded down, of the exact distance or of the distance to the centre of a cell of "
        "0.001 degrees or of a mile. The attacker queries one distance at a time, from any place.",
        promise="None. Where a rounded distance changes, the exact one is known, and three such places locate the "
        "point that distances are counted from: the person, or the centre of their cell.",
        unknown=("The sources describe the versions they tested, not today's apps.",),
    ),
)
"""All schemes, in the order of the page."""
