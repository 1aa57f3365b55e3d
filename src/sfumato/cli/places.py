"""From the options of a command to visits, cells and a prior."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .console import say
from .wording import option

if TYPE_CHECKING:
    from ..core import Prior
    from ..geo import Places, Visits

_CELLS = 108  # 12 x 9 over 8 km x 6 km: seen well on a map, and designed in seconds
BUILT_IN = "the built-in synthetic city (200 invented people, placed in the open Atlantic at 40 N, 30 W)"


def visits_from(
    path: Path | None, lat: str | None, lon: str | None, user_column: str | None
) -> tuple[Visits, str]:
    """Return the visits of a file, or of the synthetic city, and their name in words; say where they lie."""
    from ..geo import read_visits, synthetic_city
    from ..geo.whereabouts import whereabouts

    if path is None:
        for name, value in (("--lat", lat), ("--lon", lon), ("--user-column", user_column)):
            if value is not None:
                raise InputError(f"{name} was given without a file of visits.", "name the file, or leave it out.")
        say(f"Note: without a file, {BUILT_IN} is taken.", err=True)
        return synthetic_city(), BUILT_IN
    visits = read_visits(path, lat=lat, lon=lon, user=user_column)
    for remark in visits.notes:
        say(f"Note: {remark}", err=True)
    say(f"Note: the visits lie at {whereabouts(visits.lat, visits.lon)}.", err=True)
    return visits, f"{len(visits):,} visits in {'standard input' if piped(path) else path.name}"


def piped(path: Path) -> bool:
    """Return whether a name stands for what is piped into the command."""
    return str(path) in ("-", "/dev/stdin")


def cells_over(
    visits: Visits, region: str | None, cell: str | None, cells: str | None, hexagons: str | None
) -> Places:
    """Return the grid or hexagons that the options ask for; by default a grid of about 108 cells."""
    from ..geo import Grid, Hexagons, Region

    if sum(option is not None for option in (cell, cells, hexagons)) > 1:
        raise InputError("more than one of --cell, --cells and --hexagons was given.", "choose one.")
    area = None
    if region is not None:
        with option("--region"):
            area = Region.parse(region)
    if hexagons is not None:
        with option("--hexagons"):
            return Hexagons.covering(visits, cell=hexagons, region=area)
    if cell is not None:
        sides = [side.strip() for side in re.split(r"[x×]", cell)]
        with option("--cell"):
            if len(sides) > 2 or not all(sides):
                raise InputError(f"{cell!r} is not one side or two.", "write '500 m' or '750 m x 533 m'.")
            return Grid.covering(visits, cell=(sides[0], sides[-1]), region=area)
    if cells is not None:
        with option("--cells"):
            return Grid.covering(visits, shape=_shape(cells, (area or Region.of(visits)).size_m), region=area)
    return Grid.covering(visits, shape=_shape(None, (area or Region.of(visits)).size_m), region=area)


def prior_of(places: Places, visits: Visits, user: str | None, smoothing: float, source: str) -> tuple[Prior, str]:
    """Return the prior and where it comes from, in words."""
    from ..core import Prior

    prior = Prior.from_visits(places, visits, user=user, smoothing=smoothing)
    inside = int(places.counts(visits, user).sum())
    asked = len(visits) if user is None else len(visits.of_user(user))
    text = source if user is None else f"{asked:,} visits of user {user} in {source}"
    if inside < asked:
        text += f"; {asked - inside:,} of them outside the region are left out"
    if smoothing:
        text += f"; smoothing {smoothing:g}"
    return prior, text


def priors_of(
    places: Places, visits: Visits, user: str | None, users: int | None, smoothing: float
) -> dict[str, Prior]:
    """Return the priors of a sweep by name: everyone's, one user's, or those of the most frequent users."""
    from ..core import Prior

    if users is None:
        name = "everyone" if user is None else f"user {user}"
        return {name: Prior.from_visits(places, visits, user=user, smoothing=smoothing)}
    if user is not None:
        raise InputError("both --user and --users were given.", "choose one.")
    inside = visits.select(places.locate(visits.lat, visits.lon) >= 0)
    names = list(inside.users())[:users]
    if users < 1 or not names:
        raise InputError(f"--users {users} finds no user.", "ask for at least one, in visits with a user column.")
    return {f"user {name}": Prior.from_visits(places, inside, user=name, smoothing=smoothing) for name in names}


def _shape(cells: str | None, size_m: tuple[float, float]) -> tuple[int, int]:
    if cells is None:
        width, height = size_m
        if not (width > 0 and height > 0):
            return 1, 1  # Grid explains what one cell means
        columns = min(_CELLS, max(1, round((_CELLS * width / height) ** 0.5)))
        return columns, max(1, round(_CELLS / columns))
    match = re.fullmatch(r"\s*(\d+)\s*[x×]\s*(\d+)\s*", cells)
    if match is None:
        raise InputError(f"{cells!r} is not understood.", "write columns x rows: '20x15'.")
    return int(match[1]), int(match[2])
