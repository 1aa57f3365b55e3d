"""Days of reports: what followers gain, what attackers learn, and how fast a home is found."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

import numpy as np

import sfumato as sf
from sfumato.core import Bracket
from sfumato.core.arrays import Positions
from sfumato.errors import DataError
from sfumato.geo import Grid, Region, Visits
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.reports.theme import LIGHT, blank
from sfumato.rounding import plural
from sfumato.sequences import MovementModel, PrivateMovementModel, day_positions, home_error, sequence_errors

from ..curve_labels import label_curve
from ..reproduction import Paper, PaperClaim, RunTables, Setting, StudyPart, Tables, equations, interval, remark
from ..results import distinct, tally, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ERRORS: Final = "sequences-errors"
_HOMES: Final = "sequences-homes"
_SLOTS: Final = (540, 720, 900, 1080, 1260, 1440)  # minutes of the local day
_EPSILONS: Final = (3.0, 6.0, 12.0)  # of a day, per km
_REGION: Final = "16 km x 16 km"
_SHAPE: Final = (11, 12)
_HELD_OUT: Final = 0.3  # share of the days
_HOME_DAYS: Final = (1, 2, 4, 7, 14, 30, 60, 120, 365)
_HOME_EPSILON: Final = "1/km"

RAW: Final = "raw planar noise"
REMAP: Final = "memoryless remap"
POPULATION: Final = "follower, other people's model"
PRIVATE: Final = "follower, private model"
FRESH: Final = "two fresh reports a day"
PERMANENT: Final = "a named place, one permanent report"
_COLOURS: Final = (LIGHT.series[1], LIGHT.series[3], LIGHT.series[0], LIGHT.series[2], LIGHT.muted)


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """Mean errors in metres on the held-out days of one person, of a policy and of attackers with its model."""

    source: str
    person: int  # a number without meaning
    epsilon_per_km: float  # of the day
    policy: str
    days: int  # held out
    loss_m: float
    smoother_m: float
    viterbi_m: float


@dataclass(frozen=True, slots=True)
class HomeRow:
    """The attacker's mean error for homes after some days, with the ends of a 95 % interval."""

    policy: str
    days: int
    error_m: float
    lower_m: float
    upper_m: float


def person_errors(
    source: str,
    person: int,
    visits: Visits,
    population: MovementModel,
    noise: CoordinateNoise,
    learning: Sequence[int],
) -> list[PolicyRow]:
    """Return the errors of every policy on the last 30 % of one person's days.

    ``learning`` has the numbers of days before these from which models of reports are learned. The first day is
    left out, because a device may have no position on it yet. The noise is that of one report, and its seed the
    person's number.
    """
    slots, zone = population.slots, population.zone
    truth = day_positions(visits, slots, zone)[1:]
    first = len(truth) - math.ceil(_HELD_OUT * len(truth))
    reports = sf.simulator(noise, seed=person).blur(truth[..., 0], truth[..., 1], outside="nearest")
    models: dict[str, MovementModel | PrivateMovementModel] = {POPULATION: population}
    for days in learning:
        models[learning_policy(days)] = MovementModel.of_reports(reports[first - days : first], noise, population)
    dates = _dates(visits, zone)
    past = visits.select(dates < np.unique(dates)[first + 1])
    models[PRIVATE] = PrivateMovementModel.of_days(past, population.places, slots, zone)
    epsilon, held_out = round(noise.epsilon * len(slots), 9), len(truth) - first
    rows = []
    for policy, model in models.items():
        errors = sequence_errors(truth[first:], reports[first:], model, noise).errors
        losses = {RAW: "reports", REMAP: "memoryless"} if policy == POPULATION else {}
        for label, name in (losses | {policy: "filter"}).items():
            values = (round(errors[attacker].value, 1) for attacker in (name, "smoother", "Viterbi"))
            rows.append(PolicyRow(source, person, epsilon, label, held_out, *values))
    return rows


