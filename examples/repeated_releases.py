"""Repeated releases: what an attacker learns from t reports of one person's place.

The person is the one with most visits in a region. The study compares fresh noise for each report, one report
that is kept as a memo, and fresh noise on a memo: the optimal attacker's error, the error of an attacker who takes
the mean of the reported places, and the epsilon that all reports together keep::

    python examples/repeated_releases.py visits.parquet --region "8 km x 6 km around 40.735,-73.985" --out results

Without a file, a person of the synthetic city is taken. The results are ``repeated-releases.csv`` and ``.png``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import sfumato as sf
from sfumato.studies import repeated_releases, save


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="?", type=Path, help="a file of visits with users; without it, the synthetic city")
    add("--region", default="8 km x 6 km around 40,-30", help="the map")
    add("--cell", default="500 m", help="the side of a cell")
    add("--epsilon", default="2/km", help="of the planar geometric mechanism")
    add("--reports", type=int, nargs="+", default=list(repeated_releases.REPORTS), help="numbers of reports")
    add("--trials", type=int, default=2_000, help="simulations where reports are too many to sum them all")
    add("--seed", type=int, default=1, help="of the simulation")
    add("--out", type=Path, default=Path(), help="the folder of the results")
    given = vars(parser.parse_args(arguments))
    data, out = given.pop("data"), given.pop("out")
    visits = sf.read_visits(data) if data else sf.synthetic_city()
    found = repeated_releases.study(visits, **given, progress=print)
    save(found, out, repeated_releases.figures(found))


if __name__ == "__main__":
    main()
