"""Statements about schemes in the wild, judged from the tables of a run, and the tables of the pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from sfumato.core import Bracket
from sfumato.rounding import at_most

from ..reproduction import PaperClaim, RunTables, abstain, follows, illustrates, remark
from ..results import markdown_table, where
from .attack_errors import (
    ALONE,
    AS_DOCUMENTED,
    FRESH,
    KNOWS,
    REMEMBERED,
    REPORTS,
    CloseRow,
    ErrorRow,
    close_of,
    close_row,
    metres,
    over_seeds,
    shares,
)
from .published_attacks import (
    CIRCLE,
    CIRCLE_AND_LAW,
    OFFSETS,
    OFFSETS_UNDER_GRID,
    AveragingRow,
    BorderRow,
    CrossingRow,
)
from .schemes import SCHEMES

_AOSP: Final = "Comments in AOSP's LocationFudger"
_HASSAN: Final = "Hassan, Hussain and Bates (2018), abstract"
_DHONDT: Final = "Dhondt et al. (2024), section 5.5"
_CELLS: Final = ("fixed-grid", "mesh-13", "obscured", "generalised-0.01")
_UNCHECKED: Final = (
    (
        _HASSAN,
        "95.1 % of moderately active users with a zone are at risk.",
        "The 21 million activities are not public.",
        "95.1% of moderately active users are at risk of having their protected locations extracted by an "
        "attacker",
    ),
    (
        "Hassan, Hussain and Bates (2018), section not known",
        "Moving ends by 40 m lowers success from 96 to 32 %, by 200 m to 15 %.",
        "The 21 million activities are not public.",
        "",
    ),
    (
        "freemove.space (2022)",
        "Extending tracks inwards solves 41.3 % of shifted zones.",
        "The tracks on streets are not public.",
        "",
    ),
    (
        "Mink et al. (2022), abstract",
        "For the most common size of zone, 68 % of participants' guesses are within 50 m after three activities.",
        "An experiment with people.",
        "for the most common privacy zone size, 68% of guesses fell within 50 meters of the hidden location when "
        "participants were shown just 3 activities",
    ),
    (
        "Dhondt et al. (2024), abstract",
        "6 of 15 apps let a person be located.",
        "No app was tested here.",
        "6 apps allow for pinpointing a victim's exact location",
    ),
    (
        "Brownstein et al. (2006), abstract",
        "79 % of the points of unmasked dot maps are re-identified from print quality, 26 % from slide quality.",
        "The maps and addresses are not public.",
        "precisely re-identified 26% (144/550) of the patient addresses from a presentation quality map and 79% "
        "(432/550) from a publication quality map",
    ),
    (
        "City of Chicago (2019)",
        "About a third of tracts are left out: those with at most two trips in a quarter of an hour.",
        "It depends on all trips, which are not used here.",
        "",
    ),
    (
        "Schneider (2015)",
        "40 % of New York's taxi trips are unique in their pair of tracts and hour.",
        "It depends on all trips, which are not used here.",
        "you can uniquely identify 40% of NYC taxi trips",
    ),
)
_CloseRows = Mapping[tuple[str, int], CloseRow]


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the statements, judged by the tables of a run."""
    numbers, texts = _numbers(tables)
    judged = []
    for claim in _CLAIMS:
        quote = {"quote": claim.quote} if claim.quote else {}
        holds, evidence = claim.holds(SimpleNamespace(**numbers)), claim.evidence.format(**texts)
        judged.append(claim.judge(claim.where, claim.says, holds, evidence, **quote))
    return judged + [abstain(where, says, why, quote=quote) for where, says, why, quote in _UNCHECKED]