def learning_policy(days: int) -> str:
    """Return the name of the follower whose model was learned from so many days of reports."""
    return f"follower, model of {days} days of reports"


def _parts(setting: Setting) -> Sequence[StudyPart]:
    """Return a part for each file and epsilon, and the one of homes."""
    learning, least, people = setting.size((2, 4), (10, 30)), setting.size(10, 60), setting.size(6, 40)
    parts = [StudyPart("homes", _find_homes, (setting.size(100, 2000),))]
    for name, visits in setting.data.items():
        if visits.user is None or visits.time is None:
            raise DataError(f"the visits {name!r} have no users or no times.", "give visits with both columns.")
        timed = visits.select(~np.isnat(visits.time))
        region = f"{_REGION} around {np.median(timed.lat):.5f},{np.median(timed.lon):.5f}"
        city = timed.inside(Region.parse(region))
        zone = _zone(city)
        days = {
            user: len(np.unique(_dates(city.of_user(user), zone)))
            for user, count in city.users().items()
            if count >= least
        }
        eligible = [
            user for user in sorted(days, key=lambda user: (-days[user], str(user))) if days[user] >= least
        ]
        if len(eligible) < 2:
            raise DataError(
                f"fewer than two people of {name!r} have {least} days within {region}.", "give longer traces."
            )
        arguments = city, region, zone, eligible[:people], learning
        parts += [StudyPart(f"{name} at {e:g} per km", _measure, (name, e, *arguments)) for e in _EPSILONS]
    return parts


def _measure(
    source: str,
    epsilon: float,
    city: Visits,
    region: str,
    zone: str,
    people: Sequence[Hashable],
    learning: Sequence[int],
) -> Tables:
    grid = Grid.covering(region, shape=_SHAPE)
    noise = CoordinateNoise(f"{epsilon / len(_SLOTS):g}/km", projection=grid.projection)
    users = () if city.user is None else city.user.tolist()
    rest = city.select(np.array([user not in people for user in users], dtype=bool))
    population = MovementModel.of_visits(rest, grid.latlon, _SLOTS, zone)
    rows: list[PolicyRow] = []
    for person, user in enumerate(people, 1):
        rows += person_errors(source, person, city.of_user(user), population, noise, learning)
    return {_ERRORS: rows}


def _find_homes(homes: int) -> Tables:
    noise = CoordinateNoise(_HOME_EPSILON)
    once = home_error(noise, 1, 1, homes=homes)
    rows = [_home_row(FRESH, days, home_error(noise, 2, days, homes=homes)) for days in _HOME_DAYS]
    return {_HOMES: rows + [_home_row(PERMANENT, days, once) for days in _HOME_DAYS]}


def _home_row(policy: str, days: int, error: Bracket) -> HomeRow:
    return HomeRow(policy, days, error.value, error.lower, error.upper)


def _zone(visits: Visits) -> str:
    """Return the public zone without summer time whose noon is nearest to that of the median longitude."""
    return f"Etc/GMT{-round(float(np.median(visits.lon)) / 15):+d}"


def _dates(visits: Visits, zone: str) -> Positions:
    """Return the local date of each visit, as a number."""
    place, times = ZoneInfo(zone), np.asarray(visits.time, dtype="datetime64[s]").tolist()
    return np.array([time.replace(tzinfo=UTC).astimezone(place).toordinal() for time in times], dtype=np.intp)


def _differences(rows: Sequence[PolicyRow], first: str, second: str) -> dict[tuple[str, float], Bracket]:
    """Return the mean of first minus second loss over people, with its interval, by source and epsilon."""
    losses = {(row.source, row.epsilon_per_km, row.policy, row.person): row.loss_m for row in rows}
    return {
        (source, epsilon): interval(
            [
                row.loss_m - losses[source, epsilon, second, row.person]
                for row in where(rows, source=source, epsilon_per_km=epsilon, policy=first)
            ]
        )
        for source, epsilon in dict.fromkeys((row.source, row.epsilon_per_km) for row in rows)
    }


