r"""Learned mechanisms beside planar Laplace noise and the certified optimum: a square, users, and home boroughs.

Four parts: Example 1 of the paper played with two targets; its Experiments 1 and 2; users of a city who are to
be hidden while their places stay useful; and where people live, as what is to be hidden. The last two learn from
four fifths of the visits, and the rest judges. With a file of visits that has users and an attribute::

    python examples/learned_mechanisms.py visits.parquet --attribute home_area --groups Manhattan Brooklyn \
        --region "6 km x 9 km around 40.745,-73.985" --out results

Without a file the synthetic city is taken. Results are ``learned-swapping.png``, ``learned-mechanisms.png``,
``learned-square.csv`` and ``learned-mechanisms.csv``.

Source: Romanelli, Palamidessi and Chatzikokolakis, "Generating optimal privacy-protection mechanisms via machine
learning", CSF 2020.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from scipy.optimize import brentq

import sfumato as sf
from sfumato.learn import (
    EXPERIMENT_1,
    EXPERIMENT_2,
    BayesVulnerability,
    Comparison,
    CrossEntropy,
    Experiment,
    LearnedGenerator,
    MutualInformation,
    Pairs,
    TableDraws,
    learn_generator,
    learn_table,
    loss_of_cells,
    play_swapping,
    run_experiment,
    square_cells,
    square_data,
)
from sfumato.mechanisms import (
    Tupling,
    attack_success,
    matched,
    mixture_dummies,
    planar_geometric,
    quality_loss,
    rate_distortion_of_loss,
    remapped,
)
from sfumato.optimal import least_vulnerability
from sfumato.studies.swapping_figure import swapping_figure

BOUNDS_M = (518.0, 1150.0)
BRACKET_PER_M = (0.05, 1e-4)  # epsilon of noise that hardly moves a report, and that forgets the place
DUMMIES = 10
GAP = 1e-4  # relative, of the certified optimum
SEED = 1
# Where everything can be hidden, networks that aim lower gather reports; what is left is spent at the end.
NETWORK_MARGIN = {EXPERIMENT_1: 0.2, EXPERIMENT_2: 0.005}
NETWORK_CONFIDENCE = 0.75  # of the loss's limit: 0.95 would leave 1.6 % of the bound unused
NOISE, REMAP, EXPOST = "planar geometric", "planar geometric + remap", "ExPost"
NETWORK = "learned network"
LEARNED, OPTIMUM, TUPLED = "learned", "certified optimum", f"planar geometric among {DUMMIES} dummies"


@dataclass(frozen=True, slots=True)
class SquareRow:
    """A generator of reports in Experiment 1 or 2, on one grid."""

    experiment: str
    generator: str
    part: str
    hits: int
    cell_m: float
    error: float
    error_corrected: float
    loss_m: float
    loss_standard_error_m: float


@dataclass(frozen=True, slots=True)
class Row:
    """A mechanism that hides a label, within a bound on the loss.

    Attributes:
        hidden: What is hidden.
        labels: How many values it has.
        bound_m: The bound on the expected loss.
        mechanism: Its name.
        error: Of the best guess of the label, on the visits learned from.
        loss_m: The expected loss there.
        held_out_error: Of the guess that is best for the held-out visits: no attacker does better.
        held_out_error_learned: Of the guess that is best for the visits learned from, on the held-out ones; NaN
            for tuples, where it is not computed.
        held_out_loss_m: The expected loss there.
        largest_error: What no mechanism within the bound exceeds on the visits learned from, with one
            report for each visit: proved.
        blind_error: Of the best guess without a report, on the visits learned from.
    """

    hidden: str
    labels: int
    bound_m: float
    mechanism: str
    error: float
    loss_m: float
    held_out_error: float
    held_out_error_learned: float
    held_out_loss_m: float
    largest_error: float
    blind_error: float


def square(experiment: Experiment, hits: Sequence[int], records: int, rounds: int) -> tuple[Comparison, ...]:
    """Measure no noise, planar Laplace noise, two learned mechanisms and the certified optimum on every grid."""
    data, _ = square_data(records, seed=SEED)
    cells = square_cells(50.0)
    seen = np.flatnonzero(data.joint(cells).any(axis=0))
    centres: Any = cells.coordinates
    useful = sf.Space([cells.labels[i] for i in seen], centres[seen], "m")
    costs = loss_of_cells(data, useful, cells)
    best = least_vulnerability(data.joint(useful), useful, costs, experiment.bound_m, observables=cells, gap=GAP)
    others: dict[str, TableDraws | LearnedGenerator] = {
        OPTIMUM: TableDraws(best.mechanism),
        NETWORK: network(experiment, data, rounds),
    }
    return run_experiment(experiment, records=records, hits=hits, others=others, seed=SEED).rows


def network(experiment: Experiment, data: Pairs, rounds: int) -> LearnedGenerator:
    """Train the networks that choose between the place itself and blurred answers."""
    return learn_generator(
        data,
        experiment.bound_m,
        target=BayesVulnerability(),
        rounds=rounds,
        judging=0.4,
        margin=NETWORK_MARGIN[experiment],
        tolerance=None,
        patience=rounds,
        confidence=NETWORK_CONFIDENCE,
        seed=SEED,
        device="cpu",
    )


def square_rows(experiment: Experiment, found: Iterable[Comparison]) -> Iterator[SquareRow]:
    """Return a row for each grid of each measurement."""
    for row in found:
        for grid in row.grids:
            errors = grid.plug_in, grid.corrected
            yield SquareRow(
                experiment.name, row.name, row.part, row.hits, grid.cell, *errors, row.loss, row.loss_error
            )


def missing(visits: sf.Visits, cells: sf.Grid, attribute: str, names: Sequence[str]) -> str:
    """Return what the visits lack for the last two parts; empty if nothing."""
    within = cells.locate(visits.lat, visits.lon) >= 0
    if not within.any():
        return "no visit lies in the region: choose another with --region."
    inside = visits.select(within)
    if inside.user is None:
        return "the visits have no user column, and users are to be hidden: name a file that has one."
    if attribute not in inside.attributes:
        known = ", ".join(inside.attributes) or "none"
        return f"there is no column {attribute!r} to hide: name one with --attribute (there are: {known})."
    values = [str(value) for value in inside.attributes[attribute]]
    absent = [name for name in names if name not in values]
    if absent:
        common = ", ".join(sorted(set(values), key=lambda value: -values.count(value))[:6])
        return f"no visit in the region has {attribute} {absent[0]!r}: name two with --groups (such as {common})."
    return ""


def users(visits: sf.Visits, cells: sf.Grid, most: int) -> Pairs:
    """Return who visited where, for the users with the most visits inside the cells."""
    inside = visits.select(cells.locate(visits.lat, visits.lon) >= 0)
    known = list(inside.users())[:most]
    return _pairs(inside, inside.user, known, cells)


def groups(visits: sf.Visits, cells: sf.Grid, attribute: str, names: Sequence[str]) -> Pairs:
    """Return the attribute of who visited where, for some values of it."""
    inside = visits.select(cells.locate(visits.lat, visits.lon) >= 0)
    return _pairs(inside, inside.attributes[attribute], names, cells)


def _pairs(visits: sf.Visits, column: Any, labels: Sequence[Any], cells: sf.Grid) -> Pairs:
    kept = np.array([value in labels for value in column])
    points = cells.projection.forward(visits.lat[kept], visits.lon[kept])
    space = sf.Space([str(label) for label in labels])
    return Pairs([str(value) for value in column[kept]], points, "m", space)


def contest(
    hidden: str,
    data: Pairs,
    cells: sf.Grid,
    bound_m: float,
    *,
    with_tupling: bool = False,
    rounds: int = 120,
) -> list[Row]:
    """Return what each mechanism of at most this loss hides, on four fifths of the visits and on the rest."""
    learning, judging = data.split(0.8, seed=SEED)
    joint, fresh = learning.joint(cells), judging.joint(cells)
    loss = cells.metric("euclidean", unit="m")
    prior = sf.Prior(cells, joint.sum(axis=0))
    best = least_vulnerability(joint, cells, loss, bound_m, gap=GAP)
    half = max(1, len(learning) // 2)

    def noise(epsilon: float) -> sf.Mechanism:
        return planar_geometric(cells, epsilon)

    def remap(epsilon: float) -> sf.Mechanism:
        return remapped(noise(epsilon), prior, loss)

    found: Mapping[str, sf.Mechanism] = {
        NOISE: matched(noise, prior, loss, bound_m, BRACKET_PER_M).mechanism,
        REMAP: matched(remap, prior, loss, bound_m, BRACKET_PER_M).mechanism,
        EXPOST: rate_distortion_of_loss(prior, loss, bound_m).mechanism,
        LEARNED: learn_table(
            joint, cells, loss, bound_m, records=half, rounds=rounds, seed=SEED, device="cpu"
        ).mechanism,
        OPTIMUM: best.mechanism,
    }

    def row(name: str, measured: tuple[float, float, float, float, float]) -> Row:
        return Row(hidden, len(data.space), bound_m, name, *measured, 1 - best.lower_bound, learning.blind_error)

    rows = [row(name, measure(each, joint, fresh, loss.array)) for name, each in found.items()]
    if with_tupling:
        rows.append(row(TUPLED, measure_tupling(cells, joint, fresh, loss, bound_m)))
    return rows


def measure(
    mechanism: sf.Mechanism, joint: np.ndarray, fresh: np.ndarray, loss: np.ndarray
) -> tuple[float, float, float, float, float]:
    """Return error and loss on the visits learned from, and both errors and the loss on the held-out ones."""
    matrix = mechanism.matrix
    seen, later = joint @ matrix, fresh @ matrix
    costs = (matrix * loss).sum(axis=1)
    guesses = seen.argmax(axis=0)
    return (
        1 - float(seen.max(axis=0).sum()),
        float(joint.sum(axis=0) @ costs),
        1 - float(later.max(axis=0).sum()),
        1 - float(later[guesses, np.arange(len(guesses))].sum()),
        float(fresh.sum(axis=0) @ costs),
    )


def measure_tupling(
    cells: sf.Grid, joint: np.ndarray, fresh: np.ndarray, loss: sf.Metric, bound_m: float
) -> tuple[float, float, float, float, float]:
    """Return the same for a report among dummies whose best answer loses as much, of two labels; see `Row`."""

    def family(log_epsilon: float) -> Tupling:
        inner = planar_geometric(cells, math.exp(log_epsilon))
        return Tupling(inner, DUMMIES, mixture_dummies(inner, joint / joint.sum(axis=1, keepdims=True)))

    def lost(tupling: Tupling, shares: np.ndarray) -> float:
        return quality_loss(tupling, sf.Prior(cells, shares.sum(axis=0)), loss)

    def error(tupling: Tupling, shares: np.ndarray) -> float:
        sizes = shares.sum(axis=1)
        first, second = shares / sizes[:, None]
        return 1 - attack_success(tupling, first, second, float(sizes[0])).upper

    ends = [math.log(end) for end in BRACKET_PER_M]
    tupling = family(float(brentq(lambda value: lost(family(value), joint) - bound_m, *sorted(ends), xtol=1e-4)))
    return error(tupling, joint), lost(tupling, joint), error(tupling, fresh), math.nan, lost(tupling, fresh)


def draw(rows: Sequence[Row]) -> Figure:
    """Return a panel for each label and bound: filled on the visits learned from, hollow on the held-out ones."""
    kinds = list(dict.fromkeys(row.hidden for row in rows))
    bounds = sorted({row.bound_m for row in rows})
    names = list(dict.fromkeys(row.mechanism for row in rows))
    figure = Figure(figsize=(4.3 * len(kinds) + 1.6, 2.6 * len(bounds) + 0.6), layout="constrained", dpi=150)
    axes = figure.subplots(len(bounds), len(kinds), squeeze=False, sharex="col", sharey=True)
    for line, bound in zip(axes, bounds, strict=True):
        for ax, kind in zip(line, kinds, strict=True):
            _panel(ax, [row for row in rows if (row.hidden, row.bound_m) == (kind, bound)], names)
            ax.set_title(f"{kind}, loss {bound:,.0f} m", fontsize=11)
    axes[0, 0].invert_yaxis()
    axes[0, 0].legend(fontsize=7, loc="lower left")
    figure.supxlabel("error of the best guess", fontsize=11)
    return figure


def _panel(ax: Axes, rows: Sequence[Row], names: Sequence[str]) -> None:
    places = [names.index(row.mechanism) for row in rows]
    ax.axvline(rows[0].largest_error, color="#D55E00", linestyle="--", linewidth=1, label="proved largest")
    ax.axvline(rows[0].blind_error, color="#555555", linestyle=":", linewidth=1, label="without a report")
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "color": "#0072B2"}
    ax.plot([row.error for row in rows], places, label="learned from", **style)
    ax.plot([row.held_out_error for row in rows], places, label="held out", markerfacecolor="none", **style)
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.set_xlim(0, None)
    ax.grid(alpha=0.3)


def save(rows: Sequence[Any], path: Path) -> None:
    """Write rows of one kind as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Return the rows as text."""
    for row in rows:
        yield (
            f"{row.hidden}, {row.bound_m:g} m, {row.mechanism}: error {row.error:.3f}, loss {row.loss_m:.0f} m; "
            f"held out: error {row.held_out_error:.3f}, loss {row.held_out_loss_m:.0f} m"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the four parts as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits; without it, the synthetic city")
    add("--users", nargs="+", type=int, default=[6, 20], help="how many of the most frequent visitors to hide")
    add("--attribute", default="area", help="the column to hide in the last part")
    add("--groups", nargs=2, default=("Old Town", "Harbour"), help="two of its values")
    add("--region", default="8 km x 6 km around 40,-30", help="where reports are counted")
    add("--cell", default="600 m", help="the side of a cell")
    add("--bounds", nargs="+", type=float, default=list(BOUNDS_M), help="on the expected loss, in metres")
    add("--hits", nargs="+", type=int, default=[10, 500], help="reports of each record of the square")
    add("--records", type=int, default=600, help="of each person of the square")
    add("--rounds", type=int, default=120, help="the most rounds of each training on visits")
    add("--network-rounds", type=int, default=300, help="the rounds of the networks' training on the square")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = parser.parse_args(arguments)

    visits = sf.read_visits(given.data) if given.data else sf.synthetic_city()
    city = sf.Grid.covering(given.region, cell=given.cell)
    if problem := missing(visits, city, given.attribute, given.groups):
        parser.error(problem)

    torch.set_num_threads(1)  # small matrices gain nothing from more
    say = Console(highlight=False, soft_wrap=True, markup=False).print
    given.out.mkdir(parents=True, exist_ok=True)
    games = [play_swapping(target) for target in (CrossEntropy(), MutualInformation())]
    for game in games:
        say(f"Example 1 with {game.target}: {game.swaps} swaps, the last classifier right {game.accuracy[-1]:.3f}")
    swapping_figure(games).savefig(given.out / "learned-swapping.png", metadata={"Software": "sfumato"})

    measured: list[SquareRow] = []
    for experiment in (EXPERIMENT_1, EXPERIMENT_2):
        compared = square(experiment, given.hits, given.records, given.network_rounds)
        for each in compared:
            say(f"{experiment.name}, {each}")
        measured += square_rows(experiment, compared)
    save(measured, given.out / "learned-square.csv")

    studies = [(f"{many} users", users(visits, city, many), False) for many in given.users]
    studies.append((" or ".join(given.groups), groups(visits, city, given.attribute, given.groups), True))
    rows: list[Row] = []
    for name, data, paired in studies:
        say(f"{name}: {len(data):,} visits on a {city!r}")
        for bound in sorted(given.bounds):
            found = contest(name, data, city, bound, with_tupling=paired, rounds=given.rounds)
            for text in lines(found):
                say(text)
            rows += found
    save(rows, given.out / "learned-mechanisms.csv")
    draw(rows).savefig(given.out / "learned-mechanisms.png", metadata={"Software": "sfumato"})


if __name__ == "__main__":
    main()
