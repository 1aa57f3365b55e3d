"""Two figures of docs/explanation/coordinates.md: loss for points, and two people at a border of cells.

The first (``points-loss.png``, with its table ``points-loss.csv``) compares mechanisms at several epsilons and
shows a bound that no mechanism with the guarantee can go below. The second (``points-street.png``) follows a
person across a border of two cells, step by step, and shows how likely one report is. Without a file
the built-in synthetic city is used::

    python examples/points_and_cells.py --out results

It takes about ten minutes.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import sfumato as sf
from sfumato.comparison import street, street_figure
from sfumato.reports import save_picture


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw both figures as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("visits", nargs="?", type=Path, help="a file of visits; by default the synthetic city")
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--epsilons", nargs="+", default=["0.5/km", "0.7/km", "1/km", "1.4/km", "2/km", "2.8/km"])
    parser.add_argument("--bound-time", type=float, default=60.0, help="seconds for each bound")
    given = parser.parse_args(arguments)
    visits = sf.synthetic_city() if given.visits is None else sf.read_visits(given.visits)
    region = visits.region(trim=0.02)
    given.out.mkdir(parents=True, exist_ok=True)
    save_picture(street_figure(street(visits, "1/km", region=region)), given.out / "points-street.png")
    found = sf.compare_places(
        visits, epsilon=given.epsilons, region=region, bound_time=given.bound_time, progress=print
    )
    found.save(given.out / "points-loss.csv")
    save_picture(found.figure(), given.out / "points-loss.png")


if __name__ == "__main__":
    main()