def _numbers(tables: RunTables) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the numbers of the statements and their texts, by name; lengths are in metres."""
    borders, close = tables.rows("borders", BorderRow), close_of(tables)
    numbers: dict[str, Any] = {"borders": borders}
    for name, noise, counts in (
        ("skew", "normal skew", (1, 10, 50)),
        ("drift", OFFSETS, (1, 100, 8760)),
        ("grid", OFFSETS_UNDER_GRID, (1, 100, 8760)),
    ):
        for count in counts:
            averages = where(tables.rows("averages", AveragingRow), noise=noise, reports=count)
            numbers[f"{name}_{count}"] = over_seeds(averages, "mean_m")
            numbers[f"{name}_{count}_closed"] = averages[0].closed_m
    numbers["independent"] = numbers["drift_1_closed"] / math.sqrt(100)
    walked = partial(where, tables.rows("walks", CrossingRow))
    numbers["road_fine"] = over_seeds(walked(scheme="fixed-grid", step_m=100.0), "on_road_m")
    numbers["road"] = over_seeds(walked(scheme="fixed-grid", step_m=800.0), "on_road_m")
    numbers["road_drift"] = over_seeds(walked(scheme="drifting-offset", step_m=800.0), "on_road_m")

    def add_errors(name: str, table: str, **conditions: object) -> None:
        rows = where(tables.rows(table, ErrorRow), **conditions)
        numbers[name] = over_seeds(rows, "median_m")
        numbers.update({f"share_{near}_{name}": over_seeds(rows, f"within_{near}") for near in (50, 100)})

    for tracks in (1, 3, 10):
        add_errors(f"tracks_{tracks}", "zones", scheme="zone-centred", attack=CIRCLE, count=tracks)
    add_errors("shifted_circle", "zones", scheme="zone-shifted", attack=CIRCLE, count=100)
    for tracks in (10, 100):
        add_errors(f"shifted_{tracks}", "zones", scheme="zone-shifted", attack=CIRCLE_AND_LAW, count=tracks)
    for name, cells in (("exact", ""), ("cell", " to a cell of 0.001 degrees"), ("mile", " to a cell of a mile")):
        add_errors(name, "distances", scheme=f"whole miles{cells}", mechanism=AS_DOCUMENTED, count=100)

    def median(scheme: str, reports: int, mechanism: str = AS_DOCUMENTED, attacker: str = ALONE) -> Bracket:
        return close_row(close, scheme, mechanism, attacker, reports).median_m

    numbers |= {f"guard_{count}": median("location-guard", count) for count in (1, 10, 100)}
    numbers["guard_known"] = median("location-guard", 100, attacker=KNOWS).value
    numbers["guard_memo"] = median("location-guard", 100, REMEMBERED)
    numbers["still"] = median("fixed-grid", 1)
    numbers["once"], numbers["often"] = ([median(key, count).value for key in _CELLS] for count in (1, 100))
    texts = {
        name: shares(value) if name.startswith("share") else metres(value)
        for name, value in numbers.items()
        if name not in ("once", "often", "borders")
    }
    texts["cells"] = ", ".join(map(metres, numbers["once"]))
    texts["audited"] = str(len(borders))
    texts["same"] = f"{max(row.same_cell_epsilon for row in borders):g}"
    texts["factor"] = at_most(max(row.certified_factor for row in borders))
    return numbers, texts


class _Claim(NamedTuple):
    """A statement: how it is judged, where it is made, and when it holds, with a template of the evidence."""

    judge: Callable[..., PaperClaim]
    where: str
    says: str
    holds: Callable[[SimpleNamespace], bool]
    evidence: str
    quote: str = ""


_CLAIMS: Final = (
    _Claim(
        illustrates,
        "Cassa, Wieland and Mandl (2008), abstract",
        "Averaging copies of a place with normal skews of 0.7 km on average leaves 0.2 km after 10 copies, 0.1 km "
        "after 50.",
        lambda n: round(n.skew_10.value, -2) == 200 and round(n.skew_50.value, -2) == 100,
        "Mean error: {skew_1} for one copy, {skew_10} for 10 (closed form {skew_10_closed}), {skew_50} for 50 "
        "(closed form {skew_50_closed}).",
        "With ten anonymized copies of an original data set, we find a substantial decrease in average distance "
        "from 0.7 km to 0.2 km between the estimated, re-identified address and the original address. With fifty "
        "anonymized copies of an original data set, we find a decrease in average distance from 0.7 km to 0.1 km.",
    ),
    _Claim(
        illustrates,
        _AOSP,
        "A slow drift of the offset counters averaging.",
        lambda n: n.drift_100_closed > n.independent,
        "Mean error under one drifting offset: {grid_1} for one report, {grid_100} for the mean of 100 hourly "
        "ones, {grid_8760} for a year of them. Without the grid: {drift_1}, {drift_100} (closed form "
        "{drift_100_closed}) and {drift_8760} (closed form {drift_8760_closed}). The mean of 100 independent "
        "offsets would be {independent} off.",
        "The random offset changes very slowly over time, to mitigate against taking many location samples and "
        "averaging them out.",
    ),
    _Claim(
        illustrates,
        "M. Thomson, in mozilla/standards-positions (1193)",
        "A grid tends to reveal the place when the revealed value changes.",
        lambda n: n.road.upper < n.still.lower,
        "The attacker knows the straight road and the pace, and sees the report of a fixed grid of 5 km change. "
        "Median error: {road_fine} with reports 100 m apart, {road} with 800 m; {still} for a person who stays.",
    ),
    _Claim(
        illustrates,
        _AOSP,
        "An offset under the grid blurs the crossing of a border.",
        lambda n: n.road_drift.lower > n.road.upper,
        "With reports 800 m apart, the same attacker's median error is {road_drift} under the offset, {road} "
        "without one.",
        "Without a random offset it is possible to detect a user's position quite accurately when they cross a "
        "grid boundary.",
    ),
    _Claim(
        illustrates,
        _HASSAN,
        "An attack infers protected locations from what is visible in public posts.",
        lambda n: n.tracks_10.upper < n.tracks_3.lower and n.tracks_3.upper < n.tracks_1.lower,
        "For zones of 500 m around home and 5 m of position error, a circle through the visible ends comes within "
        "50 m of {share_50_tracks_3} of homes with three tracks, and of {share_50_tracks_10} with ten. The median "
        "distance from home is {tracks_1} with one track, {tracks_3} with three and {tracks_10} with ten.",
        "an attack against EPZs that infers users' protected locations from the remaining available information "
        "in public posts",
    ),
    _Claim(
        remark,
        "The law of OpenBikeSensor's shift",
        "After a shift, the uneven ends of tracks locate home better than the circle alone.",
        lambda n: n.shifted_100.upper < n.shifted_circle.lower,
        "With 100 tracks the centre of the circle is {shifted_circle} from home in the median; the median shift "
        "is 250 m. An attacker who knows the rule of the shift, and that tracks leave home in uniform directions, "
        "has a median error of {shifted_100}, and is within 100 m of {share_100_shifted_100} of homes; with ten "
        "tracks the error is {shifted_10}.",
    ),
    _Claim(
        illustrates,
        "Dhondt et al. (2024), section 5.5; R. Heaton on Bumble (2021)",
        "A rounded distance that can be queried from chosen places locates people like an exact one, to about 2 m "
        "in tests.",
        lambda n: n.exact.value <= 2.0,
        "With 100 queries in whole miles the median error is {exact}, without measurement error.",
    ),
    _Claim(
        illustrates,
        _DHONDT,
        "With coordinates rounded to three decimals first, people are no longer located to about 2 m.",
        lambda n: n.cell.lower > 2.0,
        "100 queries find the centre of the cell: the median error is {cell}, with {share_50_cell} of people "
        "within 50 m and {share_100_cell} within 100 m.",
    ),
    _Claim(
        remark,
        _DHONDT,
        "With the centre of a cell of a mile, people are located less closely than with coordinates of three "
        "decimals.",
        lambda n: n.mile.lower > n.cell.upper,
        "100 queries find the centre of the cell: the median error is {mile}.",
    ),
    _Claim(
        remark,
        "Andrés et al. (2013), planar Laplace noise",
        "More fresh reports of one place make attacks more accurate.",
        lambda n: n.guard_100.upper < n.guard_10.lower and n.guard_10.upper < n.guard_1.lower,
        "Median error under planar Laplace noise of 500 m: {guard_1} after one report, {guard_10} after 10, "
        "{guard_100} after 100 ({guard_known} for an attacker who knows where people go). Certified noise with "
        "remembered places stays at {guard_memo}.",
    ),
    _Claim(
        partial(follows, is_ours=True),
        "Fixed cells",
        "They have no finite epsilon across a border, and reveal nothing within a cell.",
        lambda n: all(math.isinf(row.border_epsilon) and row.same_cell_epsilon == 0.0 for row in n.borders),
        "Exact audit of {audited} schemes: for two people a metre apart epsilon is {same} in one cell and "
        "infinite across a border. Certified noise of the same average distance favours one of them by a factor "
        "of at most {factor} at the finest cells.",
    ),
    _Claim(
        partial(follows, is_ours=True),
        "Fixed cells",
        "Repeated reports of one place reveal no more than the first.",
        lambda n: n.once == n.often,
        "Median errors after 1 and after 100 reports are equal: {cells} for a grid of 5 km, 13 bits, 0.2 degrees "
        "and 0.01 degrees.",
    ),
)


def scheme_words() -> str:
    """Return the facts, models, guarantees and gaps of all schemes, those with the same facts in one section."""
    sections = []
    for facts, group in groupby(SCHEMES, key=lambda scheme: scheme.facts):
        schemes = list(group)
        statements: dict[str, list[str]] = {}
        for fact in facts:
            statements.setdefault(f"{fact.source}, {fact.read}", []).append(fact.says)
        lines = [f"## {schemes[0].who}", ""]
        lines += [f"- {' '.join(sentences)} ({source})" for source, sentences in statements.items()]
        lines += [
            f"- **Model:** {_join(scheme.model for scheme in schemes)}",
            f"- **Guarantee:** {_join(scheme.promise for scheme in schemes)}",
            f"- **Not known:** {_join(says for scheme in schemes for says in scheme.unknown)}",
        ]
        sections.append("\n".join(lines) + "\n")
    return "\n".join(sections)


def _join(sentences: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(sentences))


def close_table(rows: Sequence[CloseRow]) -> str:
    """Return median errors of attackers with the reports alone, by scheme, and of certified noise."""
    heads = [*(f"after {count}" for count in REPORTS), "certified, remembered", "certified, fresh, after 100"]
    keys = [
        *((AS_DOCUMENTED, count) for count in REPORTS),
        *((name, REPORTS[-1]) for name in (REMEMBERED, FRESH)),
    ]
    return _table(
        rows, ALONE, heads, lambda errors: [metres(errors[key].median_m.value) for key in keys], (1, 2, 4)
    )


def near_table(rows: Sequence[CloseRow]) -> str:
    """Return the shares found within 100 m by attackers who know where people go, by scheme."""

    def cells(errors: _CloseRows) -> list[str]:
        first, last, memo = errors[AS_DOCUMENTED, 1], errors[AS_DOCUMENTED, 100], errors[REMEMBERED, 100]
        near = [shares(row.within_100) for row in (first, last, memo)]
        return [*near, f"{metres(first.loss_m)}, {metres(memo.loss_m)}", at_most(memo.epsilon_per_km, 3)]

    heads = ["after 1", "after 100", "certified, remembered", "moved: scheme, certified", "its epsilon per km"]
    return _table(rows, KNOWS, heads, cells, (1,))


def _table(
    rows: Sequence[CloseRow],
    attacker: str,
    heads: Sequence[str],
    cells: Callable[[_CloseRows], list[str]],
    unlinked: Sequence[int],
) -> str:
    """Return a table of schemes; columns of many reports are empty where reports are not linked."""
    lines = []
    for scheme in SCHEMES:
        errors = {(row.mechanism, row.reports): row for row in where(rows, scheme=scheme.key, attacker=attacker)}
        if errors:
            dashed = () if scheme.linked else unlinked
            texts = ["–" if place in dashed else cell for place, cell in enumerate(cells(errors))]
            lines.append([scheme.title, *texts])
    return markdown_table(f"| scheme | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}", lines)