def _claims(tables: RunTables) -> Sequence[PaperClaim]:
    rows = tables.rows(_ERRORS, PolicyRow)
    homes = where(tables.rows(_HOMES, HomeRow), policy=FRESH)
    few, many = sorted((name for name in distinct(rows, "policy") if "reports" in name), key=_days_of)
    claims = []
    for says, first, second in (
        ("With other people's model, the follower is closer than the memoryless remap.", POPULATION, REMAP),
        ("With other people's model, the follower is closer than raw noise.", POPULATION, RAW),
        (f"With {_days_of(many)} days of reports, the follower is closer than raw noise.", many, RAW),
        (f"{_days_of(few)} days of reports give a better model than other people.", few, POPULATION),
        (f"{_days_of(many)} days of reports give as good a model as the true days.", many, PRIVATE),
    ):
        differences = _differences(rows, first, second)
        holds = [error.lower <= 0 if second == PRIVATE else error.upper < 0 for error in differences.values()]
        basis = "; ".join(
            f"{source}, {epsilon:g}/km: {error.value:+.0f} m ({error.lower:+.0f} to {error.upper:+.0f})"
            for (source, epsilon), error in differences.items()
        )
        evidence = f"Holds in {tally(holds)} cases. Difference of mean errors: {basis}."
        claims.append(remark("Follower", says, all(holds), evidence))
    policies = [row for row in rows if row.policy not in (RAW, REMAP)]
    mean = {
        name: float(np.mean([getattr(row, field) for row in policies]))
        for name, field in (("follower", "loss_m"), ("smoother", "smoother_m"), ("Viterbi", "viterbi_m"))
    }
    limits = {row: 1770 / math.sqrt(2 * row.days) for row in homes if row.days >= 7}  # 1/km
    near = [row.lower_m <= 1.05 * limit and row.upper_m >= 0.95 * limit for row, limit in limits.items()]
    return [
        *claims,
        remark(
            "Attackers",
            "The smoother, which sees the whole day, is the strongest attacker on average.",
            mean["smoother"] == min(mean.values()),
            "Mean errors: " + ", ".join(f"{name} {value:.0f} m" for name, value in mean.items()) + ".",
        ),
        remark(
            "Home",
            "With k fresh reports the error for a home is within 5 % of 1.77 / (epsilon sqrt k), from a week on.",
            all(near),
            "; ".join(f"{plural(row.days, 'day')}: {row.error_m:.0f} m" for row in homes) + ".",
        ),
    ]


def _days_of(policy: str) -> int:
    return int("".join(filter(str.isdigit, policy)))


