"""Scenarios 1 and 2 of "Privacy Games" for real users: what three optimal mechanisms cost, and what they hide.

For each user a map of 15 km x 8 km is laid where they have most visits, and cut into 20 x 15 cells. Their prior is
how often they visit each cell; the cost of a report is 0 where it is the true cell and 1 elsewhere (Hamming);
attackers err by Euclidean distance. Then, for every epsilon:

- *metric*: the mechanism of least cost with metric privacy epsilon, for all pairs of cells (equation 22);
- *distortion*: that of least cost against which the best attacker errs by at least d_m (equation 21);
- *joint*: that of least cost with both (equation 24).

In scenario 1, d_m is the error of the best attacker against *metric*; in scenario 2 it lies halfway between that
and the most that any mechanism can force. Each mechanism is attacked by the best attacker (equation 19) and by
one who draws their guess from their posterior (equation 25). In section 9.2 the user is more often at the two
likeliest cells than the design assumed; the best attacker either knows that, or believes the design's prior.

The results are one row per design (``privacy_games.csv``), one per attack of section 9.2
(``privacy_games_informed.csv``) and a figure (``privacy_games.png``)::

    python examples/privacy_games.py visits.csv --users 10 --out results

Source: R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015, section 9.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console

import sfumato as sf

METRIC, DISTORTION, JOINT = "metric", "distortion", "joint"
# At the most error that any mechanism can force, the distortion rows have no interior.
MOST = 1 - 1e-3
PEOPLE = ("#009E73", "#CC79A7", "#56B4E9", "#E69F00")


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """A user's map and habits; the number stands for the name."""

    number: int
    source: str
    prior: sf.Prior
    visits: int


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What one user plays: scenario 2 if ``more``, the distortion mechanism if ``single``."""

    person: Person
    epsilons: tuple[float, ...]
    gap: float
    more: bool
    threads: int
    single: bool = True
    sharper: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One design; lengths in km, epsilon per km, the cost is the share of reports that are not the true cell."""

    scenario: int
    user: int
    source: str
    visits: int
    possible_cells: int
    blind_error: float
    epsilon: float
    mechanism: str
    distortion_asked: float | None
    cost: float
    cost_lower_bound: float
    gap_asked: float
    gap: float
    epsilon_upper: float | None
    distortion_lower: float
    error_best: float
    error_bayes: float
    iterations: int
    seconds: float
    status: str
    proved: bool


@dataclass(frozen=True, slots=True)
class Knowing:
    """Attackers of one design of scenario 1 who know more than it assumed (section 9.2); errors in km.

    The share ``sharper`` of the user's visits moved to the two likeliest cells.
    """

    user: int
    epsilon: float
    mechanism: str
    sharper: float
    error_informed: float
    error_expected: float
    error_blind: float


def densest_corner(xy: NDArray[np.float64], size: tuple[float, float]) -> tuple[NDArray[np.float64], int]:
    """Return the south-west corner of a rectangle of given size that holds most points, and how many it holds.

    Some such rectangle has a point on its west and one on its south edge; it is then centred on what it holds.
    """
    ordered = xy[np.argsort(xy[:, 1])]
    most, corner = 0, xy[0]
    for west in np.unique(xy[:, 0]):
        y = ordered[(ordered[:, 0] >= west) & (ordered[:, 0] <= west + size[0]), 1]
        held = np.searchsorted(y, y + size[1], side="right") - np.arange(len(y))
        if held.max() > most:
            most, corner = int(held.max()), np.array([west, y[np.argmax(held)]])
    inside = xy[((xy >= corner) & (xy <= corner + size)).all(axis=1)]
    return (inside.min(axis=0) + inside.max(axis=0) - size) / 2, most


