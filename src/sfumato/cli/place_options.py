"""Visits, places, a prior, metrics and guarantees from the options of a command."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ..errors import InputError
from .messages import option, say, working
from .options import PlaceOptions, VisitsOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..core import CoordinatePrivacy, DesignGuarantee, Loss, Metric, MetricPrivacy, Prior, Space
    from ..core.arrays import Floats
    from ..geo import People, Places, Region, Visits
BUILT_IN: Final = "the built-in synthetic city (200 invented people in San Francisco)"
OF_FILES: Final = (
    "for GPX, GeoLife and OziExplorer --people file says that each file is a person, --people folder that each "
    "folder is."
)

POINTS_GAP: Final = 1e-4  # the gap for lattices, whose spacing costs more
SEARCHED: Final = 200  # vertices of a lattice on which a search takes about a minute on two cores
_KIND_COLUMNS: Final = ("kind", "category")
_USUAL_CELLS: Final = 108  # 12 x 9 over 8 km x 6 km: seen well on a map, and designed in seconds
_CELLS: Final = "with --cells 20x15 (or --cell, --hexagons) places are cells"
_RANGE: Final = re.compile(r"\s*([0-9.eE+-]+)\s*\.\.\s*([0-9.eE+-]+)\s*(.*?)\s*:\s*(\d{1,9})\s*")
_NUMBER: Final = re.compile(r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def visits_of(path: Path | None, options: VisitsOptions) -> tuple[Visits, str]:
    """Return the visits of a file, or of the synthetic city, and their name in words; print where they are."""
    from ..geo import is_city, read_visits, synthetic_city, whereabouts
    from ..rounding import plural

    if path is None or is_city(path):
        flags = options.about_visits()
        if flags and path is None:
            raise InputError(f"{flags[0]} was given without a file of visits.", "name the file, or leave it out.")
        if flags:
            problem = f"{flags[0]} was given, but {str(path)!r} names the built-in city, which is no file."
            raise InputError(problem, f"leave out {flags[0]}.")
        why = "no file was given, so this uses" if path is None else f"{str(path)!r} names"
        say(f"Note: {why} {BUILT_IN}.", err=True)
        return synthetic_city(), BUILT_IN
    if not (path.suffix or _is_stdin(path) or os.path.exists(path)):
        raise InputError(
            f"there is no file {str(path)!r}.", "check the path; values with spaces need quotes: '500 m'."
        )
    with working("Reading the visits"):
        columns: Any = {"lat": options.lat, "lon": options.lon, "user": options.user_column}
        people = cast("People | None", options.people)
        visits = read_visits(path, **columns, people=people, skip_damaged=options.skip_damaged)
    for remark in visits.notes:
        say(f"Note: {remark}", err=True)
    if visits.user is None and path.is_dir():
        say(f"Note: {OF_FILES}", err=True)
    say(f"Note: the visits are at {whereabouts(visits.lat, visits.lon)}.", err=True)
    return visits, f"{plural(len(visits), 'visit')} in {'standard input' if _is_stdin(path) else path.name}"


def optional_visits(path: Path | None, user: str | None, options: VisitsOptions) -> Visits | None:
    """Return the visits of ``--visits``, of all users; refuse options about visits without it."""
    if path is not None:
        return visits_of(path, options)[0]
    for name in (*(() if user is None else ("--user",)), *options.about_visits()):
        raise InputError(f"{name} was given without --visits.", "add the file or the folder of visits.")
    return None


def name_of(visits: Path | None) -> str:
    """Return the default name of a result, without its ending."""
    return "city" if visits is None else "mechanism" if _is_stdin(visits) else visits.stem or "mechanism"


def region_of(text: str | None) -> Region | None:
    """Return the area that ``--region`` gives; None without it."""
    from ..geo import Region

    if text is None:
        return None
    with option("--region"):
        return Region.parse(text)


def cells_over(
    visits: Visits, region: str | None, cell: str | None, cells: str | None, hexagons: str | None = None
) -> Places:
    """Return the grid or hexagons of the options; by default a grid of about 108 cells."""
    from ..geo import Grid, Hexagons

    if sum(text is not None for text in (cell, cells, hexagons)) > 1:
        raise InputError("more than one of --cell, --cells and --hexagons was given.", "choose one.")
    area = region_of(region)
    if hexagons is not None:
        with option("--hexagons"):
            return Hexagons.covering(visits, cell=hexagons, region=area)
    if cell is not None:
        sides = [side.strip() for side in re.split(r"[x×]", cell)]
        with option("--cell"):
            if len(sides) > 2 or not all(sides):
                raise InputError(f"{cell!r} is not one side or two.", "write '500 m' or '750 m x 533 m'.")
            return Grid.covering(visits, cell=(sides[0], sides[-1]), region=area)
    if cells is None:
        return Grid.covering(visits, shape=(area or visits.region()).shape_of(_USUAL_CELLS), region=area)
    with option("--cells"):
        match = re.fullmatch(r"\s*(\d{1,9})\s*[x×]\s*(\d{1,9})\s*", cells)
        if match is None:
            raise InputError(f"{cells!r} is not understood.", "write columns x rows: '20x15'.")
        return Grid.covering(visits, shape=(int(match[1]), int(match[2])), region=area)


def prior_of(places: Places, visits: Visits, user: str | None, smoothing: float, source: str) -> tuple[Prior, str]:
    """Return the prior and where it comes from, in words."""
    from ..core import Prior
    from ..rounding import plural

    prior = Prior.from_visits(places, visits, user=user, smoothing=smoothing)
    sample = visits if user is None else visits.of_user(user)
    total, inside = len(sample), int(places.inside(sample.lat, sample.lon).sum())
    text = source if user is None else f"{plural(total, 'visit')} of user {user} in {source}"
    if inside < total:
        text += f"; {total - inside:,} of them outside the region are left out"
    if smoothing:
        text += f"; smoothing {smoothing:g}"
    return prior, text


def labels_of(visits: Visits, column: str, user_column: str | None = None) -> NDArray[np.str_]:
    """Return a column as texts, "" where a cell is empty; ``user`` is that of users."""
    import numpy as np

    if column in visits.attributes:
        values: Any = visits.attributes[column]
    elif visits.user is not None and column in ("user", user_column):
        values = visits.user
    else:
        known = ", ".join([*visits.attributes, *(["user"] if visits.user is not None else [])]) or "none"
        raise InputError(f"there is no column {column!r}.", f"the other columns are: {known}.")
    return np.array(["" if value is None or value != value else str(value) for value in values])


def kinds_on(places: Space, path: Path, column: str | None) -> dict[str, Floats]:
    """Return the probability of each kind of place in each secret, array (n,) by kind, from ``--kinds``."""
    from ..geo import Places, read_visits
    from ..rounding import plural

    if not isinstance(places, Places):
        raise InputError(
            "--kinds was given, but the secrets are not places.", "name the values of labels with --events."
        )
    with option("--kinds"), working("Reading the places and their kinds"):
        points = read_visits(path)
        names = [name for name in _KIND_COLUMNS if name in points.attributes]
        if column is None and not names:
            known = ", ".join(points.attributes) or "none"
            raise InputError(
                f"{path.name} has no column {' or '.join(_KIND_COLUMNS)}.",
                f"name the column of the kinds with --kind-column; the columns are: {known}.",
            )
        labels = labels_of(points, column or names[0])
        has_kind = labels != ""
        if not has_kind.any():
            raise InputError(f"no place of {path.name} has a kind.", "name another column with --kind-column.")
        kinds = places.kinds(points.select(has_kind), labels[has_kind])
        if len(kinds) < 2:
            raise InputError(
                f"every place of {path.name} in the region is of one kind, and so there is nothing to guess.",
                "name a map with several kinds.",
            )
    if not has_kind.all():
        say(f"Note: {plural(int((~has_kind).sum()), 'place')} of {path.name} without a kind: left out.", err=True)
    return kinds


def metric_on(places: Places, kind: str, name: str) -> Metric:
    """Return a metric on places, in kilometres where it is a length; `name` is its option."""
    with option(name):
        return places.metric(kind, unit=None if kind == "hamming" else "km")


def promise_of(epsilon: str | float, metric: Metric, name: str) -> MetricPrivacy:
    """Return metric privacy at an epsilon, the value of the option `name`; warn where it is extreme."""
    from ..core import MetricPrivacy
    from ..reports import extremes

    with option(name):
        promise = MetricPrivacy(epsilon, metric)
    for remark in extremes(promise):
        say(f"Warning: {remark}", err=True)
    return promise


def amounts_of(text: str | None, unit: str, *, per: bool, noun: str) -> list[float]:
    """Read ``"0.15/km, 0.3/km"``, ``"0.15, 0.3/km"`` or ``"0.15..0.9/km:6"`` (six equal steps); None is no values.

    The result is in a unit, or `per` unit; `noun` names the values in errors.
    """
    from ..core import units

    if text is None:
        return []
    match = _RANGE.fullmatch(text)
    if match is None:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not parts:
            of = f"{'/' if per else ' '}{unit}" if unit else ""
            raise InputError(
                f"{text!r} holds no {noun.removeprefix('the ')}.", f"write one, or several: '0.5{of}, 1{of}'."
            )
        ending = _NUMBER.sub("", parts[-1], count=1)
        complete = [part + ending if _NUMBER.fullmatch(part) else part for part in parts]
        values = [units.parse(part, per=per, unit=unit, subject=noun) for part in complete]
    else:
        low, high = (units.parse(match[k] + match[3], per=per, unit=unit, subject=noun) for k in (1, 2))
        steps = int(match[4])
        if steps < 2 or not low < high:
            raise InputError(
                f"the range {text!r} is empty.", "write low..high/unit:steps, such as '0.15..0.9/km:6'."
            )
        values = [float(f"{low + (high - low) * k / (steps - 1):.12g}") for k in range(steps)]
    if not min(values) > 0:
        raise InputError(f"{text!r} holds {min(values):g}, and every value must be above 0.", "start above 0.")
    return values


def max_loss_of(text: str, unit: str) -> float:
    """Return the value of ``--max-loss`` in a unit ("" for a loss without one)."""
    from ..core import units

    with option("--max-loss"):
        if not unit and re.search(r"[a-zA-Z]\s*$", text):
            raise InputError(
                f"{text!r} has a unit, but this loss is the probability of a wrong report.",
                "write a number between 0 and 1, such as '0.3'; or leave out --loss hamming.",
            )
        limit = units.parse(text, unit=unit, subject="the limit of the loss")
        if not limit > 0:
            raise InputError(
                f"a limit of {text} is not positive.", f"allow some loss, such as '{'500 m' if unit else '0.3'}'."
            )
    return limit


def _is_stdin(path: Path) -> bool:
    return str(path) in ("-", "/dev/stdin")


@dataclass(frozen=True, slots=True)
class Site:
    """The places of a design, their costs and guarantees."""

    places: Places
    costs: Loss | Metric
    distances: Metric
    promises: tuple[DesignGuarantee, ...]
    reason: str = ""  # why the lattice has its spacing; "" for cells and for a given spacing
    search: tuple[str, ...] = ()  # sentences on the goal that epsilon was searched for


def wants_cells(options: PlaceOptions, *, of_lattice: tuple[str, ...], of_cells: tuple[str, ...]) -> bool:
    """Return whether the options ask for cells; options for the other kind of places are refused."""
    cells = options.non_default("cell", "cells", "hexagons")
    if cells:
        options.refuse(of_lattice, f"is for points, but {cells[0]} asks for cells.", "leave one of them out.")
        return True
    names = (*of_cells, "objective") if options.objective == "worst-case" else of_cells
    options.refuse(names, "is for cells, but places are points here.", f"{_CELLS}; or leave it out.")
    return False


def site_of_points(
    options: PlaceOptions,
    visits: Visits,
    loss: str,
    epsilon: str | float | None,
    *,
    most: int | None,
    errors: bool,
    limit_m: float | None = None,
) -> Site:
    """Return the lattice of the options, with the loss of the true point.

    A spacing is chosen for at most `most` vertices; None allows as many as take about a minute. With a limit, an
    average loss within it is possible without a guarantee, if vertices near visits suffice for that.
    """
    from ..core import CoordinatePrivacy, units
    from ..geo import DISTANCES, KINDS
    from ..optimal import MOST_NEAR, check_lattice, place_lattice, refine_lattice
    from ..reports import coordinate_extremes

    if loss not in DISTANCES:
        raise InputError(
            f"--loss {loss} is unknown for points: it is their distance from the report, euclidean or manhattan.",
            f"choose one of them; {_CELLS}.",
        )
    promise: CoordinatePrivacy | None = None
    if epsilon is not None:
        with option("--epsilon"):
            promise = CoordinatePrivacy(epsilon)
    area, near, spacing, kind = region_of(options.region), options.near, options.spacing, options.lattice
    if kind not in KINDS:
        raise InputError(f"--lattice {kind} is unknown.", f"use {' or '.join(KINDS)}.")
    if near is not None:
        with option("--near"):
            if not units.parse(near, unit="m", subject="the distance to visits") > 0:
                raise InputError(f"a distance of {near} to visits is not positive.", "use a length: '300 m'.")
    settings: Any = {"spacing": spacing, "kind": kind, "region": area, "near": near, "most": most}
    with working("Laying the lattice"), nullcontext() if spacing is None else option("--spacing"):
        choice = place_lattice(visits, promise, **settings)
        if limit_m is not None and promise is None and spacing is None and near is None:
            choice = refine_lattice(choice, visits, limit_m, region=area, user=options.user, loss=loss)
    lattice, reason = choice
    if limit_m is None or promise is not None or len(lattice) > MOST_NEAR:  # else no program is solved
        check_lattice(lattice, options.time_limit, errors=errors and limit_m is None)
    for remark in () if promise is None else coordinate_extremes(promise, lattice):
        say(f"Warning: {remark}", err=True)
    with working("Measuring how far visits are from reports"):
        costs = lattice.loss(visits, loss, user=options.user)
    promises = () if promise is None else (promise,)
    return Site(lattice, costs, metric_on(lattice, "euclidean", "--metric"), promises, reason)


def site_of_cells(
    options: PlaceOptions, visits: Visits, loss: str, epsilon: str | None = None, within: str | None = None
) -> Site:
    """Return the cells of the options, with the distances of their centres.

    Without an epsilon no metric privacy is guaranteed; without `within` it is for any distance.
    """
    from ..core import ThresholdPrivacy
    from ..geo import DISTANCES
    from ..optimal import check_size

    places = cells_over(visits, options.region, options.cell, options.cells, options.hexagons)
    check_size(len(places), len(places), options.time_limit)
    distances = metric_on(places, options.metric, "--metric")
    promises: tuple[DesignGuarantee, ...] = ()
    if within is not None:
        with option("--epsilon and --protect-within"):
            promises = (ThresholdPrivacy("1" if epsilon is None else epsilon, distances, within),)
    elif epsilon is not None:
        promises = (promise_of(epsilon, distances, "--epsilon"),)
    # The distance of the true point is an average over those in a cell: it has no worst case.
    averaged = loss in DISTANCES and options.objective != "worst-case"
    costs = places.loss(visits, loss, user=options.user) if averaged else metric_on(places, loss, "--loss")
    return Site(places, costs, distances, promises)