def loss_figure(rows: Sequence[PolicyRow]) -> Figure:
    """Return mean losses against the day's epsilon for each policy, and the strongest attacker's error."""
    sources = distinct(rows, "source")
    figure = blank(7.2, 4.9)
    panels = figure.subplots(1, len(sources), sharey=True, squeeze=False)[0]
    for ax, source in zip(panels, sources, strict=True):
        subset = where(rows, source=source)
        epsilons = distinct(subset, "epsilon_per_km")
        styles = ("s-", "^-", "o-", "D-", "v:")
        for policy, colour, style in zip(_policies(subset), _COLOURS, styles, strict=True):
            losses = [mean_loss(subset, epsilon, policy).value / 1000 for epsilon in epsilons]
            ax.plot(epsilons, losses, style, color=colour, label=policy, markersize=4)
        least = [_strongest(subset, epsilon) / 1000 for epsilon in epsilons]
        ax.plot(epsilons, least, "x--", color=LIGHT.ink, label="strongest attacker", markersize=4)
        ax.set(xscale="log", yscale="log", xlabel="epsilon of a day (per km)", title=source)
        ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        ax.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    panels[0].set_ylabel("mean distance from the truth (km)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def _policies(rows: Sequence[PolicyRow]) -> tuple[str, ...]:
    """Return the policies to draw: of models of reports only that of most days."""
    many = max((name for name in distinct(rows, "policy") if "reports" in name), key=_days_of)
    return RAW, REMAP, POPULATION, many, PRIVATE


def mean_loss(rows: Sequence[PolicyRow], epsilon: float, policy: str) -> Bracket:
    """Return the mean loss of a policy over people in metres, with Student's 95 % interval."""
    return interval([row.loss_m for row in where(rows, epsilon_per_km=epsilon, policy=policy)])


def _strongest(rows: Sequence[PolicyRow], epsilon: float) -> float:
    """Return the least mean error of an attacker with any of the models."""
    subset = where(rows, epsilon_per_km=epsilon)
    return min(
        float(np.mean([getattr(row, field) for row in where(subset, policy=policy)]))
        for policy in distinct(subset, "policy")
        for field in ("smoother_m", "viterbi_m", "loss_m")
    )


def home_figure(rows: Sequence[HomeRow]) -> Figure:
    """Return the attacker's mean error for a home against days; bands are intervals."""
    figure = blank(6.2, 3.6)
    ax = figure.subplots()
    for policy, colour in ((PERMANENT, LIGHT.series[0]), (FRESH, LIGHT.series[1])):
        subset = where(rows, policy=policy)
        days = [row.days for row in subset]
        errors, low, high = (
            [getattr(row, field) / 1000 for row in subset] for field in ("error_m", "lower_m", "upper_m")
        )
        ax.plot(days, errors, "o-", color=colour, markersize=4)
        ax.fill_between(days, low, high, color=colour, alpha=0.15, linewidth=0)
        label_curve(ax, (days[2], errors[2]), policy, colour, (4, 12))
    ax.set(xscale="log", yscale="log", ylim=(0.05, 3), xlabel="days", ylabel="mean error for the home (km)")
    ax.set_xticks([1, 7, 30, 365], ["1", "7", "30", "365"])
    ax.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])
    ax.minorticks_off()
    ax.grid(alpha=0.3)
    return figure


PAPER: Final = Paper(
    name="sequences",
    title="Days of reports: followers, models of movement, and how fast a home is found",
    source="R. Shokri et al., S&P 2011 (attackers); K. Chatzikokolakis et al., PETS 2013 (composition)",
    version="No text was available: all statements are ours.",
    about=(
        "People report at six public times a day, each time with a sixth of the day's epsilon. The position is "
        "that of the last visit. Policies are compared on the last 30 % of each person's days, in metres from "
        "the true position. The people with most days in 16 km x 16 km are used, and a grid of 132 public places.",
        "Other people's model is that of everyone else in the file. Models of reports come from the last days "
        "before the held-out ones. The private model comes from the true days before: the promise of a day does "
        "not cover it. Intervals are Student's at 95 %, over people.",
        "Homes are simulated: the attacker takes the geometric median of all reports made there, of 1/km each.",
    ),
    parts=_parts,
    claims=_claims,
    figures=lambda tables: {
        _ERRORS: loss_figure(tables.rows(_ERRORS, PolicyRow)),
        _HOMES: home_figure(tables.rows(_HOMES, HomeRow)),
    },
    captions={
        _ERRORS: "The mean error of each policy against the day's epsilon, and that of the strongest of all "
        "attackers with any of the models.",
        _HOMES: "The mean error for a simulated home against days, with two fresh reports a day and with one "
        "report that is repeated on all of them.",
    },
    equations=equations(
        ("Follower", "estimates from reports and a model", "sf.sequences.Follower"),
        ("Attackers", "filter, smoother and Viterbi", "sf.sequences.sequence_errors", _ERRORS),
        ("Home", "the geometric median of reports", "sf.sequences.home_error", _HOMES),
    ),
    minutes=12,
)
