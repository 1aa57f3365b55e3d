"""Published statements about schemes in the wild, judged by the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.core import Bracket
from sfumato.core.immutable import CompactRepr

from ..reproduction import PaperClaim, RunTables, illustrates, ours, unchecked
from .averaging import OFFSETS, OFFSETS_UNDER_GRID, AveragingRow
from .borders import BorderRow
from .by_construction import built
from .found import FoundRow
from .rounded_distances import DistanceRow
from .summary import CloseRow, close_row, close_rows, metres, over_seeds, shares
from .vocabulary import ALONE, AS_DOCUMENTED, KNOWS, REMEMBERED
from .walks import CrossingRow
from .zone_claims import HASSAN, zone_claims
from .zones import ZoneRow

_AOSP: Final = "Comments in AOSP's LocationFudger"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WildTables(CompactRepr):
    """The tables of a run that statements are judged by.

    Attributes:
        averages: Averages of copies and of drifting offsets.
        walks: Walks across borders.
        borders: Two people at a border.
        zones: Zones.
        distances: Rounded distances.
        close: Errors over the runs.
    """

    averages: Sequence[AveragingRow]
    walks: Sequence[CrossingRow]
    borders: Sequence[BorderRow]
    zones: Sequence[ZoneRow]
    distances: Sequence[DistanceRow]
    close: Sequence[CloseRow]

    @classmethod
    def of(cls, tables: RunTables, close: Sequence[CloseRow] | None = None) -> WildTables:
        """Return the tables of a run from its folder.

        Args:
            tables: Where they lie.
            close: Errors over the runs, where they were summed up before.
        """
        return cls(
            tables.rows("averages", AveragingRow),
            tables.rows("walks", CrossingRow),
            tables.rows("borders", BorderRow),
            tables.rows("zones", ZoneRow),
            tables.rows("distances", DistanceRow),
            close_rows(tables.rows("found", FoundRow)) if close is None else close,
        )


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return what was published, what follows by construction, and what this run says of them."""
    return claims_of(WildTables.of(tables))


def claims_of(tables: WildTables) -> Sequence[PaperClaim]:
    """Return the statements, judged by tables that were read.

    Args:
        tables: The tables.
    """
    return [
        *_averaging(tables.averages),
        *_borders(tables.walks, tables.close),
        *zone_claims(tables.zones),
        *_distances(tables.distances),
        _repeated(tables.close),
        *built(tables.borders, tables.close),
        *_lost(),
    ]


def _averaging(rows: Sequence[AveragingRow]) -> list[PaperClaim]:
    def mean(noise: str, reports: int) -> tuple[Bracket, float]:
        own = [row for row in rows if row.noise == noise and row.reports == reports]
        return over_seeds(own, lambda row: row.mean_m), own[0].closed_m

    skews = {count: mean("normal skew", count) for count in (1, 10, 50)}
    drift = {count: mean(OFFSETS, count) for count in (1, 100, 8760)}
    under = {count: mean(OFFSETS_UNDER_GRID, count)[0] for count in (1, 100, 8760)}
    independent = drift[1][1] / math.sqrt(100)
    return [
        illustrates(
            "Cassa, Wieland and Mandl (2008), abstract",
            "Averaging copies of a place with normal skews of 0.7 km on average leaves 0.2 km after 10 copies, "
            "0.1 km after 50.",
            round(skews[10][0].value, -2) == 200 and round(skews[50][0].value, -2) == 100,
            f"Mean error: {metres(skews[1][0])} for one copy, {metres(skews[10][0])} for 10 (closed form "
            f"{metres(skews[10][1])}), {metres(skews[50][0])} for 50 (closed form {metres(skews[50][1])}).",
            quote="With ten anonymized copies of an original data set, we find a substantial decrease in average "
            "distance from 0.7 km to 0.2 km between the estimated, re-identified address and the original "
            "address. With fifty anonymized copies of an original data set, we find a decrease in average "
            "distance from 0.7 km to 0.1 km.",
        ),
        illustrates(
            _AOSP,
            "A slow drift of the offset counters averaging.",
            drift[100][1] > independent,
            f"Mean error under one drifting offset: {metres(under[1])} for one report, {metres(under[100])} for "
            f"the mean of 100 hourly ones, {metres(under[8760])} for a year of them. Without the grid: "
            f"{metres(drift[1][0])}, {metres(drift[100][0])} (closed form {metres(drift[100][1])}) and "
            f"{metres(drift[8760][0])} (closed form {metres(drift[8760][1])}). The mean of 100 independent "
            f"offsets would be {metres(independent)} off.",
            quote="The random offset changes very slowly over time, to mitigate against taking many location "
            "samples and averaging them out.",
        ),
    ]