def choose(
    paths: Sequence[Path],
    number: int,
    *,
    shape: tuple[int, int],
    size_m: tuple[float, float],
    least: int,
    seed: int,
) -> list[Person]:
    """Return users drawn at random, in turn from each file, of those with enough visits on their own maps."""
    random = np.random.Generator(np.random.PCG64(seed))
    queues = []
    for path in paths:
        visits = sf.read_visits(path)
        busy = [user for user, count in visits.users().items() if count >= least]
        queues.append((path.stem, visits, [busy[k] for k in random.permutation(len(busy))]))
    cell = (size_m[0] / shape[0], size_m[1] / shape[1])
    people: list[Person] = []
    while len(people) < number and any(users for *_, users in queues):
        for source, visits, users in queues:
            while users and len(people) < number:
                own = visits.of_user(users.pop())
                plane = sf.geo.Projection(float(np.median(own.lat)), float(np.median(own.lon)))
                corner, held = densest_corner(plane.forward(own.lat, own.lon), size_m)
                city = sf.Grid(*shape, cell, (float(corner[0]), float(corner[1])), plane.crs)
                prior = sf.Prior.from_visits(city, own)
                if held >= least and len(prior.support) > 1:
                    people.append(Person(len(people) + 1, source, prior, held))
                    break
    return people


