"""The table of docs/coordinates.md: what mechanisms for points lose on real check-ins, and where the program pays.

    python -m benchmarks.places ../shared/data --instance paris --out places-paris.csv

Instances are ``paris``, ``new-york`` and ``user-1`` to ``user-10`` (people with the most visits of the
Foursquare file and of the Gowalla file, five of each, within 12 km x 12 km of where they usually are). Each takes
some minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sfumato as sf

EPSILONS = ("0.5/km", "1/km", "2/km")
CENTRES = {"paris": (48.8566, 2.3522), "new-york": (40.7420, -73.9880)}
FILES = {"paris": "gowalla_paris.parquet", "new-york": "gowalla_nyc.parquet"}
TOWN_M, REACH_M = 3000, 12_000
USERS_OF_EACH = 5


def instance(name: str, data: Path) -> tuple[sf.Visits, sf.Region]:
    """Return the visits and the region of an instance."""
    if name in CENTRES:
        region = sf.Region.around(*CENTRES[name], TOWN_M, TOWN_M)
        return sf.read_visits(data / FILES[name]).inside(region), region
    file, rank = divmod(int(name.removeprefix("user-")) - 1, USERS_OF_EACH)
    visits = sf.read_visits(data / ("foursquare_nyc.parquet", "gowalla_nyc.parquet")[file])
    counts = visits.users()
    user = sorted(counts, key=lambda each: (-counts[each], str(each)))[rank]
    theirs = visits.of_user(user)
    region = sf.Region.around(float(np.median(theirs.lat)), float(np.median(theirs.lon)), REACH_M, REACH_M)
    return theirs.inside(region), region


def main() -> None:
    """Compare on one instance and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--instance", default="paris")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--spacing")
    parser.add_argument("--bound-time", type=float, default=20.0)
    given = parser.parse_args()
    visits, region = instance(given.instance, given.data)
    found = sf.compare_places(
        visits,
        epsilon=EPSILONS,
        region=region,
        spacing=given.spacing,
        bound_time=given.bound_time,
        progress=print,
    )
    found.save(given.out)


if __name__ == "__main__":
    main()