def _borders(rows: Sequence[CrossingRow], close: Sequence[CloseRow]) -> list[PaperClaim]:
    def error(scheme: str, step: float) -> Bracket:
        own = [row for row in rows if (row.scheme, row.mechanism, row.step_m) == (scheme, AS_DOCUMENTED, step)]
        return over_seeds(own, lambda row: row.on_road_m)

    fine, coarse = (error("fixed-grid", step) for step in (100.0, 800.0))
    drifting = error("drifting-offset", 800.0)
    still = close_row(close, "fixed-grid", AS_DOCUMENTED, ALONE, 1).median
    return [
        illustrates(
            "M. Thomson, in mozilla/standards-positions (1193)",
            "A grid tends to reveal the place when the revealed value changes.",
            coarse.upper < still.lower,
            "The attacker knows the straight road and the pace, and sees the report of a fixed grid of 5 km "
            f"change. Median error: {metres(fine)} with reports 100 m apart, {metres(coarse)} with 800 m; "
            f"{metres(still)} for a person who stays.",
        ),
        illustrates(
            _AOSP,
            "An offset under the grid blurs the crossing of a border.",
            drifting.lower > coarse.upper,
            f"With reports 800 m apart, the same attacker's median error is {metres(drifting)} under the offset, "
            f"{metres(coarse)} without one.",
            quote="Without a random offset it is possible to detect a user's position quite accurately when they "
            "cross a grid boundary.",
        ),
    ]


def _distances(rows: Sequence[DistanceRow]) -> list[PaperClaim]:
    def own(app: str) -> list[DistanceRow]:
        return [row for row in rows if (row.app, row.mechanism, row.questions) == (app, AS_DOCUMENTED, 100)]

    exact, cell, mile = (
        own(f"whole miles{cells}") for cells in ("", " to a cell of 0.001 degrees", " to a cell of a mile")
    )
    far, far_cell, far_mile = (over_seeds(found, lambda row: row.median_m) for found in (exact, cell, mile))
    near, nearer = over_seeds(cell, lambda row: row.within_50), over_seeds(cell, lambda row: row.within_100)
    return [
        illustrates(
            "Dhondt et al. (2024), section 5.5; R. Heaton on Bumble (2021)",
            "A rounded distance that can be queried from chosen places locates people like an exact one, to "
            "about 2 m in tests.",
            far.value <= 2.0,
            f"With 100 queries in whole miles the median error is {metres(far)}, without measurement error.",
        ),
        illustrates(
            "Dhondt et al. (2024), section 5.5",
            "With coordinates rounded to three decimals first, people are no longer located to about 2 m.",
            far_cell.lower > 2.0,
            f"100 queries find the centre of the cell: the median error is {metres(far_cell)}, with "
            f"{shares(near)} of people within 50 m and {shares(nearer)} within 100 m.",
        ),
        ours(
            "Dhondt et al. (2024), section 5.5",
            "With the centre of a cell of a mile, people are located less closely than with coordinates of three "
            "decimals.",
            far_mile.lower > far_cell.upper,
            f"100 queries find the centre of the cell: the median error is {metres(far_mile)}.",
        ),
    ]


def _repeated(rows: Sequence[CloseRow]) -> PaperClaim:
    guard = {n: close_row(rows, "location-guard", AS_DOCUMENTED, ALONE, n).median for n in (1, 10, 100)}
    knows = close_row(rows, "location-guard", AS_DOCUMENTED, KNOWS, 100).median
    memo = close_row(rows, "location-guard", REMEMBERED, ALONE, 100).median
    return ours(
        "Andrés et al. (2013), planar Laplace noise",
        "More fresh reports of one place make attacks more accurate.",
        guard[100].upper < guard[10].lower and guard[10].upper < guard[1].lower,
        f"Median error under planar Laplace noise of 500 m: {metres(guard[1])} after one report, "
        f"{metres(guard[10])} after 10, {metres(guard[100])} after 100 ({metres(knows.value)} for an attacker who "
        f"knows where people go). Certified noise with remembered places stays at {metres(memo)}.",
    )


def _lost() -> list[PaperClaim]:
    return [
        unchecked(
            HASSAN,
            "95.1 % of moderately active users with a zone are at risk.",
            "The 21 million activities are not public.",
            quote="95.1% of moderately active users are at risk of having their protected locations extracted by "
            "an attacker",
        ),
        unchecked(
            "Hassan, Hussain and Bates (2018), section not known",
            "Moving ends by 40 m lowers success from 96 to 32 %, by 200 m to 15 %.",
            "The 21 million activities are not public.",
        ),
        unchecked(
            "freemove.space (2022)",
            "Extending tracks inwards solves 41.3 % of shifted zones.",
            "The tracks on streets are not public.",
        ),
        unchecked(
            "Mink et al. (2022), abstract",
            "For the most common size of zone, 68 % of participants' guesses are within 50 m after three "
            "activities.",
            "An experiment with people.",
            quote="for the most common privacy zone size, 68% of guesses fell within 50 meters of the hidden "
            "location when participants were shown just 3 activities",
        ),
        unchecked(
            "Dhondt et al. (2024), abstract",
            "6 of 15 apps let a person be located.",
            "No app was tested here.",
            quote="6 apps allow for pinpointing a victim's exact location",
        ),
        unchecked(
            "Brownstein et al. (2006), abstract",
            "79 % of the points of unmasked dot maps are re-identified from print quality, 26 % from slide "
            "quality.",
            "The maps and addresses are not public.",
            quote="precisely re-identified 26% (144/550) of the patient addresses from a presentation quality map "
            "and 79% (432/550) from a publication quality map",
        ),
        unchecked(
            "City of Chicago (2019)",
            "About a third of tracts are left out: those with at most two trips in a quarter of an hour.",
            "It depends on all trips, which are not used here.",
        ),
        unchecked(
            "Schneider (2015)",
            "40 % of New York's taxi trips are unique in their pair of tracts and hour.",
            "It depends on all trips, which are not used here.",
            quote="you can uniquely identify 40% of NYC taxi trips",
        ),
    ]
