"""Repeated releases: what an attacker learns from t reports of one person's place.

The person is the one of most visits in a region. The example compares fresh noise for each report, one report that
is kept as a memo, and fresh noise on a memo: the optimal attacker's error, that of one who takes the mean of the
reported places, and the epsilon that all reports together keep::

    python examples/repeated_releases.py visits.parquet --region "8 km x 6 km around 40.735,-73.985" --out results

Without a file, a person of the synthetic city is taken. The results are ``repeated-releases.csv`` and ``.png``.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import sfumato as sf
from sfumato.studies.repetition import REPORTS, Repetition, repetition, repetition_figure


def save(found: Repetition, path: Path) -> None:
    """Write one row for each way to repeat and number of reports."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = ("error_m", "lower_m", "upper_m", "exact", "averaging_error_m", "epsilon_upper_per_km")
        writer.writerow(("scheme", "reports", *columns))
        for name, curve in found.optimal.items():
            mean, epsilons = found.averaging[name].error, found.epsilons[name]
            columns_of = (curve.reports, curve.error, curve.lower, curve.upper, curve.exact, mean, epsilons)
            writer.writerows((name, *row) for row in zip(*columns_of, strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits with users; without it, the synthetic city")
    add("--region", default="8 km x 6 km around 40,-30", help="the map")
    add("--cell", default="500 m", help="the side of a cell")
    add("--epsilon", default="2/km", help="of the planar geometric mechanism")
    add("--reports", type=int, nargs="+", default=list(REPORTS), help="numbers of reports")
    add("--trials", type=int, default=2_000, help="simulations where reports are too many to sum them all")
    add("--seed", type=int, default=1, help="of the simulation")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = parser.parse_args(arguments)

    say = Console(highlight=False, soft_wrap=True, markup=False).print
    everyone = sf.read_visits(given.data) if given.data else sf.synthetic_city()
    inside = everyone.inside(sf.Region.parse(given.region))
    visits = inside.of_user(next(iter(inside.users())))
    own = sf.Grid.covering(given.region, cell=given.cell)
    prior = sf.Prior.from_visits(own, visits)
    mechanism = sf.mechanisms.planar_geometric(own, given.epsilon)
    say(f"{len(visits)} visits of one person on a {own!r}, {len(prior.support)} cells visited")
    found = repetition(mechanism, prior, sorted(given.reports), trials=given.trials, seed=given.seed)
    for name, curve in found.optimal.items():
        say(name)
        for place, t in enumerate(curve.reports):
            margin = "exact" if curve.exact[place] else f"{curve.lower[place]:.0f} to {curve.upper[place]:.0f}"
            mean = found.averaging[name].error[place]
            say(
                f"  {t:4d} reports: error {curve.error[place]:7.1f} m ({margin}), their mean {mean:7.1f} m off, "
                f"epsilon {found.epsilons[name][place]:.3f}/km"
            )
    say(f"error without a report: {found.blind_error_m:.1f} m")
    given.out.mkdir(parents=True, exist_ok=True)
    save(found, given.out / "repeated-releases.csv")
    figure = repetition_figure(found)
    figure.savefig(given.out / "repeated-releases.png", metadata={"Software": "sfumato"})


if __name__ == "__main__":
    main()
