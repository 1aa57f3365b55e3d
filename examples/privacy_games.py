"""Scenarios 1 and 2 of "Privacy Games" for real users: what three optimal mechanisms cost, and what they hide.

For each user a map of 15 km x 8 km is laid where they have most visits, and cut into 20 x 15 cells. For every
epsilon the study designs the mechanisms of least cost with metric privacy, with distortion privacy and with both,
and attacks them. The results are one row per design (``privacy_games.csv``), one per attack of section 9.2
(``privacy_games_informed.csv``) and a figure (``privacy_games.png``)::

    python examples/privacy_games.py visits.csv --users 10 --out results

Source: R. Shokri, "Privacy Games: Optimal User-Centric Data Obfuscation", PoPETs 2015, section 9.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import sfumato as sf
from sfumato.studies import privacy_games, save


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the scenarios as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("data", nargs="+", type=Path, help="files of visits with users; users are drawn in turn from each")
    add("--users", type=int, default=10, help="how many users")
    add("--least", type=int, default=200, help="only users with at least this many visits on their maps")
    add("--seed", type=int, default=1, help="of the draw of users")
    add("--epsilons", type=float, nargs="+", default=list(privacy_games.EPSILONS), help="per km")
    add("--gap", type=float, default=1e-4, help="the relative gap to optimal cost that is proved")
    add("--second", type=int, default=2, help="how many of the users also play scenario 2")
    add("--tight", type=int, default=0, help="for how many users to repeat the outer epsilons at a gap of 1e-6")
    add("--sharper", type=float, nargs="*", default=list(privacy_games.SHARES), help="the shares of section 9.2")
    add("--shape", type=int, nargs=2, default=(20, 15), help="columns and rows")
    add(
        "--size", type=float, nargs=2, default=(15.0, 8.0), dest="size_km", help="width and height of the maps, km"
    )
    add("--out", type=Path, default=Path(), help="the folder of the results")
    add("--processes", type=int, default=1, help="how many users at a time; one user takes two threads")
    given = vars(parser.parse_args(arguments))
    data, out = [(path.stem, sf.read_visits(path)) for path in given.pop("data")], given.pop("out")
    try:
        found = privacy_games.study(data, **given, progress=print, partial=lambda so_far: save(so_far, out))
    except sf.errors.DataError as error:
        parser.error(error.told(lambda name, value: f"--{name} {value}".strip()))
    save(found, out, privacy_games.figures(found))


if __name__ == "__main__":
    main()
