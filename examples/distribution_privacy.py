r"""Distribution privacy: how well dummies hide which group of people a report comes from.

Two groups report where they are, on cells of a city. For several mechanisms, with and without dummies, the exact
accountant proves the least epsilon at delta = 0.001, and the closed form gives the loss of a user who keeps the
best answer. With a file of visits that has an attribute such as ``home_area``::

    python examples/distribution_privacy.py visits.parquet --attribute home_area --groups Manhattan Brooklyn \
        --region "6 km x 9 km around 40.745,-73.985" --out results

Without a file, two areas of the synthetic city are compared. Results are ``distribution-privacy.csv`` and
``distribution-privacy.png``.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
from rich.console import Console

import sfumato as sf
from sfumato.mechanisms import FamilyAccountant, PairAccountant, Tupling, mixture_dummies
from sfumato.studies.distribution_figure import distribution_figure
from sfumato.studies.distribution_privacy import (
    DELTA,
    DUMMIES,
    NONE,
    SLOPES,
    Groups,
    Line,
    Row,
    best_within,
    published_lines,
    sweep,
)

TUPLED = "restricted Laplace, 2 km"
PANELS = ("planar Laplace", "planar geometric", "planar Gaussian", "randomised response", TUPLED)
LEVELS_KM = (0.25, 0.5, 1.0, 1.5)


def save(rows: Sequence[Row], path: Path) -> None:
    """Write the rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def table(rows: Sequence[Row], levels_km: Sequence[float] = LEVELS_KM) -> list[str]:
    """Return the least proved epsilon of each line among those that lose at most so much."""
    lines = [f"{'least epsilon with a loss of at most':45s}" + "".join(f"{level:>9g} km" for level in levels_km)]
    kinds = dict.fromkeys((row.mechanism, row.dummies, row.source) for row in rows)
    for name, k, source in kinds:
        found = [best_within(rows, name, k, source, level) for level in levels_km]
        shown = "".join(f"{row.epsilon_upper:12.3f}" if row is not None else f"{'-':>12s}" for row in found)
        lines.append(f"{name + (f', {k} {source} dummies' if k else ''):45s}{shown}")
    return lines


def of_neighbours(groups: Groups, line: Line, parameter: float, dummies: int) -> float:
    """Return the proved epsilon for two neighbouring cells that somebody visits: what hides the person."""
    inner = line.build(parameter)
    d, visited = groups.metric.array, groups.everyone.support
    between = d[np.ix_(visited, visited)]
    pairs = visited[np.argwhere((between > 0) & (between < 1.01 * d[d > 0].min()))]
    tupling = Tupling(inner, dummies, mixture_dummies(inner, groups.distributions))
    return FamilyAccountant.of_points(tupling, pairs).epsilon(DELTA, 1e-3).bounds.upper


def accountant_seconds(outputs: int = 400, dummies: int = 1000) -> list[tuple[str, float, float]]:
    """Return epsilon at delta 0.001 and the CPU seconds it takes, for two random distributions of reports."""
    random = np.random.default_rng(0)
    first, second = random.dirichlet(np.full(outputs, 0.2), 2)
    even = np.full(outputs, 1 / outputs)
    found = []
    for name, nu in (("uniform", even), ("mixture", 0.999 * (first + second) / 2 + 0.001 * even)):
        start = time.process_time()
        bounds = PairAccountant(first, second, nu, dummies).epsilon(DELTA)
        found.append((name, bounds.upper, time.process_time() - start))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits; without it, the synthetic city")
    add("--attribute", default="area", help="the column that names the groups")
    add("--groups", nargs=2, default=("Old Town", "Harbour"), help="two of its values")
    add("--region", default="8 km x 6 km around 40,-30", help="where reports are counted")
    add("--cell", default="400 m", help="the side of a cell")
    add("--dummies", type=int, nargs="+", default=list(DUMMIES), help="numbers k of dummies; 0 for none")
    add("--slopes", type=float, nargs="+", default=list(SLOPES), help="of the planar families, per km")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = parser.parse_args(arguments)

    say = Console(highlight=False, soft_wrap=True, markup=False).print
    visits = sf.read_visits(given.data) if given.data else sf.synthetic_city()
    city = sf.Grid.covering(given.region, cell=given.cell)
    groups = Groups.from_visits(city, visits, given.attribute, *given.groups)
    say(f"{groups.names[0]} and {groups.names[1]} on a {city!r}: total variation {groups.total_variation:.3f}")
    lines = published_lines(city, groups.metric, slopes=sorted(given.slopes))
    rows = list(sweep(groups, lines, sorted(given.dummies), progress=say))
    few = [k for k in sorted(given.dummies) if k][:2]
    some = [Line(line.name, line.build, line.parameters[::2]) for line in lines if line.name == TUPLED]
    rows += sweep(groups, some, few, sources=("optimised",))
    given.out.mkdir(parents=True, exist_ok=True)
    save(rows, given.out / "distribution-privacy.csv")
    for line in table(rows):
        say(line)
    unbounded = sum(row.epsilon_upper == np.inf and row.source == NONE for row in rows)
    say(f"mechanisms without dummies that keep no epsilon at delta {DELTA:g}: {unbounded}")
    for parameter in sorted({lines[0].parameters[0], lines[0].parameters[-1]}):
        alone, among = (of_neighbours(groups, lines[0], parameter, k) for k in (0, max(given.dummies)))
        say(
            f"{lines[0].name}, {parameter:g}/km: epsilon for two neighbouring cells {alone:.3f} without dummies, "
            f"{among:.3f} among {max(given.dummies)}"
        )
    for name, epsilon, seconds in accountant_seconds():
        say(f"accountant, 400 reports, 1,000 {name} dummies: epsilon {epsilon:.3f} in {seconds:.2f} CPU seconds")
    figure = distribution_figure(rows, panels=PANELS, compared=few[-1] if few else 0, delta=DELTA)
    figure.savefig(given.out / "distribution-privacy.png", metadata={"Software": "sfumato"})


if __name__ == "__main__":
    main()