def played(tasks: Sequence[Task], processes: int) -> Iterator[tuple[list[Row], list[Knowing]]]:
    """Yield what each task found, in order."""
    if processes == 1:
        yield from map(play, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(play, tasks)


def play(task: Task) -> tuple[list[Row], list[Knowing]]:
    """Return the designs of one user, attacked, and what attackers achieve against them who know more."""
    person, gap = task.person, task.gap
    prior, city = person.prior, person.prior.space
    d = city.metric("euclidean", unit="km")
    cost = sf.hamming(city)
    blind = sf.attacks.blind(prior, d).error
    rows: list[Row] = []
    knowing: list[Knowing] = []

    def made(
        scenario: int, epsilon: float, name: str, minimum: float | None, start: sf.Design | None
    ) -> sf.Design:
        guarantees: list[sf.MetricPrivacy | sf.DistortionPrivacy] = []
        if name != DISTORTION:
            guarantees.append(sf.MetricPrivacy(epsilon, d))
        if minimum is not None:
            guarantees.append(sf.DistortionPrivacy(minimum, d))
        design = sf.design(
            prior,
            loss=cost,
            guarantees=guarantees,
            solver=sf.optimal.Auto(task.threads),
            gap=gap,
            tie_break=False,
            start=start,
        )
        proof, mechanism = design.certificate, design.mechanism
        rows.append(
            Row(
                scenario=scenario,
                user=person.number,
                source=person.source,
                visits=person.visits,
                possible_cells=len(prior.support),
                blind_error=blind,
                epsilon=epsilon,
                mechanism=name,
                distortion_asked=minimum,
                cost=proof.loss,
                cost_lower_bound=proof.lower_bound,
                gap_asked=gap,
                gap=proof.gap,
                epsilon_upper=proof.epsilon_upper if name != DISTORTION else None,
                distortion_lower=sf.evidence.distortion_below(mechanism, prior, d),
                error_best=sf.attacks.optimal(mechanism, prior, d).error,
                error_bayes=sf.attacks.bayes(mechanism, prior, d).error,
                iterations=len(design.log),
                seconds=design.seconds,
                status=design.status.name,
                proved=proof.holds,
            )
        )
        if scenario == 1:
            for share in task.sharper:
                truth = prior.sharpened(share)
                errors = (
                    sf.attacks.optimal(mechanism, truth, d).error,
                    sf.attacks.misinformed(mechanism, truth, d, prior).error,
                    sf.attacks.blind(truth, d).error,
                )
                knowing.append(Knowing(person.number, epsilon, name, share, *errors))
        return design

    metric: sf.Design | None = None
    for epsilon in task.epsilons:
        metric = made(1, epsilon, METRIC, None, metric)
        reached = rows[-1].distortion_lower
        wanted = {1: min(reached, MOST * blind)}
        if task.more:
            wanted[2] = min((reached + blind) / 2, MOST * blind)
        for scenario, minimum in wanted.items():
            if task.single:
                made(scenario, epsilon, DISTORTION, minimum, None)
            made(scenario, epsilon, JOINT, minimum, metric)
    return rows, knowing


def draw(rows: Sequence[Row]) -> Figure:
    """Return the figure: scenario 1 in five panels, and what the joint mechanism costs in scenario 2."""
    first = [row for row in rows if row.scenario == 1]
    names = (METRIC, DISTORTION, JOINT)
    figure = Figure(figsize=(13.5, 8), layout="constrained", dpi=150)
    people = len({row.user for row in first})
    figure.suptitle(f"{people} users: lines with markers are medians over users, bands their range", fontsize=12)
    axes = figure.subplots(2, 3)
    across(axes[0, 0], first, lambda row: row.error_best, (METRIC,))
    axes[0, 0].set(title="Scenario 1: less epsilon, more privacy", ylabel="error of the best attacker (km)")
    across(axes[0, 1], first, lambda row: row.cost, names)
    axes[0, 1].set(
        title="Scenario 1: joint costs what metric costs", ylabel="cost (share of false cells)", ylim=(0, 1)
    )
    for name in names:
        mine = [row for row in first if row.mechanism == name]
        for user in sorted({row.user for row in mine}):
            line = [(row.error_best, row.cost) for row in mine if row.user == user]
            thin = axes[0, 2].plot(*zip(*line, strict=True), color=style(name)["color"], linewidth=0.6, alpha=0.35)
        if name == METRIC:
            thin[0].set_label("each user")
        axes[0, 2].plot(*medians(mine, lambda row: row.error_best, lambda row: row.cost), **style(name))
    axes[0, 2].set(
        title="Scenario 1: distortion alone is far cheaper",
        xlabel="error of the best attacker (km)",
        ylabel="cost (share of false cells)",
    )
    axes[0, 2].set_ylim(0, 1)
    across(axes[1, 0], first, lambda row: row.error_bayes, names)
    axes[1, 0].set(
        title="Scenario 1: how far the Bayesian attacker errs", ylabel="error of the Bayesian attacker (km)"
    )
    for name in names:
        mine = [row for row in first if row.mechanism == name]
        pairs = [(row.error_best, row.error_bayes) for row in mine]
        axes[1, 1].plot(*zip(*pairs, strict=True), **{**style(name), "linestyle": "none", "markersize": 4.5})
    end = max(row.error_bayes for row in first)
    axes[1, 1].plot([0, end], [0, end], color="0.5", linewidth=0.8, linestyle="--", label="equal errors")
    axes[1, 1].set(
        title="Scenario 1: the best attack never errs more",
        xlabel="error of the best attacker (km)",
        ylabel="error of the Bayesian attacker (km)",
    )
    second_scenario(axes[1, 2], rows)
    for ax in axes.flat:
        ax.grid(alpha=0.3)
        ax.title.set_fontsize(11)
        ax.legend(fontsize=8)
    return figure


def second_scenario(ax: Axes, rows: Sequence[Row]) -> None:
    """Draw how much dearer joint is than the dearer single mechanism, at the same epsilon and distortion."""
    joints = [row for row in rows if row.scenario == 2 and row.mechanism == JOINT]
    for k, user in enumerate(sorted({row.user for row in joints})):
        extra = [
            (row.epsilon, 100 * (row.cost_lower_bound / dearer(rows, row) - 1))
            for row in joints
            if row.user == user
        ]
        ax.plot(*zip(*extra, strict=True), marker="sDv^"[k % 4], color=PEOPLE[k % 4], label=f"user {user}")
    ax.axhline(0, color="0.5", linewidth=0.8, linestyle="--", label="max of the two")
    ax.set(
        title="Scenario 2: joint costs more than either",
        xlabel="epsilon (per km)",
        ylabel="proved extra cost of joint (%)",
    )


def dearer(rows: Sequence[Row], joint: Row) -> float:
    """Return the larger cost of the two single mechanisms that ask for one half of a joint one's promise."""
    here = [row for row in rows if row.user == joint.user and row.epsilon == joint.epsilon]
    metric = next(row for row in here if row.mechanism == METRIC)
    distortion = next(row for row in here if row.mechanism == DISTORTION and row.scenario == joint.scenario)
    return max(metric.cost, distortion.cost)


def across(ax: Axes, rows: Iterable[Row], value: Callable[[Row], float], names: Sequence[str]) -> None:
    """Draw median (line) and range (band) over users against epsilon."""
    for name in names:
        mine = [row for row in rows if row.mechanism == name]
        epsilons, middle = medians(mine, lambda row: row.epsilon, value)
        spans = [[value(row) for row in mine if row.epsilon == epsilon] for epsilon in epsilons]
        if name != JOINT or METRIC not in names:  # the joint band would lie on the metric one
            low, high = [min(span) for span in spans], [max(span) for span in spans]
            ax.fill_between(epsilons, low, high, color=style(name)["color"], alpha=0.15, linewidth=0)
        ax.plot(epsilons, middle, **style(name))
    ax.set_xlabel("epsilon (per km)")
    ax.set_ylim(bottom=0)


def medians(
    rows: Iterable[Row], x: Callable[[Row], float], y: Callable[[Row], float]
) -> tuple[list[float], list[float]]:
    """Return the medians over users of two values, epsilon by epsilon."""
    groups: dict[float, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.epsilon, []).append(row)
    ordered = [groups[epsilon] for epsilon in sorted(groups)]
    return [float(np.median([x(r) for r in g])) for g in ordered], [
        float(np.median([y(r) for r in g])) for g in ordered
    ]


def style(name: str) -> dict[str, Any]:
    """Return how a mechanism is drawn: told apart by colour, by marker and by line."""
    look = {METRIC: ("#0072B2", "o", "-"), DISTORTION: ("#D55E00", "^", "--"), JOINT: ("#000000", "x", ":")}
    colour, marker, line = look[name]
    return {"color": colour, "marker": marker, "linestyle": line, "label": name}


def save(rows: Sequence[Row] | Sequence[Knowing], path: Path) -> None:
    """Write rows of one kind as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the scenarios as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="+", type=Path, help="files of visits with users; users are drawn in turn from each")
    add("--users", type=int, default=10, help="how many users")
    add("--least", type=int, default=200, help="only users with so many visits on their maps")
    add("--seed", type=int, default=1, help="of the draw of users")
    add("--epsilons", type=float, nargs="+", default=[0.15, 0.3, 0.45, 0.6, 0.75, 0.9], help="per km")
    add("--gap", type=float, default=1e-4, help="the relative gap to optimal cost that is proved")
    add("--second", type=int, default=2, help="how many of the users also play scenario 2")
    add("--tight", type=int, default=0, help="for how many users to repeat the outer epsilons at a gap of 1e-6")
    add("--sharper", type=float, nargs="*", default=[0.0, 0.2, 0.4, 0.6, 0.8], help="the shares of section 9.2")
    add("--shape", type=int, nargs=2, default=(20, 15), help="columns and rows")
    add("--size", type=float, nargs=2, default=(15.0, 8.0), help="width and height of the maps, km")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    add("--processes", type=int, default=1, help="how many users at a time; one user takes two threads")
    given = parser.parse_args(arguments)

    say = Console(highlight=False, soft_wrap=True).print
    width, height = given.size
    people = choose(
        given.data,
        given.users,
        shape=tuple(given.shape),
        size_m=(1000 * width, 1000 * height),
        least=given.least,
        seed=given.seed,
    )
    if not people:
        parser.error(f"no user has {given.least} visits on one map: lower --least.")
    for person in people:
        say(f"user {person.number} of {person.source}: {person.visits} visits; {person.prior}")
    epsilons = sorted(given.epsilons)
    outer = sorted({epsilons[0], epsilons[-1]})
    threads = 2 if given.processes == 1 else 1
    shares = tuple(sorted(given.sharper))
    tasks = [
        Task(p, tuple(epsilons), given.gap, p.number <= given.second, threads, sharper=shares) for p in people
    ]
    tasks += [Task(p, tuple(outer), 1e-6, False, threads, single=False) for p in people[: given.tight]]
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    knowing: list[Knowing] = []
    for found, attacked in played(tasks, given.processes):
        for row in found:
            say(
                f"user {row.user}, scenario {row.scenario}, epsilon {row.epsilon:g}/km, {row.mechanism}: "
                f"cost {row.cost:.6f}, error {row.error_best:.3f} km (Bayesian {row.error_bayes:.3f}), "
                f"gap {row.gap:.1e} in {row.seconds:.1f} s, {row.status}, {'' if row.proved else 'not '}proved"
            )
        rows += found
        knowing += attacked
        save(rows, given.out / "privacy_games.csv")
        if knowing:
            save(knowing, given.out / "privacy_games_informed.csv")
    figure = draw([row for row in rows if row.gap_asked == given.gap])
    figure.savefig(given.out / "privacy_games.png", metadata={"Software": "sfumato"})


if __name__ == "__main__":
    main()
